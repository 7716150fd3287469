"""What the tests share: fixed sources of test data and of keys, and a fixture that restores the instruction set."""

import hashlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from pydpmc import _core
from pydpmc.planning.helps import refuse_hopeless


class TestKeys:
    """Seeds that follow from the name of the test or fixture that runs, and from how many it took before.

    Runs without a seed take them, so that no default test fails by chance. Slow tests, and tests that are marked
    ``os_key``, take keys of the operating system, as users do.
    """

    __test__ = False

    def __init__(self) -> None:
        self._name: str | None = None
        self._taken = 0

    @contextmanager
    def named(self, name: str | None) -> Iterator[None]:
        before = self._name, self._taken
        self._name, self._taken = name, 0
        try:
            yield
        finally:
            self._name, self._taken = before

    def seed(self) -> int | None:
        """Return the next seed, or None where the operating system is to be asked."""
        if self._name is None:
            return None
        self._taken += 1
        return int.from_bytes(hashlib.blake2b(f"{self._name} {self._taken}".encode(), digest_size=8).digest(), "big")

    def replace_in(self, patch: pytest.MonkeyPatch) -> None:
        """Give these seeds to runs that have none."""
        chains, key_from_os = _core.Chains, _core.random.key_from_os

        def keyed_chains(*, seed: int | None, **others: Any) -> Any:
            return chains(seed=self.seed() if seed is None else seed, **others)

        def key() -> bytes:
            seed = self.seed()
            return key_from_os() if seed is None else _core.random.key_from_seed(seed)

        patch.setattr(_core, "Chains", keyed_chains)
        patch.setattr(_core.random, "key_from_os", key)


KEYS = TestKeys()


def _keyed_by(item: pytest.Item) -> str | None:
    unkeyed = any(item.get_closest_marker(name) for name in ("slow", "os_key"))
    return None if unkeyed else item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with KEYS.named(_keyed_by(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    """Key what is shared by tests by its own name: which test asks for it first is a matter of scheduling."""
    if fixturedef.scope == "function":
        return (yield)
    with KEYS.named(f"{fixturedef.baseid} {fixturedef.argname} {getattr(request, 'param_index', 0)}"):
        return (yield)


@pytest.fixture(autouse=True, scope="session")
def _keyed_runs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        KEYS.replace_in(patch)
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture(autouse=True, scope="session")
def _run_hopeless_plans() -> Iterator[None]:
    """Let tests run plans that are too small to be of use, also in fixtures of a module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pydpmc.running.run.refuse_hopeless", lambda plan, anyway: None)
        yield


@pytest.fixture(autouse=True)
def _refuse_as_for_users(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Show what a user sees to tests that are marked ``refuses``."""
    if request.node.get_closest_marker("refuses") is not None:
        monkeypatch.setattr("pydpmc.running.run.refuse_hopeless", refuse_hopeless)


@pytest.fixture(autouse=True)
def _restore_isa() -> Iterator[None]:
    before = _core.isa()
    yield
    assert _core.use_isa(before)

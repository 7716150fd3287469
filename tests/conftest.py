"""What the tests share: one fixed source of test data, and a fixture that restores the instruction set."""

from collections.abc import Iterator

import numpy as np
import pytest

from pydpmc import _core
from pydpmc.planning.helps import refuse_hopeless


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

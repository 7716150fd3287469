"""Runs without a seed take a key that follows from the name of the test, so that no default test fails by chance.

Slow tests, and tests that are marked ``os_key``, take the key of the operating system, as users do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from pydpmc import _core


class TestKeys:
    """Seeds that follow from the name of the test or fixture that runs, and from how many it took before."""

    __test__ = False

    def __init__(self) -> None:
        self._name: str | None = None
        self._taken = 0

    @contextmanager
    def named(self, name: str | None) -> Iterator[None]:
        before = self._name, self._taken
        self._name, self._taken = name, 0
        yield
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

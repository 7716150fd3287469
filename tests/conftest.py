"""What the tests share: one fixed source of test data, and a fixture that restores the instruction set."""

from collections.abc import Iterator

import numpy as np
import pytest

from pydpmc import _core


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture(autouse=True)
def _restore_isa() -> Iterator[None]:
    before = _core.isa()
    yield
    assert _core.use_isa(before)

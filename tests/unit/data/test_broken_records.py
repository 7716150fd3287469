"""A record with a missing value contributes nothing, so nothing of it is stored but the mark that it is missing."""

import numpy as np
import pytest

import pydpmc as dp


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("missing", [np.nan, np.inf, -np.inf])
def test_the_other_features_of_a_broken_record_are_not_stored(storage, missing, rng):
    x, y = rng.normal(size=(50, 6)), rng.integers(0, 2, 50)
    stored = []
    for others in (0.1, -0.3):
        x[7] = others
        x[7, 2] = missing
        stored.append(dp.Data(x, y, row_norm=1.0, storage=storage, on_invalid="drop")._rows.copy())
    assert stored[0].tobytes() == stored[1].tobytes()
    assert not stored[0][7, :6].any()

"""Estimators that are fitted to a `Data` instead of X and y."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.errors import InvalidArgument
from pydpmc.sklearn import DPLinearRegression, DPLogisticRegression
from pydpmc.sklearn.base import PREPARED_BY_RECORD

SEEDED = {"random_state": 1, "anyway": True}


@pytest.fixture
def table(rng):
    x = rng.uniform(-0.5, 0.5, (500, 2))
    return x, (x[:, 0] + 0.1 * rng.normal(size=500) > 0).astype(float)


def test_a_classifier_fits_the_same_records(table):
    x, y = table
    options = {"classes": [0, 1], "sampler": dp.Newton(), **SEEDED}
    wanted = DPLogisticRegression(row_norm=1.0, **options).fit(x, y)
    found = DPLogisticRegression(**options).fit(dp.Data(x, y, row_norm=1.0, y_bounds=(0, 1)))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)
    np.testing.assert_array_equal(found.predict(x), wanted.predict(x))
    assert found.guarantee_.assumptions == wanted.guarantee_.assumptions
    assert PREPARED_BY_RECORD in found.guarantee_.assumptions  # no schema: nobody knows how x was made


def test_a_regressor_fits_the_same_records(table):
    x, y = table
    options = {"y_bounds": (0.0, 1.0), **SEEDED, "random_state": 2}
    wanted = DPLinearRegression(row_norm=1.0, **options).fit(x, y)
    found = DPLinearRegression(**options).fit(dp.Data(x, y, row_norm=1.0, y_bounds=(0, 1)))
    np.testing.assert_array_equal(found.coef_, wanted.coef_)


def test_what_a_data_declares_itself_is_refused(table):
    x, y = table
    data = dp.Data(x, y, row_norm=1.0, y_bounds=(0, 1))
    for options, words in (({"row_norm": 1.0}, "row_norm"), ({"public_n": 9}, "public_n"), ({}, "classes must be")):
        with pytest.raises(InvalidArgument, match=words):
            DPLogisticRegression(**options).fit(data)
    with pytest.raises(InvalidArgument, match="y: a Data"):
        DPLogisticRegression(classes=[0, 1]).fit(data, y)
    with pytest.raises(InvalidArgument, match="no target"):
        DPLogisticRegression(classes=[0, 1]).fit(dp.Data(x, row_norm=1.0))
    with pytest.raises(InvalidArgument, match="y_bounds are"):
        DPLinearRegression(y_bounds=(0, 2)).fit(data)

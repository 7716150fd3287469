"""Weights of records: bounded row by row, void where they are none, refused by samplers without a proof."""

from __future__ import annotations

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import samplers
from pydpmc.errors import UnsupportedEventError
from pydpmc.ledger.state import fingerprint

X = np.arange(12.0).reshape(6, 2) / 20


class Evil:
    def __float__(self):
        raise RuntimeError("no")


HOSTILE = [np.nan, np.inf, -np.inf, -1e-9, None, "text", b"\xff", Evil(), 1j]


def weighted(weights, y=True, **options):
    target = np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0]) if y else None
    return dp.Data(X, target, row_norm=1.0, sample_weight=weights, max_weight=2.0, **options)


@pytest.mark.parametrize("bad", HOSTILE, ids=lambda bad: type(bad).__name__ + repr(bad)[:5])
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_a_weight_that_is_none_voids_its_record_and_no_other(bad, storage):
    plain, hostile = weighted([1.0] * 6, storage=storage), weighted([1, 1, bad, 1, 1, 1], storage=storage)
    assert hostile.public == plain.public
    assert hostile._weights.tolist() == [1, 1, 0, 1, 1, 1]
    rest = [0, 1, 3, 4, 5]
    assert (hostile._rows[rest] == plain._rows[rest]).all()
    void = hostile._rows[2, 2:4].view(np.float32)[0] if storage == "fixed16" else hostile._rows[2, 2]
    assert np.isnan(void)


def test_without_a_target_the_first_column_is_void():
    data = weighted([1, 1, -5, 1, 1, 1], y=False)
    assert np.isnan(data._rows[2, 0])
    assert not np.isnan(data._rows[[0, 1, 3, 4, 5]]).any()


def test_weights_are_lowered_to_their_bound_each_by_itself():
    assert weighted([0.0, 0.5, 2.0, 2.1, 1e300, 1]).public.max_weight == 2.0
    assert weighted([0.0, 0.5, 2.0, 2.1, 1e300, "1"])._weights.tolist() == [0, 0.5, 2, 2, 2, 1]


def test_weights_follow_their_rows_into_groups():
    data = weighted([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], groups=["a", "b", "a", "b", "a", "c"], max_group_size=2)
    assert data._weights.tolist() == [0.1, 0.3, 0.2, 0.4, 0.6]
    assert data._rows[:, 0] == pytest.approx(X[[0, 2, 1, 3, 5], 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [1.0] * 6}, "max_weight"),
        ({"max_weight": 1.0}, "sample_weight was not"),
        ({"sample_weight": [1.0] * 5, "max_weight": 1.0}, "one weight per row"),
        ({"sample_weight": [1.0] * 6, "max_weight": 0.0}, "max_weight must be a positive"),
        ({"sample_weight": [1.0] * 6, "max_weight": np.inf}, "max_weight must be a positive"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        dp.Data(X, row_norm=1.0, **options)


def test_weights_cannot_be_changed_and_are_part_of_what_a_ledger_knows():
    data = weighted([1.0] * 6)
    with pytest.raises(ValueError, match="read-only"):
        data._weights[0] = 5.0
    others = (weighted([1, 1, 1, 1, 1, 0.5]), dp.Data(X, np.array([0.0, 1, 0, 1, 1, 0]), row_norm=1.0))
    key = b"k" * 32
    assert len({fingerprint(key, table) for table in (data, *others)}) == 3
    assert dp.Public.from_dict(data.public.to_dict()) == data.public


OTHERS = (*samplers.ALL, *samplers.CONDITIONAL, *samplers.NOT_PRIVATE, dp.ConjugateSample)


TAKE_WEIGHTS = (dp.Newton, dp.SGLD, dp.SGHMC, dp.SGNHT, dp.SGFS, dp.DPVI)


@pytest.mark.parametrize("kind", [kind for kind in OTHERS if kind not in TAKE_WEIGHTS])
def test_samplers_without_a_proof_refuse_weights(kind):
    with pytest.raises(UnsupportedEventError, match=r"sample_weight: .* has no proof for weighted records; use Newton"):
        dp.plan(dp.LogisticRegression(), weighted([1.0] * 6).public, kind(), epsilon=1.0, delta=1e-6)


def test_the_planner_compares_samplers_that_take_weights():
    public = dp.Public(n=20_000, columns=("a", "b"), has_target=True, row_norm=1.0, max_weight=2.0)
    table = dp.plan(dp.LogisticRegression(), public, epsilon=1.0, delta=1e-6).comparison
    usable = {type(one.sampler) for one in table.candidates if one.outlook is not None}
    assert usable
    assert usable <= set(TAKE_WEIGHTS)

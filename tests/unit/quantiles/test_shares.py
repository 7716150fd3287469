"""Private shares: exact noise on counts, one cell a record, charged before anything is counted."""

import math

import numpy as np
import pytest
from scipy.stats import beta

import pydpmc as dp
from pydpmc.errors import BudgetError, InvalidArgument
from pydpmc.quantiles import shares as module

HOSTILE = [
    None,
    math.nan,
    "",
    "a",
    " a ",
    "A",
    "b",
    1,
    1.5,
    b"a",
    [1],
    {"a": 1},
    object(),
    10**400,
    "\x00",
    (1, 2),
    True,
]


@pytest.fixture
def no_noise(monkeypatch):
    monkeypatch.setattr(module, "discrete_laplace", lambda rate, words: 0)


def test_counts_and_shares_without_noise(no_noise):
    found = dp.private_shares(["a", "b", " a", "c", None, "a"], ["a", "b"], epsilon=1.0)
    assert found.counts == {"a": 3, "b": 1, "any other value": 2}
    assert found["a"] == 0.5
    assert found.guarantee.epsilon(0.0) == pytest.approx(1.0)
    assert found.guarantee.adjacency == "replace"


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
def test_one_hostile_record_moves_the_counts_by_no_more_than_is_charged(no_noise, adjacency):
    plain = ["a"] * 5 + ["b"] * 4
    most = 2 if adjacency == "replace" else 1
    for value in HOSTILE:
        changed = [value, *plain[1:]] if adjacency == "replace" else [value, *plain]
        one, other = (
            dp.private_shares(v, ["a", "b"], epsilon=1.0, adjacency=adjacency).counts for v in (plain, changed)
        )
        assert sum(abs(one[level] - other[level]) for level in one) <= most
        assert sum(other.values()) == len(changed)


@pytest.mark.parametrize(("adjacency", "rate"), [("replace", 0.25), ("add_remove", 0.5)])
def test_the_noise_has_the_scale_that_is_charged(adjacency, rate):
    released = [
        dp.private_shares(["a"] * 7, ["a"], epsilon=0.5, adjacency=adjacency, seed=s).counts["a"] - 7
        for s in range(3000)
    ]
    q = math.exp(-rate)
    variance = 2 * q / (1 - q) ** 2
    assert np.var(released) == pytest.approx(variance, rel=5 * math.sqrt(5 / 3000))  # kurtosis 6: sd of a variance
    assert abs(np.mean(released)) < 5 * math.sqrt(variance / 3000)


def test_an_audit_on_neighbours_proves_most_of_epsilon_and_no_more():
    epsilon, runs = 1.0, 4000

    def cells(values, first):
        made = (dp.private_shares(values, ["a"], epsilon=epsilon, seed=first + s).counts for s in range(runs))
        return np.array([found["a"] - found["any other value"] for found in made])

    here, there = cells(["a", "a"], 0), cells(["a", "b"], runs)
    hits, misses = int((here >= 2).sum()), int((there >= 2).sum())
    low, high = beta.ppf(1e-6, hits, runs - hits + 1), beta.ppf(1 - 1e-6, misses + 1, runs - misses)
    assert 0.3 * epsilon < math.log(low / high) < epsilon


def test_a_misspelt_level_is_shown_and_the_charge_comes_first(tmp_path, monkeypatch):
    ledger = dp.Ledger(tmp_path / "s.ledger", epsilon=0.5, delta=1e-6)
    found = dp.private_shares(["yes"] * 800, ["yes", "Yes"], epsilon=0.2, ledger=ledger)
    assert found.absent == ("Yes",)
    assert "any other value" in str(found)
    assert [dict(entry.plan)["release"] for entry in ledger.history()] == ["private shares"]
    monkeypatch.setattr(module, "discrete_laplace", lambda *_: pytest.fail("counted without a charge"))
    with pytest.raises(BudgetError):
        dp.private_shares(["yes"] * 800, ["yes"], epsilon=0.6, ledger=ledger)


def test_the_target_of_data_is_counted(no_noise, rng):
    schema = dp.Schema({"x": dp.Number(0, 1), "y": dp.Category(["a", "b"], unknown="b")}, target="y", missing="drop")
    data = schema.data({"x": [0.1, 0.2, 0.3, 0.4], "y": ["b", "a", "b", None]})
    found = dp.private_shares(data, data.public.target_levels, epsilon=1.0)
    assert found.counts == {"a": 1, "b": 2, "any other value": 1}
    with pytest.raises(InvalidArgument, match="no target"):
        dp.private_shares(dp.Data([[1.0]]), ["a"], epsilon=1.0)


@pytest.mark.parametrize("levels", ["ab", [], ["a", "a"], [1, "1"], [None], ["any other value"], 3])
def test_wrong_levels_are_refused(levels):
    with pytest.raises(InvalidArgument, match="levels must be"):
        dp.private_shares(["a"], levels, epsilon=1.0)
    with pytest.raises(InvalidArgument, match="epsilon must be"):
        dp.private_shares(["a"], ["a"], epsilon=0.0)

"""Synthetic sets and the rules that combine their analyses."""

import numpy as np
import pytest
from irls import logistic

import pydpmc as dp
from pydpmc.errors import InvalidArgument, WrongType


@pytest.fixture(scope="module")
def post():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20_000, 2)) * 0.4
    y = rng.random(20_000) < 1 / (1 + np.exp(-x @ [1.0, -0.5]))
    return dp.sample(dp.LogisticRegression(), dp.Data(x, y, row_norm=1.0), epsilon=1.0, delta=1e-6, progress=False)


def test_the_combined_analysis_gives_back_the_posterior(post):
    rows = np.random.default_rng(3).normal(size=(500, 2)) * 0.4
    made = post.synthesize(60_000, features=rows, sets=60, seed=4)
    found = made.combine(logistic)
    draws = post.draws["beta"].reshape(-1, 2)
    assert np.abs(found.estimate - draws.mean(axis=0)).max() < 1.0 * draws.std(axis=0).max()
    assert found.sd / draws.std(axis=0) == pytest.approx(np.ones(2), rel=0.5)  # its own error is 0.12
    assert (found.low < found.estimate).all()
    assert (found.estimate < found.high).all()


def test_declared_features_keep_the_declared_bounds(post):
    made = post.synthesize(300, sets=2, seed=1)
    assert (np.linalg.norm(made.x, axis=2) <= 1.0 + 1e-9).all()
    assert set(np.unique(made.y)) == {0.0, 1.0}
    assert np.array_equal(post.synthesize(300, sets=2, seed=1).y, made.y)


@pytest.fixture(scope="module")
def people():
    """A table with a number, a category and two binary columns, its schema and a posterior."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    rng = np.random.default_rng(4)
    table = pandas.DataFrame({"age": rng.integers(18, 90, 5000), "sex": rng.choice(["f", "m"], 5000)})
    table["town"] = rng.choice(["A", "B", "C"], 5000)
    table["ill"] = np.where(rng.random(5000) < table.age / 100, "yes", "no")
    columns = {"age": dp.Number(18, 90), "sex": dp.Binary("f"), "town": dp.Category(["A", "B", "C"])}
    schema = dp.Schema(columns | {"ill": dp.Binary("yes")}, target="ill", missing="drop")
    budget = {"epsilon": 1.0, "delta": 1e-6, "progress": False, "anyway": True}
    return table, schema, dp.sample(dp.LogisticRegression(), schema.data(table), **budget)


def test_declared_features_are_values_that_the_schema_allows(people):
    _, schema, post = people
    made = post.synthesize(400, sets=2, seed=3)
    frame = made.to_pandas(1, target="ill")
    assert frame.columns.tolist() == ["age", "sex", "town", "ill"]
    assert frame.age.between(18, 90).all()
    assert set(frame.sex) == {"f", "not f"}
    assert set(frame.town) == {"A", "B", "C"}
    assert np.array_equal(schema.encode(frame), made.x[1])
    assert set(np.unique(made.x[:, :, 1:])) == {0.0, 1.0}  # one-hot and binary features


def test_public_rows_come_back_in_their_own_units(people):
    table, schema, post = people
    public = table[["age", "sex", "town"]].head(50).copy()
    public.loc[0, "age"] = np.nan  # a row that is not complete is left out
    made = post.synthesize(200, features=public, sets=2, seed=3)
    frame = made.to_pandas(0)
    assert np.array_equal(schema.encode(frame), made.x[0])
    kept = set(map(tuple, public.dropna().to_numpy().tolist()))
    assert set(map(tuple, frame[["age", "sex", "town"]].to_numpy().tolist())) <= kept


def test_many_large_sets_agree_with_the_mixture_of_their_posteriors():
    """Räisä, Jälkö, Honkela (2025): the mixture's variance is that between sets plus that within, too wide by twice the
    latter; the rule is right for sets of any size."""
    rng, m, posterior = np.random.default_rng(8), 20_000, 0.5
    for within, excess in ((0.25, 1.0), (0.0025, 0.01)):
        estimates = rng.normal(size=(m, 1)) * np.sqrt(posterior + within)
        rule = dp.combine_synthetic(estimates, np.full((m, 1), within)).sd[0] ** 2
        mixture = float(estimates.var()) + within
        assert rule == pytest.approx(posterior, rel=0.04)  # four standard errors of a variance
        assert mixture / posterior - 1.0 == pytest.approx(excess, abs=0.06)


def test_a_model_without_a_target_makes_whole_records():
    data = dp.Data(np.random.default_rng(1).normal(size=(5000, 2)), row_norm=4.0)
    post = dp.sample(dp.GaussianMean(), data, epsilon=1.0, delta=1e-6, progress=False)
    made = post.synthesize(50, sets=3, seed=1)
    assert made.y.shape == (3, 50, 2)


def test_a_set_becomes_a_data_frame(post):
    pytest.importorskip("pandas", reason="pandas is not installed")
    made = post.synthesize(50, sets=2, seed=1)
    table = made.to_pandas(1, target="owns")
    assert table.shape == (50, 3)
    assert table.columns.tolist() == [*made.columns, "owns"]


def test_the_rules_by_hand():
    rng = np.random.default_rng(5)
    m, between, within = 4000, 0.3, 0.2
    estimates = 1.0 + rng.normal(size=(m, 1)) * np.sqrt(between + within)
    found = dp.combine_synthetic(estimates, np.full((m, 1), within))
    assert found.sd[0] ** 2 == pytest.approx(between, rel=0.1)
    narrow = dp.combine_synthetic([[1.0], [1.1], [0.9]], [[5.0]] * 3)  # sets too small: never a negative variance
    assert narrow.sd[0] ** 2 == pytest.approx(4 / 3 * 0.01)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"n": 0}, InvalidArgument, "n must"),
        ({"n": 10, "sets": 0}, InvalidArgument, "sets must"),
        ({"n": 10, "sets": 10**6}, InvalidArgument, "sets must be at most the number of draws"),
        ({"n": 10**9}, InvalidArgument, "n x sets x columns"),
        ({"n": 10, "features": "private"}, InvalidArgument, "features must be"),
        ({"n": 10, "features": [[1.0, 2.0, 3.0]]}, InvalidArgument, "column"),
    ],
)
def test_wrong_calls_are_refused(post, wrong, error, says):
    with pytest.raises(error, match=says):
        post.synthesize(**wrong)


def test_records_are_no_features(post):
    with pytest.raises(WrongType, match="features must be public rows"):
        post.synthesize(10, features=dp.Data(np.ones((3, 2)), np.ones(3), row_norm=2.0))
    with pytest.raises(InvalidArgument, match="at least 2 sets"):
        dp.combine_synthetic([[1.0]], [[1.0]])

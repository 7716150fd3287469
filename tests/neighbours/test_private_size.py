"""Under add_remove the number of records is private: no refusal, and no other fact of a run, depends on it."""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp

spec = importlib.util.spec_from_file_location("neighbours_samplers", Path(__file__).parent / "test_samplers.py")
samplers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(samplers)

REPLACE_ALONE = ("Barker, batches", "NUTS")
SIZES = {name: sampler for name, sampler in samplers.SAMPLERS.items() if name not in REPLACE_ALONE}
PUBLIC_N = 40
MODEL = dp.LogisticRegression()


def table(n, **options):
    rng = np.random.default_rng(4)
    x, y = rng.uniform(-0.5, 0.5, (PUBLIC_N + 9, 2))[:n], rng.integers(0, 2, PUBLIC_N + 9)[:n]
    return dp.Data(x, y, row_norm=1.0, public_n=PUBLIC_N, **options)


def planned(data, sampler, model=MODEL):
    budget = samplers.BUDGETS["Newton"] if isinstance(sampler, dp.Newton) else {}
    return dp.plan(model, data.public, sampler, adjacency="add_remove", chains=1, **budget)


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
@pytest.mark.parametrize("name", SIZES)
def test_a_run_tells_nothing_of_the_number_of_records(name, storage):
    plan = planned(table(5), SIZES[name])
    seen = [
        samplers.trace(lambda n=n: plan.run(table(n, storage=storage), seed=1, progress=False))[1]
        for n in (0, 1, PUBLIC_N, PUBLIC_N + 9)
    ]
    assert all(one == seen[0] for one in seen)


@pytest.mark.parametrize("name", SIZES)
def test_no_records_are_as_one_that_contributes_nothing(name):
    plan = planned(table(5), SIZES[name])
    void = dp.Data([[np.nan, 0.0]], [0], row_norm=1.0, public_n=PUBLIC_N)
    draws = [plan.run(data, seed=1, progress=False).draws["beta"] for data in (table(0), void)]
    np.testing.assert_array_equal(*draws)


def test_an_empty_table_of_groups_columns_and_schemas():
    grouped = table(0, groups=[], max_group_size=2)
    assert grouped.public.n == 0
    plan = planned(grouped, dp.SGLD(steps=4, step_size=1e-3))
    assert np.isfinite(plan.run(grouped, seed=1, progress=False).draws["beta"]).all()
    scheme = dp.Schema(
        {"a": dp.Number(0, 1), "c": dp.Category(["u", "v"]), "y": dp.Binary()}, target="y", missing="drop"
    )
    empty = scheme.data({"a": [], "c": [], "y": []}, public_n=9)
    assert (empty.public.n, len(empty)) == (0, 0)
    post = planned(empty, dp.Langevin(w=0.5, steps=3)).run(empty, seed=1, progress=False)
    assert post.draws["beta"].shape[-1] == 3
    mean = dp.Data(np.zeros((0, 1)), x_bounds=(0.5, 1.0), public_n=9)
    plan = planned(mean, dp.ConjugateSample(draws=3, w=0.5), dp.GaussianMean())
    assert np.isfinite(plan.run(mean, seed=1, progress=False).draws["theta"]).all()


def test_an_empty_table_is_refused_where_its_size_is_public():
    with pytest.raises(ValueError, match="n is 0"):
        dp.plan(MODEL, table(0).public, SIZES["SGLD"])


@pytest.mark.parametrize("one_hot", [None, [range(1, 9), range(9, 17), range(17, 25)]])
@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_langevin_uses_as_many_records_as_it_is_priced_for(storage, one_hot):
    rng = np.random.default_rng(6)
    x, y = np.zeros((60, 25)), rng.integers(0, 2, 60)
    x[:, 0] = rng.uniform(-0.5, 0.5, 60)
    x[np.arange(60), rng.integers(1, 9, 60)] = 1.0
    options = {"row_norm": 1.5, "public_n": 40, "storage": storage, "one_hot": one_hot}
    few, many = dp.Data(x[:40], y[:40], **options), dp.Data(x, y, **options)
    assert storage == "fixed16" or (one_hot is None) == (many._coded is None)  # rows that are short as they are
    plan = planned(few, dp.Langevin(w=0.5, steps=6))
    assert "at most public_n = 40 records" in plan.guarantee.assumptions[0]
    draws = [plan.run(data, seed=1, progress=False).draws["beta"] for data in (few, many)]
    np.testing.assert_array_equal(*draws)
    fewer = plan.run(dp.Data(x[:39], y[:39], **options), seed=1, progress=False).draws["beta"]
    assert not np.array_equal(fewer, draws[0])


def test_langevin_beyond_its_capacity_costs_no_more_than_a_replacement():
    """The assumption's own words: one record more, in front, lets another go."""
    public = table(PUBLIC_N).public
    plan = planned(table(PUBLIC_N), dp.Langevin(w=0.5, steps=6))
    settings = plan.settings
    assert dp.plan(MODEL, public, dp.Langevin(w=0.5, steps=6)).guarantee.assumptions == ()
    assert settings.event("replace").sensitivity == 2.0 * settings.event("add_remove").sensitivity


def test_estimators_and_scores_of_no_records():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    from pydpmc.sklearn import DPLinearRegression, DPLogisticRegression

    common = {"row_norm": 1.0, "sampler": dp.SGLD(steps=4, step_size=1e-3), "epsilon": 50.0, "public_n": 9}
    common |= {"adjacency": "add_remove", "random_state": 1}
    none = np.zeros((0, 2)), np.zeros(0)
    for model in (DPLogisticRegression(classes=[0, 1], **common), DPLinearRegression(y_bounds=(0, 1), **common)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "the draws have not converged")  # four steps; said of the draws alone
            score = model.fit(*none).private_score(*none, epsilon=1.0, seed=1)
        assert 0.0 <= score.value <= 1.0

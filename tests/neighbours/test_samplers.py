"""Every sampler and entry point on neighbours with fixed noise: same public facts, warnings and files; bounded sums.

A seed fixes the noise, so that two runs differ only by the effect of the one record.
"""

import importlib.util
import logging
import warnings
from pathlib import Path

import numpy as np
import pytest

import pydpmc as dp
from pydpmc.posterior.summary import doubt_of

spec = importlib.util.spec_from_file_location("neighbours_hostile", Path(__file__).parent / "hostile.py")
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

N, CHANGED = 40, 7
SAMPLERS = {
    "Barker": dp.Barker(steps=12, scale=0.1),
    "Barker, batches": dp.Barker(steps=12, scale=0.005, batch_size=20),
    "SGLD": dp.SGLD(steps=8, step_size=1e-3),
    "SGLD, batches": dp.SGLD(steps=8, step_size=1e-3, batch_size=10),
    "SGHMC": dp.SGHMC(steps=8, step_size=1e-3),
    "SGNHT": dp.SGNHT(steps=8, step_size=1e-3),
    "SGFS": dp.SGFS(steps=8, step_size=1e-3),
    "Langevin": dp.Langevin(w=0.5, steps=5),
    "Hybrid": dp.Hybrid(dp.SGLD(steps=4, step_size=1e-3), dp.Barker(steps=6, scale=0.1)),
    "Newton": dp.Newton(looks=3, draws=20),
    "PosteriorSample": dp.PosteriorSample(draws=2, w=0.1),
    "NUTS": dp.NUTS(draws=20, warmup=50),
}
BUDGETS = {"Newton": {"epsilon": 5.0, "delta": 1e-6}, "NUTS": {"private": False}}
SLOW = ("PosteriorSample", "NUTS")  # of which fewer runs are made
VALUES = (np.nan, None, "text", 0.5, 7, -1, "1", b"\xff", 10**400, 1j, hostile.Evil(), object())


def table(y_value="plain", x_value="plain"):
    rng = np.random.default_rng(3)
    x = [list(row) for row in rng.uniform(-0.5, 0.5, (N, 2))]
    y = rng.integers(0, 2, N).tolist()
    if not isinstance(x_value, str) or x_value != "plain":
        x[CHANGED][0] = x_value
    if not isinstance(y_value, str) or y_value != "plain":
        y[CHANGED] = y_value
    return x, y


def planned(name, **options):
    public = dp.Data(*table(), row_norm=1.0).public
    return dp.plan(dp.LogisticRegression(), public, SAMPLERS[name], **BUDGETS.get(name, {}), **options)


def trace(run):
    """Return the posterior, and everything else that an observer could notice."""
    records = []
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger().addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            post = run()
    finally:
        logging.getLogger().removeHandler(handler)
    shapes = {name: values.shape for name, values in post.draws.items()}
    logged = [record.getMessage() for record in records]
    of_draws = [doubt] if (doubt := doubt_of(post)) is not None else []  # a function of the draws, which were paid for
    told = [message for w in caught if (message := str(w.message)) not in of_draws]
    return post, (shapes, told, logged, post.plan, post.guarantee, post.labels)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_run_tells_nothing_else(name, capsys):
    plan = planned(name)
    run = lambda data: plan.run(data, seed=1, progress=False)  # noqa: E731
    _, plain = trace(lambda: run(dp.Data(*table(), row_norm=1.0)))
    for value in VALUES[:3] if name in SLOW else VALUES:
        for arguments in ({"y_value": value}, {"x_value": value}):
            post, seen = trace(lambda a=arguments: run(dp.Data(*table(**a), row_norm=1.0)))
            assert seen == plain
            assert all(np.isfinite(draws).all() for draws in post.draws.values())
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_void_record_is_the_same_void_whatever_it_holds(name):
    plan = planned(name)
    draws = [
        plan.run(dp.Data(*table(y_value=value), row_norm=1.0), seed=1, progress=False).draws["beta"]
        for value in (np.nan, "text", 0.5, 7, object())[: 2 if name in SLOW else 5]
    ]
    for other in draws[1:]:
        np.testing.assert_array_equal(draws[0], other)


@pytest.mark.parametrize(
    "sampler", [dp.Langevin(w=0.5, steps=5), dp.ConjugateSample(draws=3, w=0.5)], ids=["Langevin", "Conjugate"]
)
def test_means_of_neighbours_move_by_no_more_than_one_record(sampler):
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, N).tolist()
    facts = {"x_bounds": (0.0, 1.0)}
    plan = dp.plan(dp.GaussianMean(), dp.Data(x, **facts).public, sampler)
    plain, seen = trace(lambda: plan.run(dp.Data(x, **facts), seed=1, progress=False))
    for value in VALUES:
        changed = [*x[:CHANGED], value, *x[CHANGED + 1 :]]
        post, seen_too = trace(lambda c=changed: plan.run(dp.Data(c, **facts), seed=1, progress=False))
        assert seen == seen_too
        assert np.abs(post.draws["theta"] - plain.draws["theta"]).max() <= 1.0


def test_an_unknown_level_of_a_category_decides_no_refusal():
    scheme = dp.Schema({"x": dp.Number(0, 1), "c": dp.Category(["no", "yes"])}, target="c", missing="drop")
    plan = dp.plan(dp.LogisticRegression(), scheme.public(n=4), dp.Barker(steps=5, scale=0.1))
    _, plain = trace(lambda: plan.run(scheme.data({"x": [0, 1, 0, 1], "c": ["no", "yes"] * 2}), seed=1, progress=False))
    for level in ("maybe", None, 3, object()):
        data = scheme.data({"x": [0, 1, 0, 1], "c": ["no", "yes", "no", level]})
        assert trace(lambda d=data: plan.run(d, seed=1, progress=False))[1] == plain


def fitted(kind, X, y, **options):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    import pydpmc.sklearn as estimators

    common = {"row_norm": 1.0, "sampler": SAMPLERS["Barker"], "epsilon": 50.0, "random_state": 1}
    return getattr(estimators, kind)(**(common | options)).fit(X, y)


ESTIMATORS = {
    "DPLogisticRegression": {"classes": [0, 1]},
    "DPSoftmaxRegression": {"classes": [0, 1, 2]},
    "DPLinearRegression": {"y_bounds": (0, 2)},
    "DPPoissonRegressor": {"y_bounds": (0, 4)},
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_estimators_code_labels_and_features_one_by_one(kind, monkeypatch):
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra pydpmc[sklearn])")
    from pydpmc.sklearn import base

    stored = []
    make = base.Data
    monkeypatch.setattr(base, "Data", lambda *a, **k: stored.append(make(*a, **k)) or stored[-1])
    fitted(kind, *table(), **ESTIMATORS[kind])
    others = np.arange(N) != CHANGED
    for value in VALUES:
        for arguments in ({"y_value": value}, {"x_value": value}):
            X, y = table(**arguments)
            for target in (y, hostile.objects(y)):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    warnings.filterwarnings("ignore", message="the draws have not converged")  # of released draws
                    fitted(kind, X, target, **ESTIMATORS[kind])
                assert stored[-1].public == stored[0].public
                np.testing.assert_array_equal(stored[-1]._rows[others], stored[0]._rows[others])


STUDY = """\
[data]
path = "table.csv"
n = 40
[schema]
target = "y"
missing = "drop"
[schema.columns]
a = {kind = "number", low = -1, high = 1}
y = {kind = "category", levels = ["0", "1"]}
[model]
type = "LogisticRegression"
[sampler]
type = "Barker"
steps = 12
scale = 0.1
[budget]
epsilon = 50.0
delta = 1e-6
[output]
posterior = "post.npz"
table = "post.md"
"""


def studied(folder, value, capsys):
    """Return what a study with this label prints, and all files that it writes."""
    from pydpmc.cli.main import main

    folder.mkdir()
    x, y = table(y_value=value)
    lines = ["a,y", *(f"{row[0]},{label}" for row, label in zip(x, y, strict=True))]
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    (folder / "study.toml").write_text(STUDY)
    assert main(["run", str(folder / "study.toml")]) == 0
    out, err = capsys.readouterr()
    written = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "table.csv"}
    return out.replace(str(folder), ""), err, written


def test_a_study_prints_and_writes_the_same(tmp_path, capsys):
    seen = [
        studied(tmp_path / str(i), value, capsys)
        for i, value in enumerate(("0", "", "text", "0.5", "\x00", "9" * 5000))
    ]
    facts = [(out.split("wrote")[0], err, sorted(written)) for out, err, written in seen]
    assert all(one == facts[0] for one in facts)


def test_files_of_a_study_hold_the_same_bytes_whatever_a_void_record_holds(tmp_path, capsys, monkeypatch):
    """With the noise frozen: every file, every byte, and all that is printed."""
    run = dp.Plan.run
    monkeypatch.setattr(dp.Plan, "run", lambda plan, data, **options: run(plan, data, seed=1, **options))
    seen = [
        studied(tmp_path / str(i), value, capsys) for i, value in enumerate(("", "text", "0.5", "\x00", "9" * 5000))
    ]
    assert {"post.npz", "post.md"} <= set(seen[0][2])
    assert all(one == seen[0] for one in seen)

"""What holds for every listed model and sampler: what may leave a run, and that records change only accept bits."""

import dataclasses
import re

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import models, samplers
from pydpmc.errors import UnsupportedEventError

PUBLIC, CHARGED, VOIDS = (
    "public: decided before a record was read",
    "charged: function of noised answers",
    "unsafe: voids",
)

# Every field of a result, and why it may leave. A new field must be added here, with its reason.
MAY_LEAVE = {
    "draws.*": CHARGED,
    "labels.*": PUBLIC,
    "guarantee.events": PUBLIC,
    "guarantee.adjacency": PUBLIC,
    "guarantee.assumptions": PUBLIC,
    "guarantee.void": PUBLIC,
    "guarantee.unit": PUBLIC,
    "guarantee.total_variation": PUBLIC,
    "plan.model": PUBLIC,
    "plan.model_spec.*": PUBLIC,
    "plan.model_spec.prior.*": PUBLIC,
    "plan.public.*": PUBLIC,
    "plan.outlook.*": PUBLIC,
    "plan.sampler": PUBLIC,
    "plan.adjacency": PUBLIC,
    "plan.chains": PUBLIC,
    "plan.private": PUBLIC,
    "plan.epsilon": PUBLIC,
    "plan.delta": PUBLIC,
    "plan.steps": PUBLIC,
    "plan.batch_size": PUBLIC,
    "plan.proposal": PUBLIC,
    "plan.scale": PUBLIC,
    "plan.radius": PUBLIC,
    "plan.clip": PUBLIC,
    "plan.w": PUBLIC,
    "plan.prior_mean": PUBLIC,
    "plan.prior_precision": PUBLIC,
    "plan.independent_draws": PUBLIC,
    "plan.c": PUBLIC,
    "acceptance": CHARGED,
    "looks": CHARGED,
    "interrupted": "public: pressed by the user",
    "unsafe.clipped_share": VOIDS,
}
# Of the gradient samplers alone.
MAY_LEAVE_OF_GRADIENTS = {
    f"plan.{name}": PUBLIC for name in ("step_size", "sampling", "rate", "friction", "heat", "calibration")
}
MAY_LEAVE_OF_SAMPLER = {
    dp.SGFS: {"plan.noise_matrix": PUBLIC, "plan.information_share": PUBLIC},
    dp.DPVI: {"plan.noise_multiplier": PUBLIC, "plan.draws": PUBLIC},
}
MAY_LEAVE_OF_LANGEVIN = {f"plan.{name}": PUBLIC for name in ("draws", "step_size", "bias")}
MAY_LEAVE_OF_POSTERIOR_SAMPLE = {
    f"plan.{name}": PUBLIC
    for name in ("draws", "temper_prior", "loglik_range", "gamma", "inner_chains", "warmup", "spacing", "grid")
}
MAY_LEAVE_OF_CONJUGATE = {f"plan.{name}": PUBLIC for name in ("draws", "noise")}
MAY_LEAVE_OF_NEWTON = {
    f"plan.{name}": PUBLIC
    for name in (
        "looks",
        "shares",
        "curvature",
        "curvature_share",
        "residual_clip",
        "curvature_clip",
        "largest_count",
        "draws",
        "mu",
        "fit",
    )
} | {  # functions of the looks
    f"agreement.{name}": CHARGED
    for name in (
        "chi_square",
        "degrees",
        "curved",
        "predictor_sd",
        "spread",
        "spread_error",
        "moments",
        "cut",
        "cut_error",
        "shown",
        "moved",
    )
}
MAY_LEAVE_OF_HYBRID = {f"plan.{name}": PUBLIC for name in ("chain", "share")} | {
    f"plan.start.{name}": PUBLIC for name in ("sampler", "draws", "steps", "w", "noise")
}
# Of NUTS alone, which runs without privacy only. "sampler_stats" itself is None in every other result.
MAY_LEAVE_OF_NUTS = {f"plan.{name}": PUBLIC for name in ("draws", "warmup", "target_accept", "max_depth", "jitter")} | {
    f"sampler_stats.{name}": "without privacy only"
    for name in ("divergences", "tree_depth", "saturated", "step_size", "accept", "gradients")
}
ABSENT = {
    "unsafe",
    "sampler_stats",
    "ledger_entry",
    "agreement",  # of Newton's looks alone
    "fit",  # of Newton's looks alone, if asked for
    "schema",  # public; of data that a schema made
}  # None unless their conditions are met, which the tests below pin down
METHODS = {  # of the fields above alone
    *(
        "private",
        "information",
        "summary",
        "interval",
        "wald_test",
        "save",
        "load",
        "table",
        "predict",
        "predict_proba",
        "posterior_predictive",
        "prior_predictive",
        "to_arviz",
        "verdict",
        "bayes_factor",
        "evidence",
        "loo",
        "waic",
        "synthesize",
    ),
    *("plot_trace", "plot_forest", "plot_prior_posterior", "plot_privacy", "plot_looks", "report"),
}


def make_data(model, rng, n=60, **options):
    x = rng.normal(size=(n, 1 if model.one_column else 3))
    if isinstance(model, dp.BernoulliLogit):
        x = rng.integers(0, 2, (n, 1)).astype(float)
    y = rng.integers(0, model.label_count or 4, n).astype(float) if model.needs_target else None
    return x, y, {"row_norm": 1.5} | ({"y_bounds": (0.0, 4.0)} if model.needs_target else {}) | options


def short_run(model, rng, sampler=None, **options):
    x, y, facts = make_data(model, rng)
    data = dp.Data(x, y, **facts)
    plan = dp.plan(model, data.public, sampler or dp.Barker(steps=30, scale=0.05))
    return plan.run(data, progress=False, **options)


def leaves(thing, path=""):
    """Yield (path, value) of every field, mapping entries included."""
    for name, value in fields(thing):
        here = f"{path}.{name}" if path else name
        if dataclasses.is_dataclass(value) or isinstance(value, dict):
            yield from leaves(value, here)
        else:
            yield here, value


def fields(thing):
    return thing.items() if isinstance(thing, dict) else vars(thing).items()


def tag_of(path):
    return MAY_LEAVE.get(path) or MAY_LEAVE.get(re.sub(r"\.[^.]*$", ".*", path))


@pytest.mark.parametrize("kind", models.ALL)
@pytest.mark.parametrize("unsafe", [False, True])
def test_every_field_of_a_result_is_tagged(kind, unsafe, rng):
    post = short_run(kind(), rng, unsafe_diagnostics=unsafe)
    found = dict(leaves(post))
    assert [path for path in found if tag_of(path) is None and path not in ABSENT] == []
    assert post.sampler_stats is None
    assert post.private == (not any(tag_of(path) == VOIDS for path in found))
    assert ("unsafe.clipped_share" in found) == unsafe
    assert set(vars(post)) | METHODS == {name for name in dir(post) if not name.startswith("_")}


def test_the_whitelist_holds_no_field_that_is_gone(rng):
    found = {
        re.sub(r"^(draws|labels|plan\.public|plan\.outlook|plan\.model_spec|plan\.model_spec\.prior)\.\w+$", r"\1.*", p)
        for p, _ in leaves(short_run(dp.BernoulliLogit(), rng, unsafe_diagnostics=True))
    }
    assert set(MAY_LEAVE) <= found


def example_of(sampler):
    if sampler is dp.Langevin:
        return dp.Langevin(draws=2, steps=30, w=0.5)
    if sampler is dp.DPVI:
        return dp.DPVI(steps=30, noise_multiplier=2.0, clip=2.0, draws=50)
    return sampler(steps=30, scale=0.05) if sampler is dp.Barker else sampler(steps=30, step_size=1e-4, clip=2.0)


@pytest.mark.parametrize("sampler", [s for s in samplers.ALL if issubclass(s, samplers.GradientSampler)])
def test_every_field_of_a_gradient_run_is_tagged(sampler, rng):
    found = dict(leaves(short_run(dp.LogisticRegression(), rng, example_of(sampler))))
    untagged = [path for path in found if tag_of(path) is None and path not in ABSENT]
    assert set(untagged) == set(MAY_LEAVE_OF_GRADIENTS) | set(MAY_LEAVE_OF_SAMPLER.get(sampler, {}))


def test_every_field_of_a_hidden_run_is_tagged(rng):
    found = dict(leaves(short_run(dp.LogisticRegression(), rng, example_of(dp.Langevin))))
    untagged = [path for path in found if tag_of(path) is None and path not in ABSENT]
    assert set(untagged) == set(MAY_LEAVE_OF_LANGEVIN)


def refused_by_proof(sampler, kind, rng):
    """Langevin is proved for convex and smooth models alone, and says so."""
    without = (dp.HingeClassifier, dp.ProbitRegression, dp.NegativeBinomialRegression)
    if sampler is not dp.Langevin or (kind.convex and kind not in without):
        return False
    with pytest.raises(UnsupportedEventError, match="no proof"):
        short_run(kind(), rng, example_of(sampler))
    return True


@pytest.mark.parametrize("kind", models.ALL)
def test_every_model_runs_with_posterior_sample_and_says_what_it_assumes(kind, rng):
    x, y, facts = make_data(kind(), rng)
    data = dp.Data(x, y, **facts)
    sampler = dp.PosteriorSample(draws=2, w=0.01, bound=1.0, warmup=500, inner_draws=3000)
    post = dp.sample(kind(), data, sampler, progress=False)
    found = dict(leaves(post))
    untagged = {path for path in found if tag_of(path) is None and path not in ABSENT}
    assert untagged == set(MAY_LEAVE_OF_POSTERIOR_SAMPLE)
    assert post.private
    assert post.sampler_stats is None
    assert post.acceptance == ()
    assert all(values.shape[:2] == (1, 2) for values in post.draws.values())
    assert len(post.guarantee.assumptions) == 2
    for page in (post.guarantee.statement(), str(post)):
        assert all(text in page for text in post.guarantee.assumptions)
    assert "conditional" in str(post.summary())


@pytest.mark.parametrize("kind", models.ALL)
def test_every_model_runs_with_nuts_and_every_field_is_tagged(kind, rng):
    x, y, facts = make_data(kind(), rng)
    data = dp.Data(x, y, **facts)
    post = dp.sample(kind(), data, dp.NUTS(draws=30, warmup=50), private=False, chains=2, progress=False)
    found = dict(leaves(post))
    assert {path for path in found if tag_of(path) is None and path not in ABSENT} == set(MAY_LEAVE_OF_NUTS)
    assert not post.private
    assert all(np.isfinite(values).all() and values.shape[:2] == (2, 30) for values in post.draws.values())


@pytest.mark.parametrize("kind", models.ALL)
def test_every_listed_model_runs_with_every_listed_sampler(kind, rng):
    for sampler in samplers.ALL:
        if sampler is dp.SGFS and not kind.has_second_moments:
            with pytest.raises(ValueError, match="second moments"):
                short_run(kind(), rng, example_of(sampler))
            continue
        if refused_by_proof(sampler, kind, rng):
            continue
        post = short_run(kind(), rng, example_of(sampler))
        assert post.private
        assert all(np.isfinite(values).all() for values in post.draws.values())
        assert post.guarantee.assumptions == ()
        assert 0 < post.guarantee.epsilon(1e-6) < np.inf


@pytest.mark.parametrize(
    ("sampler", "own"),
    [
        (dp.ConjugateSample(draws=3, noise_multiplier=2.0), MAY_LEAVE_OF_CONJUGATE),
        (
            dp.Hybrid(dp.ConjugateSample(noise_multiplier=2.0), example_of(dp.SGLD)),
            MAY_LEAVE_OF_GRADIENTS | MAY_LEAVE_OF_HYBRID,
        ),
    ],
    ids=["conjugate", "hybrid"],
)
def test_every_field_of_a_conjugate_or_hybrid_run_is_tagged(sampler, own, rng):
    post = short_run(dp.LinearRegression(sigma=1.0), rng, sampler)
    found = {path for path, _ in leaves(post) if tag_of(path) is None and path not in ABSENT}
    assert found == set(own)
    assert post.guarantee.assumptions == ()
    assert 0 < post.guarantee.epsilon(1e-6) < np.inf


OF_NEWTON = (
    dp.LogisticRegression,
    dp.ProbitRegression,
    dp.BernoulliLogit,
    dp.LinearRegression,
    dp.HuberRegression,
    dp.PoissonRegression,
    dp.NegativeBinomialRegression,
    dp.SoftmaxRegression,
)


@pytest.mark.parametrize("kind", models.ALL)
def test_every_model_runs_with_newton_or_is_refused_and_every_field_is_tagged(kind, rng):
    x, y, facts = make_data(kind(), rng)
    data = dp.Data(x, y, **facts)
    budget = {"epsilon": 1.0, "delta": 1e-6}
    if kind not in OF_NEWTON:
        with pytest.raises(UnsupportedEventError, match="Newton"):
            dp.plan(kind(), data.public, dp.Newton(), **budget)
        return
    post = dp.sample(kind(), data, dp.Newton(draws=50), progress=False, **budget)
    assert {path for path, _ in leaves(post) if tag_of(path) is None and path not in ABSENT} == set(MAY_LEAVE_OF_NEWTON)
    assert set(vars(post.looks[0])) == {"theta", "gradient", "curvature", "sigma", "tau", "outer", "clip"}
    assert post.private
    assert post.guarantee.assumptions == ()
    assert all(np.isfinite(values).all() for values in post.draws.values())


def test_of_a_ledger_only_public_facts_leave(rng, tmp_path):
    ledger = dp.Ledger(tmp_path / "a.ledger", epsilon=1e9, delta=1e-3)
    kept = {"ledger", "run", "reserved", "epsilon of the ledger", "delta of the ledger", "epsilon left after this run"}
    assert set(short_run(dp.LogisticRegression(), rng, ledger=ledger).ledger_entry) == kept
    assert short_run(dp.LogisticRegression(), rng).ledger_entry is None


SAMPLERS = (
    *samplers.ALL,
    *samplers.CONDITIONAL,
    *samplers.NOT_PRIVATE,
    *samplers.OF_SOME_MODELS,
    *samplers.OF_OTHER_SAMPLERS,
)


@pytest.mark.parametrize("kind", [*models.ALL, *SAMPLERS, dp.Data, dp.Public, dp.Posterior, dp.Plan])
def test_every_listed_thing_is_exported_and_described(kind):
    assert getattr(dp, kind.__name__) is kind
    assert kind.__name__ in dp.__all__
    assert len(kind.__doc__.strip()) > 40

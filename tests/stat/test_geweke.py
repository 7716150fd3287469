"""Geweke's joint-distribution test: alternating records | theta and Barker steps | records must keep the prior."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import pydpmc as dp
from pydpmc import _core
from pydpmc.diagnostics import ess
from pydpmc.running.run import core_target

Floats = npt.NDArray[np.float64]

TRANSITIONS = 20_000
STEPS = 10
N = 5
BETA_SCALE, SIGMA_LOC, SIGMA_SCALE = 0.7, 1.0, 0.2
PRIOR = {"beta": dp.Normal(scale=BETA_SCALE), "sigma": dp.Normal(loc=SIGMA_LOC, scale=SIGMA_SCALE)}


def functionals(beta: Floats, sigma: Floats, y: Floats) -> dict[str, Floats]:
    mean = y.mean(axis=1)
    return {
        "beta": beta,
        "beta^2": beta**2,
        "|beta|": np.abs(beta),
        "sigma": sigma,
        "sigma^2": sigma**2,
        "1/sigma": 1.0 / sigma,
        "beta sigma": beta * sigma,
        "mean y": mean,
        "(mean y)^2": mean**2,
        "mean y beta": mean * beta,
        "spread y": np.abs(y - mean[:, None]).mean(axis=1),
        "spread y sigma": np.abs(y - mean[:, None]).mean(axis=1) * sigma,
    }


def outcomes(rng: np.random.Generator, x: Floats, beta: Floats, sigma: Floats) -> Floats:
    return beta[:, None] * x + sigma[:, None] * rng.normal(size=(len(beta), N))


def independent(rng: np.random.Generator, x: Floats, size: int) -> dict[str, Floats]:
    beta, sigma = rng.normal(0.0, BETA_SCALE, size), rng.normal(SIGMA_LOC, SIGMA_SCALE, size)
    return functionals(beta, sigma, outcomes(rng, x, beta, sigma))


def alternating(rng: np.random.Generator, x: Floats, w: float) -> dict[str, Floats]:
    model = dp.LinearRegression(prior=PRIOR)
    sampler = dp.Barker(steps=STEPS, proposal="gaussian", scale=(0.8, 0.25), w=w)
    plan = dp.plan(model, dp.Data(x, x).public, sampler, private=False)
    theta, visited, seen = np.zeros((1, 2)), np.empty((TRANSITIONS, 2)), np.empty((TRANSITIONS, N))
    last = np.empty((1, 1, 2))
    for t in range(TRANSITIONS):
        y = theta[0, 0] * x + np.exp(theta[0, 1]) * rng.normal(size=N)
        data = dp.Data(x, y)
        arguments = plan.settings.core_arguments(_core, data.public)
        chains = _core.Chains(init=theta, draws=last, warmup=STEPS - 1, thin=1, seed=t)
        core = _core.BarkerRun(core_target(plan, data), chains, **arguments)
        core.advance(STEPS, 1, 64)
        theta = last[0].copy()
        visited[t], seen[t] = theta[0], y
    # A transition ends with theta given y, so the pair (theta, y) has the joint distribution.
    return functionals(visited[:, 0], np.exp(visited[:, 1]), seen)


def scores(w: float = 1.0) -> dict[str, float]:
    rng = np.random.default_rng(8)
    x = rng.uniform(-1.5, 1.5, N)
    exact, found = independent(rng, x, 400_000), alternating(rng, x, w)
    z = {}
    for name, values in found.items():
        error = np.hypot(values.std() / ess(values[None, :]) ** 0.5, exact[name].std() / len(exact[name]) ** 0.5)
        z[name] = float((values.mean() - exact[name].mean()) / error)
    print({name: round(value, 2) for name, value in z.items()})
    return z


def test_alternating_records_and_steps_keep_the_joint_distribution() -> None:
    assert max(abs(z) for z in scores().values()) < 4.0


def test_a_wrong_weight_of_the_likelihood_is_noticed() -> None:
    assert max(abs(z) for z in scores(w=0.7).values()) > 6.0

"""Newton's posterior given its looks beside a slow reference: MCMC over theta and the sums that the looks hide.

Columns have few values, so that all that a look can see of the records are the counts n_c of each value c and the
numbers of positive outcomes among them. Given theta and the counts, the latter are normal to high accuracy (hundreds
of records a value) and are integrated out exactly; theta and the counts are drawn by the affine-invariant sampler of
Goodman and Weare (2010). The reference knows the values of the columns and nothing else that Newton does not know.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import expit

import pydpmc as dp

WALKERS, BURN_IN, STEPS = 240, 1500, 3000
PRIOR = 2.5
LEVELS = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
SETTINGS = {  # n, truth, epsilon, levels of each column
    "one column": (20_000, (0.2, 0.7), 1.0, (LEVELS,)),
    "few records": (3_000, (0.0, 0.5), 1.0, (LEVELS,)),
    "rare outcome": (20_000, (-3.0, 0.5), 1.0, (LEVELS,)),
    "small budget": (20_000, (0.5, -0.5), 0.3, (LEVELS,)),
    "two columns": (20_000, (0.2, 0.7, -0.4), 1.0, (np.array([-0.7, 0.7]), np.array([-0.7, 0.0, 0.7]))),
}


class Reference:
    """log p(theta, shares of the values | looks) up to a constant, for many walkers at once."""

    def __init__(self, looks, values, n):
        self.x = np.column_stack([np.ones(len(values)), values])
        self.n, self.looks = n, looks
        self.dim, self.cells = self.x.shape[1], len(values)
        self.at = np.array([expit(self.x @ look.theta) for look in looks])

    def shares(self, free):
        """Return shares from log-ratios, and the log Jacobian under which shares are uniform."""
        logs = np.concatenate([free, np.zeros((len(free), 1))], axis=1)
        logs -= np.logaddexp.reduce(logs, axis=1, keepdims=True)
        return np.exp(logs), logs.sum(axis=1)

    def __call__(self, state):
        theta, (shares, jacobian) = state[:, : self.dim], self.shares(state[:, self.dim :])
        counts, p = self.n * shares, expit(theta @ self.x.T)
        total = jacobian - 0.5 * ((theta / PRIOR) ** 2).sum(axis=1)
        outer = self.x[:, :, None] * self.x[:, None, :]
        variance = np.einsum("wc,cij->wij", counts * p * (1.0 - p), outer)
        precision, pull = 0.0, np.zeros_like(theta)
        for look, q in zip(self.looks, self.at, strict=True):
            error = look.gradient - np.einsum("wc,ci->wi", counts * (p - q), self.x)
            pull += error / look.sigma**2
            precision += look.sigma**-2.0
            total -= 0.5 * (error**2).sum(axis=1) / look.sigma**2
            missed = look.curvature - np.einsum("wc,cij->wij", counts * q * (1.0 - q), outer)
            total -= 0.5 * (missed**2).sum(axis=(1, 2)) / look.tau**2  # entries beside the diagonal twice, at tau^2/2
        # The sampling error xi ~ N(0, variance) is shared by all looks: integrate it out.
        inner = np.eye(self.dim) + precision * variance
        solved = np.linalg.solve(inner, np.einsum("wij,wj->wi", variance, pull)[:, :, None])[:, :, 0]
        return total + 0.5 * (pull * solved).sum(axis=1) - 0.5 * np.linalg.slogdet(inner)[1]


def sampled(density, centre, spread, rng):
    """Return draws (steps, walkers, parameters) of the stretch moves."""
    state = centre + spread * rng.normal(size=(WALKERS, len(centre)))
    value, halves = density(state), (slice(None, WALKERS // 2), slice(WALKERS // 2, None))
    kept = []
    for step in range(BURN_IN + STEPS):
        for own, other in (halves, halves[::-1]):
            stretch = (1.0 + rng.random(WALKERS // 2)) ** 2 / 2.0
            partner = state[other][rng.integers(0, WALKERS // 2, WALKERS // 2)]
            moved = partner + stretch[:, None] * (state[own] - partner)
            new = density(moved)
            accept = np.log(rng.random(WALKERS // 2)) < (state.shape[1] - 1) * np.log(stretch) + new - value[own]
            state[own] = np.where(accept[:, None], moved, state[own])
            value[own] = np.where(accept, new, value[own])
        if step >= BURN_IN and step % 10 == 0:
            kept.append(state.copy())
    return np.array(kept)


def moments(draws):
    """Return mean, sd and the Monte-Carlo error of the mean, from the halves of the walkers and of time."""
    parts = [half for part in np.array_split(draws, 4) for half in np.array_split(part, 2, axis=1)]
    means = np.array([part.mean(axis=(0, 1)) for part in parts])
    return draws.mean(axis=(0, 1)), draws.std(axis=(0, 1)), means.std(axis=0, ddof=1) / len(parts) ** 0.5


def of_setting(name, seed):
    n, truth, epsilon, columns = SETTINGS[name]
    rng = np.random.default_rng([seed, len(name)])
    values = np.array(list(itertools.product(*columns)))
    x = values[rng.integers(0, len(values), n)]
    y = (rng.random(n) < expit(truth[0] + x @ np.array(truth[1:]))).astype(float)
    data = dp.Data(x, y, row_norm=1.0)
    model = dp.LogisticRegression(intercept=True, prior=dp.Normal(scale=PRIOR))
    post = dp.sample(model, data, dp.Newton(), epsilon=epsilon, delta=1e-6, seed=seed, progress=False)
    draws = np.concatenate([post.draws["intercept"], post.draws["beta"]], axis=2)
    reference = Reference(post.looks, values, n)
    centre = np.concatenate([draws.mean(axis=(0, 1)), np.zeros(len(values) - 1)])
    spread = np.concatenate([draws.std(axis=(0, 1)), np.full(len(values) - 1, 0.05)])
    theta = sampled(reference, centre, spread, rng)[:, :, : len(truth)]
    return draws, theta


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_newton_agrees_with_mcmc_over_the_unknown_sums(name):
    """Over four runs each: means within a third of a standard deviation, spreads within a quarter, up to MCMC's error.

    Newton takes the columns for normal and adds what it does not know as noise, so that it may be wider, and its mean
    may lie elsewhere by a part of its own standard deviation; MCMC knows the values of the columns.
    """
    shifts, ratios, errors = [], [], []
    for seed in range(4):
        draws, theta = of_setting(name, seed)
        mean, sd, error = moments(theta)
        shifts.append((draws.mean(axis=(0, 1)) - mean) / sd)
        ratios.append(draws.std(axis=(0, 1)) / sd)
        errors.append(error / sd)
    shifts, ratios, errors = np.array(shifts), np.array(ratios), np.array(errors)
    print(
        f"\n{name}: shift {np.abs(shifts).mean():.3f} sd on average, {np.abs(shifts).max():.3f} at most, sd ratio "
        f"{ratios.mean():.3f} ({ratios.min():.3f} to {ratios.max():.3f}), Monte-Carlo error {errors.max():.3f} sd"
    )
    assert errors.max() < 0.1
    assert (np.abs(shifts) < 1.0 / 3.0 + 4.0 * errors).all()
    assert (np.abs(np.log(ratios)) < np.log(1.25) + 4.0 * errors).all()

"""The Lipschitz matrix F of Wang et al. (2015), algorithm 4: an ellipsoid clip is the ball's on mapped rows."""

import math

import numpy as np
import pytest
from scipy.linalg import eigh

import pydpmc as dp

D = 3


@pytest.fixture
def shape(rng):
    """A public matrix F with directions of very different lengths, and the scales of the prior."""
    rotation, _ = np.linalg.qr(rng.normal(size=(D, D)))
    return rotation @ np.diag([3.0, 0.5, 0.02]) @ rng.normal(size=(D, D)), np.array([0.5, 2.0, 10.0])


def mapped(f, scales):
    """Return M with M^T F F^T M = 1, theta = M phi, and the standard deviations of phi, which is independent again."""
    values, matrix = eigh(np.diag(scales**-2.0), f @ f.T)
    return matrix, values**-0.5


def test_the_map_turns_the_ellipsoid_into_a_ball_and_keeps_the_prior_independent(shape, rng):
    f, scales = shape
    matrix, sds = mapped(f, scales)
    g = rng.normal(size=(20, D)) * 10.0 ** rng.uniform(-3, 3, (20, 1))
    lengths = np.linalg.norm(np.linalg.solve(f, g.T), axis=0)
    assert np.linalg.norm(g @ matrix, axis=1) == pytest.approx(lengths, rel=1e-8)
    prior_of_phi = np.linalg.inv(matrix) @ np.diag(scales**2) @ np.linalg.inv(matrix).T
    assert prior_of_phi == pytest.approx(np.diag(sds**2), abs=1e-7 * float(sds.max()) ** 2)


def clipped_in_the_ellipsoid(f, x, y, theta):
    """Return each gradient, shortened to |F^-1 g| <= 1, in the coordinates of theta."""
    g = (y - 1.0 / (1.0 + np.exp(-x @ theta)))[:, None] * x
    lengths = np.linalg.norm(np.linalg.solve(f, g.T), axis=0)
    return g * np.minimum(1.0, 1.0 / np.maximum(lengths, 1e-300))[:, None]


def first_move(data, prior, h, seed=3):
    """Return the plan of one full-batch step of the compiled SGLD, and where the step leads from zero."""
    sampler = dp.SGLD(steps=1, step_size=h, clip=1.0, sampling="full")
    plan = dp.plan(dp.LogisticRegression(prior=prior), data.public, sampler, init=np.zeros(D))
    return plan, np.asarray(plan.run(data, seed=seed, warmup=0, progress=False).draws["beta"])[0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_one_record_moves_the_sum_by_its_length_in_the_ellipsoid_and_never_by_more_than_charged(shape, seed):
    """Brute force with the compiled kernel: hostile rows, neighbours by replacement, noise of the same stream."""
    f, scales = shape
    rng = np.random.default_rng(seed)
    matrix, sds = mapped(f, scales)
    x = rng.normal(size=(6, D)) * 10.0 ** rng.uniform(-3, 4, (6, 1))
    y = (rng.random(6) < 0.5).astype(float)
    h, worst = 0.5, 0.0
    for _ in range(12):
        other, label = x.copy(), y.copy()
        other[2] = rng.normal(size=D) * 10.0 ** rng.uniform(-3, 4)
        label[2] = float(rng.random() < 0.5)
        moves, sums = [], []
        for rows, targets in ((x, y), (other, label)):
            data = dp.Data(rows @ matrix, targets, row_norm=1e6)
            plan, move = first_move(data, dp.Normal(scale=tuple(sds)), h)
            moves.append(move / h)  # the gradient of U, with the noise of one stream
            sums.append(clipped_in_the_ellipsoid(f, rows, targets, np.zeros(D)).sum(axis=0))
        in_ball = np.linalg.norm(moves[0] - moves[1])
        in_ellipsoid = np.linalg.norm(np.linalg.solve(f, sums[0] - sums[1]))
        assert in_ball == pytest.approx(in_ellipsoid, abs=1e-6)
        assert in_ball <= 2.0 + 1e-9
        worst = max(worst, in_ball)
    assert worst > 1.0
    [(event, _)] = plan.guarantee.events
    assert event.noise_multiplier <= math.sqrt(2.0 / h)  # noise over the clip of 1: the ellipsoid's unit


def scored(x, y, theta):
    return (y - 1.0 / (1.0 + np.exp(-x @ theta)))[:, None] * x


def fisher_scoring(x, y, precision, a, h, normals, noise):
    """Run algorithm 4 (as docs/privacy/sgfs.md has it) with the matrix A; `noise` is a root of A."""
    theta = np.zeros(x.shape[1])
    moments = np.zeros((len(theta), len(theta)))
    for t, z in enumerate(normals, start=1):
        g = scored(x, y, theta)
        slope = precision @ theta - g.sum(axis=0) + math.sqrt(4.0 / h) * noise @ z
        theta = theta - 2.0 * np.linalg.solve(moments + precision + 4.0 * a / h, slope)
        moments = moments + 2.0 / (t + 1.0) * (g.T @ g - moments)
    return theta


def test_fisher_scoring_with_a_matrix_is_fisher_scoring_on_mapped_rows(shape, rng):
    """The same path, step by step: SGFS is equivariant under linear maps."""
    f, scales = shape
    matrix, sds = mapped(f, scales)
    x = rng.normal(size=(50, D))
    y = (rng.random(50) < 0.5).astype(float)
    normals = rng.normal(size=(30, D))
    root = np.linalg.inv(matrix).T  # M^-T: a root of F F^T
    assert root @ root.T == pytest.approx(f @ f.T, rel=1e-6, abs=1e-9)
    theta = fisher_scoring(x, y, np.diag(scales**-2.0), f @ f.T, 0.3, normals, root)
    phi = fisher_scoring(x @ matrix, y, np.diag(sds**-2.0), np.eye(D), 0.3, normals, np.eye(D))
    assert matrix @ phi == pytest.approx(theta, rel=1e-6, abs=1e-9)


def test_draws_of_mapped_rows_come_back_to_the_posterior():
    """Columns with correlation 0.98, without privacy: the compiled SGFS in phi, mapped back, has the exact moments."""
    rng, n = np.random.default_rng(6), 400
    x = rng.normal(size=(n, 2)) @ np.linalg.cholesky([[1.0, 0.98], [0.98, 1.0]]).T
    y = x @ [1.0, -1.0] + rng.normal(size=n)
    matrix, sds = mapped(np.linalg.cholesky(n * np.cov(x.T)), np.array([1.0, 1.0]))
    data = dp.Data(x @ matrix, y, row_norm=1e3, y_bounds=(-20.0, 20.0))
    model = dp.LinearRegression(sigma=1.0, intercept=False, prior=dp.Normal(scale=tuple(sds)))
    sampler = dp.SGFS(steps=20_000, step_size=0.2, clip=1e3, sampling="full")
    post = dp.sample(model, data, sampler, private=False, seed=1, progress=False)
    draws = post.draws["beta"].reshape(-1, 2) @ matrix.T
    covariance = np.linalg.inv(x.T @ x + np.eye(2))
    error = np.linalg.solve(np.linalg.cholesky(covariance), draws.mean(axis=0) - covariance @ x.T @ y)
    assert np.abs(error).max() < 0.15
    assert np.cov(draws.T) == pytest.approx(covariance, rel=0.15)

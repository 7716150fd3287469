"""The compiled gradient of a network against finite differences of a forward pass in numpy."""

import numpy as np
import pytest
from networks import NETWORKS, target
from scipy.special import log_softmax

import pydpmc as dp
from pydpmc import _core
from pydpmc.nn.forward import outputs_of

CLIP, PER_UNIT = 16.0, 2.0**20


def records(net, n=9, seed=1):
    random = np.random.default_rng(seed)
    x = random.integers(-256, 257, size=(n, 36)) / 256.0
    y = random.integers(0, 3, n).astype(float) if net.likelihood == "softmax" else random.normal(size=n)
    return dp.Data(x, y, x_bounds=(-1.0, 1.0))


def log_likelihoods(net, data, theta):
    x, y = data._rows[:, :36], data._rows[:, 36]
    sizes = np.cumsum([block.size for block in net.blocks(data.public)])[:-1]
    parameters = {str(k): part[None] for k, part in enumerate(np.split(theta, sizes))}
    found = outputs_of(net.placed(data.public), parameters, x)[0]
    if net.likelihood == "normal":
        return -0.5 * ((y - found[:, 0]) / net.sigma) ** 2
    return log_softmax(found, axis=1)[np.arange(len(x)), y.astype(int)]


def some_theta(net, data, seed=2):
    theta = net.centre(data.public)
    return theta + 0.3 * np.random.default_rng(seed).normal(size=theta.size)


@pytest.mark.parametrize("name", NETWORKS)
def test_log_likelihoods_agree_with_numpy(name):
    net = NETWORKS[name]
    data = records(net)
    theta = some_theta(net, data)
    found = _core.network_log_likelihoods(target(net, data), theta.tolist())
    np.testing.assert_allclose(found, log_likelihoods(net, data, theta), atol=2e-5)


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_agree_with_finite_differences(name):
    net = NETWORKS[name]
    data = records(net)
    theta = some_theta(net, data)
    index = np.arange(len(data), dtype=np.uint32)
    sums = _core.network_gradient_sum(target(net, data), theta.tolist(), CLIP, PER_UNIT, index)
    step = 1e-5 * np.eye(theta.size)
    exact = np.array(
        [
            (log_likelihoods(net, data, theta + h).sum() - log_likelihoods(net, data, theta - h).sum()) / 2e-5
            for h in step
        ]
    )
    assert np.abs(exact).max() > 0.5
    np.testing.assert_allclose(sums / PER_UNIT, exact, atol=1e-2)


@pytest.mark.parametrize("storage", ["float64", "float32", "fixed16"])
def test_every_storage_gives_the_same_sums(storage):
    net = NETWORKS["tanh"]
    made = records(net)
    data = dp.Data(made._rows[:, :36], made._rows[:, 36], x_bounds=(-1.0, 1.0), storage=storage)
    theta = some_theta(net, data)
    index = np.arange(9, dtype=np.uint32)
    sums = [_core.network_gradient_sum(target(net, d), theta.tolist(), 1.0, 2.0**20, index) for d in (made, data)]
    np.testing.assert_array_equal(*sums)


def test_a_clipped_gradient_keeps_its_direction_and_has_the_clip_as_norm():
    net = NETWORKS["padded conv"]
    data = records(net)
    theta = some_theta(net, data).tolist()
    one = np.array([4], dtype=np.uint32)
    whole = _core.network_gradient_sum(target(net, data), theta, CLIP, PER_UNIT, one) / PER_UNIT
    clip = float(np.linalg.norm(whole)) / 3.0
    short = _core.network_gradient_sum(target(net, data), theta, clip, 2.0**23 / clip, one) * clip / 2.0**23
    assert 0.999 * clip < np.linalg.norm(short) <= clip
    np.testing.assert_allclose(short, whole / 3.0, atol=2e-3)

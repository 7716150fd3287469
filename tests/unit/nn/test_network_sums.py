"""Integers that records add to the sums of a network: docs/privacy/networks.md, lemmas 1 to 3."""

import numpy as np
import pytest
from networks import NETWORKS, target

import pydpmc as dp
from pydpmc import _core

HOSTILE = [0.0, -0.0, 1.0, -1.0, 1e-40, 3.4e38, -3.4e38, 1e300, -1e300, np.inf, -np.inf, np.nan, 1e-300, 65504.0]
KINDS = ["tanh", "relu", "residual", "normal", "padded conv", "max pool"]


def sums(made, theta, clip, per_unit, index):
    return _core.network_gradient_sum(made, theta.tolist(), clip, per_unit, np.asarray(index, dtype=np.uint32))


def raw_data(net, x, y):
    """Return data whose stored rows are exactly these: what a record can be at the very worst."""
    data = dp.Data(np.zeros((len(x), x.shape[1])), np.zeros(len(x)))
    rows = np.array(data._rows)
    rows[:, : x.shape[1]], rows[:, x.shape[1]] = x, y
    data._rows = rows
    return data


def hostile_records(random, n):
    x = random.choice(HOSTILE, size=(n, 36))
    x[::3] = random.normal(size=x[::3].shape) * 10.0 ** random.integers(-5, 30, (len(x[::3]), 1))
    x[1::5, 1:] = 0.0
    return x, random.choice([0.0, 1.0, 2.0, 7.0, 0.5, np.nan, np.inf, 1e300, -3.0], size=n)


def hostile_theta(random, dim):
    return random.normal(size=dim) * 10.0 ** random.integers(-6, 7) * random.choice([1.0, 0.0], p=[0.9, 0.1], size=dim)


def largest_norm(name, seed, n):
    """Return the largest norm of a record's integers over the charged bound, in exact arithmetic."""
    net, random = NETWORKS[name], np.random.default_rng(seed)
    data = raw_data(net, *hostile_records(random, n))
    made = target(net, data)
    largest = 0.0
    for clip in (1.0, 1e-6, 1e6):
        theta = hostile_theta(random, net.dim(data.public))
        per_unit = 2.0**24 / clip
        for i in range(n):
            q = sums(made, theta, clip, per_unit, [i])
            largest = max(largest, sum(int(v) ** 2 for v in q) / (2**48))
    return np.sqrt(largest)


@pytest.mark.parametrize("name", KINDS)
def test_no_hostile_record_exceeds_the_charged_bound(name):
    assert largest_norm(name, seed=7, n=40) <= 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_random_hostile_records_never_exceed_the_charged_bound(name):
    found = [largest_norm(name, seed, n=60) for seed in range(40)]
    assert max(found) <= 1.0
    assert max(found) > 0.99  # the attack reaches the bound


@pytest.mark.parametrize("name", KINDS)
def test_ordinary_records_reach_the_bound_after_clipping(name):
    net, random = NETWORKS[name], np.random.default_rng(3)
    data = raw_data(net, random.normal(size=(30, 36)), random.integers(0, 3, 30).astype(float))
    theta = random.normal(size=net.dim(data.public))
    found = [sums(target(net, data), theta, 1e-3, 2.0**24 / 1e-3 * (1.0 - 1e-12), [i]) for i in range(30)]
    norms = [np.linalg.norm(one.astype(float)) / 2**24 for one in found]
    assert max(norms) <= 1.0
    assert np.median(norms) > 0.99


@pytest.mark.parametrize("name", KINDS)
def test_sums_do_not_depend_on_order_company_or_instruction_set(name):
    net, random = NETWORKS[name], np.random.default_rng(5)
    n = 141
    x, y = hostile_records(random, n)
    keep = random.random(n) < 0.5
    x[keep], y[keep] = random.normal(size=(keep.sum(), 36)), random.integers(0, 3, keep.sum())
    data = raw_data(net, x, y)
    theta = random.normal(size=net.dim(data.public))
    totals = []
    for isa in _core.available_isas():
        _core.use_isa(isa)
        made = target(net, data)
        alone = sum(sums(made, theta, 0.5, 2.0**24, [i]) for i in range(n))
        for order in (np.arange(n), random.permutation(n), np.arange(n)[::-1]):
            np.testing.assert_array_equal(sums(made, theta, 0.5, 2.0**24, order), alone)
        totals.append(alone)
    assert np.abs(totals[0]).max() > 2**20
    for other in totals[1:]:
        np.testing.assert_array_equal(other, totals[0])


def test_a_full_microbatch_of_equal_records_does_not_overflow():
    net = NETWORKS["linear"]
    data = raw_data(net, np.zeros((64, 36)), np.zeros(64))  # the bias takes the whole gradient
    theta = np.zeros(net.dim(data.public))
    one = sums(target(net, data), theta, 0.5, 2.0**25, [0])
    assert np.abs(one).max() > 2**23
    np.testing.assert_array_equal(sums(target(net, data), theta, 0.5, 2.0**25, np.arange(64)), 64 * one)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 7.0, 0.5, -1.0])
def test_an_unknown_label_adds_nothing(value):
    net = NETWORKS["tanh"]
    data = raw_data(net, np.ones((1, 36)), np.array([value]))
    theta = np.full(net.dim(data.public), 0.1)
    assert not sums(target(net, data), theta, 1.0, 2.0**20, [0]).any()

"""The minibatch accept bit: its profile against every batch we can build, and the published figures."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from pydpmc import _core
from pydpmc.accounting import compose
from pydpmc.accounting.events.minibatch_accept_bit import MinibatchAcceptBit
from pydpmc.errors import UnsupportedEventError

BITS = [
    MinibatchAcceptBit(b, 1000, v_max, c)
    for b in (2, 3, 7, 20, 50)
    for v_max, c in ((0.5, 1.0), (0.95, 1.0), (1.0, 2.0), (0.05, 1.25))
]


def name(bit):
    return f"b{bit.b}-v{bit.v_max}-c{bit.c}"


def neighbouring_batches(b, largest, rng):
    """All extreme batches with one element replaced, and random ones."""
    for high in range(b):
        others = np.r_[np.full(high, largest), np.full(b - 1 - high, -largest)]
        for old, new in itertools.permutations((-largest, 0.0, largest), 2):
            yield np.append(others, old), np.append(others, new)
    for _ in range(40):
        others = rng.uniform(-largest, largest, b - 1) * rng.choice([0.0, 0.3, 1.0], b - 1)
        old, new = rng.choice([-largest, largest, rng.uniform(-largest, largest)], 2)
        yield np.append(others, old), np.append(others, new)


def accept(bit, batch, public_term):
    x = np.clip(batch.mean() + public_term, -bit.x_max, bit.x_max)
    return bit.correction.cdf(x, np.clip(bit.kappa * batch.var(), 0.0, bit.v_max))


def largest_found(bit, a, rng):
    found = np.zeros(len(a))
    public_term = np.linspace(-bit.x_max - 1, bit.x_max + 1, 1701)
    for batch, other in neighbouring_batches(bit.b, math.sqrt(bit.v_max / bit.kappa), rng):
        p, p_other = accept(bit, batch, public_term), accept(bit, other, public_term)
        for one, two in ((p, p_other), (p_other, p), (1 - p, 1 - p_other), (1 - p_other, 1 - p)):
            found = np.maximum(found, (one - a[:, None] * two).max(axis=1))
    return found


@pytest.mark.parametrize("bit", BITS, ids=name)
def test_no_pair_of_batches_exceeds_the_profile(bit):
    a = np.exp(bit.s * np.linspace(0.0, 1.6, 17))
    found = largest_found(bit, a, np.random.default_rng(bit.b))
    assert np.all(found <= bit.batch_profile(a) + 1e-15)


@pytest.mark.parametrize(("b", "v_max", "c"), [(20, 0.5, 1.0), (50, 0.95, 1.0), (50, 1.0, 2.0)])
def test_the_profile_is_nearly_attained_by_batches(b, v_max, c):
    bit = MinibatchAcceptBit(b, 1000, v_max, c)
    a = np.exp(bit.s * np.array([0.0, 0.5]))
    ratio = bit.batch_profile(a) / largest_found(bit, a, np.random.default_rng(1))
    assert ratio[0] <= 1.03
    assert ratio[1] <= 1.15


def search(bit, a, **refinement):
    """Upper and attained values of the compiled search, without the allowances for arithmetic."""
    law = bit.correction
    upper, attained, _ = _core.minibatch_profile(
        atoms=[*law.atoms, *(-law.atoms)], weights=[*(law.weights / 2)] * 2, c=bit.c, v_max=bit.v_max,
        shift=bit.s, change=bit.dv, x_max=bit.x_max, nodes=list(a), **refinement,
    )  # fmt: skip
    return np.array(upper), np.array(attained)


@pytest.mark.parametrize("bit", BITS, ids=name)
def test_the_search_closes_the_gap_to_a_dense_scan_of_its_domain(bit):
    a = np.exp(bit.s * np.array([0.0, 0.3, 0.6, 0.9]))
    x = np.linspace(-bit.x_max, bit.x_max - bit.s, 801)[:, None, None]
    v = np.linspace(0.0, bit.v_max, 13)[:, None]
    moved = np.clip(v + np.linspace(-bit.dv, bit.dv, 5), 0.0, bit.v_max)
    to, source = bit.correction.cdf(x + bit.s, moved), bit.correction.cdf(x, v)
    upper, attained = search(bit, a)
    scanned, scanned_before = (
        np.array([(to - each * source).max() for each in at]) for at in (a, 1.0 + 0.996 * (a - 1.0))
    )
    assert np.all(scanned <= upper)
    assert np.all(attained <= upper)
    assert np.all(upper <= 1.005 * scanned_before)


def test_a_starved_search_is_loose_but_still_a_bound():
    bit = MinibatchAcceptBit(50, 1000, 0.5)
    a = np.exp(bit.s * np.linspace(0.0, 1.0, 11))
    fine, _ = search(bit, a)
    starved, _ = search(bit, a, max_cells=200)
    assert np.all(starved >= fine / (1 + 1e-3))
    assert starved[5] > 1.5 * fine[5]


@pytest.mark.parametrize("bit", BITS, ids=name)
def test_profile_is_convex_decreasing_and_ends_at_epsilon_max(bit):
    end = bit.epsilon_max
    a = 1.0 + np.expm1(end) * np.linspace(0.0, 1.2, 2001)
    h = bit.profile(np.log(a))
    assert np.all(np.diff(h) <= 0)
    assert np.all(np.diff(h, 2) >= -1e-13)
    assert bit.profile(np.array([end]))[0] == 0.0
    assert bit.profile(np.array([0.98 * end]))[0] > 0.0
    assert 0.0 < h[0] < bit.q


@pytest.mark.parametrize("rates", [(4, 2), (5, 2), (5, 3)])
@pytest.mark.parametrize(("v_max", "c"), [(0.5, 1.0), (1.9, 2.0)])
def test_subsampled_profile_bounds_every_dataset_enumerated(rates, v_max, c):
    n, b = rates
    bit = MinibatchAcceptBit(b, n, v_max, c)
    largest = math.sqrt(v_max / bit.kappa)
    subsets = [list(chosen) for chosen in itertools.combinations(range(n), b)]
    public_term = np.linspace(-6.0, 6.0, 61)

    def mixture(records):
        return sum(accept(bit, records[chosen], public_term) for chosen in subsets) / len(subsets)

    eps = bit.epsilon_max * np.linspace(0.0, 1.0, 21)
    h, found = bit.profile(eps), np.zeros(21)
    for rest in itertools.combinations_with_replacement((-largest, 0.0, largest), n - 1):
        laws = [mixture(np.array([first, *rest])) for first in (-largest, 0.0, largest)]
        for one, two in itertools.permutations(laws, 2):
            for p, q in ((one, two), (1 - one, 1 - two)):
                found = np.maximum(found, (p - np.exp(eps)[:, None] * q).max(axis=1))
    assert np.all(found <= h + 1e-15)
    assert found[0] >= 0.5 * h[0]


def test_a_small_variance_recovers_the_full_data_bit():
    bit = MinibatchAcceptBit(100, 10**6, 1e-5)
    a = np.exp(bit.s * np.linspace(0.0, 0.8, 9))
    logistic = (math.exp(bit.s / 2) - np.sqrt(a)) ** 2 / math.expm1(bit.s)
    ratio = bit.batch_profile(a) / logistic
    assert np.all(ratio >= 1.0 - 1e-5)
    assert ratio[0] <= 1.002
    assert np.all(ratio[:6] <= 1.02)


def test_more_variance_costs_more():
    eps = np.linspace(0.0, 2e-5, 5)
    costs = [MinibatchAcceptBit(1000, 10**6, v).profile(eps) for v in (0.1, 0.3, 0.6, 0.9)]
    assert np.all(np.diff(costs, axis=0) > 0)


def composed_epsilon(bit, steps, delta):
    """Epsilon of `steps` uses by a plain FFT, independent of the engine's composition."""
    loss = bit.privacy_loss("replace", bit.epsilon_max / 60)[0]
    size = 2**17
    spread = np.zeros(size)
    spread[np.arange(loss.lowest, loss.lowest + len(loss.masses)) % size] = loss.masses
    total = np.roll(np.fft.irfft(np.fft.rfft(spread) ** steps, size), size // 2)
    at = loss.step * (np.arange(size) - size // 2)

    def excess(eps):
        above = at > eps
        return float(total[above] @ -np.expm1(eps - at[above])) - delta

    return brentq(excess, 0.0, at[-1])


@pytest.mark.parametrize(
    ("v_max", "c", "published", "central_limit"),
    [(1.0, 2.0, 0.0237, 0.0201), (0.5, 1.0, 0.0132, 0.0115), (0.5, 2.0, 0.0132, 0.0115)],
)
def test_figures_of_the_design(v_max, c, published, central_limit):
    bit = MinibatchAcceptBit(b=1000, n=10**6, v_max=v_max, c=c)
    epsilon = compose([(bit, 20_000)], adjacency="replace").epsilon(1e-6)
    assert epsilon == pytest.approx(published, rel=0.03)
    assert epsilon > central_limit
    assert epsilon == pytest.approx(composed_epsilon(bit, 20_000, 1e-6), rel=2e-3)


def test_sensitivities():
    bit = MinibatchAcceptBit(b=10, n=50, v_max=0.4, c=1.25)
    largest = math.sqrt(0.4 / bit.kappa)
    ends = np.r_[np.full(9, largest), largest], np.r_[np.full(9, largest), -largest]
    assert abs(ends[0].mean() - ends[1].mean()) == pytest.approx(bit.s, rel=1e-12)
    assert bit.kappa * ends[1].var() == pytest.approx(bit.dv, rel=1e-12)
    assert bit.kappa == pytest.approx((1 - 10 / 50) / 9)
    assert bit.q == 0.2


@pytest.mark.parametrize("bit", BITS, ids=name)
def test_the_clamp_keeps_every_probability_above_the_threshold(bit):
    v = np.linspace(0.0, bit.v_max, 101)
    assert bit.correction.cdf(-bit.x_max, v).min() >= 2.0**-34
    assert 8.0 <= bit.x_max <= 16.0


def test_only_replace_is_priced():
    bit = MinibatchAcceptBit(10, 100, 0.5)
    assert bit.adjacencies == frozenset({"replace"})
    with pytest.raises(UnsupportedEventError, match="add_remove"):
        compose([(bit, 3)], adjacency="add_remove")


def test_negative_epsilon_is_refused():
    with pytest.raises(ValueError, match="eps must be at least 0"):
        MinibatchAcceptBit(10, 100, 0.5).profile(np.array([-0.1, 0.1]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 100, 0.5), "at least 2"),
        ((100, 100, 0.5), "smaller than the data"),
        ((10, 100, 0.0), "above 0 and below"),
        ((10, 100, 1.0), "above 0 and below"),
        ((10, 100, math.nan), "above 0 and below"),
        ((10, 100, 0.5, 5.0), "c must lie in"),
        ((10.0, 100, 0.5), "integers"),
    ],
)
def test_refusals_say_why(arguments, message):
    with pytest.raises(ValueError, match=message):
        MinibatchAcceptBit(*arguments)


@pytest.mark.slow
@pytest.mark.parametrize("b", range(2, 51))
def test_no_pair_of_batches_exceeds_the_profile_at_any_size(b):
    for v_max, c in ((0.3, 1.0), (0.9, 1.0), (0.99, 1.0), (1.9, 2.0)):
        bit = MinibatchAcceptBit(b, 10 * b, v_max, c)
        a = np.exp(bit.s * np.linspace(0.0, 2.0, 21))
        found = largest_found(bit, a, np.random.default_rng(b))
        assert np.all(found <= bit.batch_profile(a) + 1e-15)

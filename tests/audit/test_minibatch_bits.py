"""Audit of the minibatch accept test: one record of n moves from -K to K and is in the batch with probability b/n.

A fresh batch is drawn at every step, so bits of a frozen move are independent and their number is sufficient. The
other records all lie at +K: then the differing record changes the variance estimate too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from pydpmc import accounting as acc

DELTA = 1e-5
OFFSETS = np.linspace(-3.0, 3.0, 17)


class Setting(NamedTuple):
    n: int
    b: int
    v_max: float
    steps: int
    bits: int  # per world
    share: float  # of the claim that the bound must reach


NEAR = [Setting(20, 10, 0.1, 100, 1_000_000, 0.7), Setting(20, 16, 0.1, 30, 500_000, 0.75)]
# The claim is for the worst variance of a batch, which no data set has in every batch: the gap grows with v_max.
FAR = [Setting(20, 10, 0.5, 30, 1_000_000, 0.6), Setting(100, 20, 0.5, 300, 2_000_000, 0.55)]
LONG = [pytest.param(setting, marks=pytest.mark.slow) for setting in FAR]


def worlds(audit: Any, setting: Setting, offset: float) -> list[Any]:
    """Return (plan, data) of both neighbours; D of all records is near `offset`."""
    bit = event(setting)
    mean_of_others = (1.0 - 1.0 / setting.n) * largest_ratio(bit)
    others = [audit.far] * (setting.n - 1)
    options = {"steps": setting.steps, "batch_size": setting.b, "v_max": setting.v_max, "c": 1.0}
    tables = ([*others, -audit.far], [*others, audit.far])
    return [audit.planned(table, offset - mean_of_others, **options) for table in tables]


def event(setting: Setting) -> acc.MinibatchAcceptBit:
    return acc.MinibatchAcceptBit(b=setting.b, n=setting.n, v_max=setting.v_max, c=1.0)


def largest_ratio(bit: acc.MinibatchAcceptBit) -> float:
    return float(np.sqrt(bit.v_max / bit.kappa))


def accept_probabilities(setting: Setting, offset: float) -> tuple[float, float]:
    """Return P(accept) in both worlds, summed over the batches with and without the differing record."""
    bit, q = event(setting), setting.b / setting.n
    k = largest_ratio(bit)
    prior = offset - (1.0 - 1.0 / setting.n) * k
    all_high = float(bit.correction.cdf(prior + k))
    mean = k * (1.0 - 2.0 / setting.b)
    one_low = float(bit.correction.cdf(prior + mean, bit.kappa * (k**2 - mean**2)))
    return q * one_low + (1.0 - q) * all_high, all_high


def exact_epsilon(audit: Any, setting: Setting, offset: float) -> float:
    return float(audit.epsilon_of_counts(*accept_probabilities(setting, offset), setting.steps, DELTA))


def worst_offset(audit: Any, setting: Setting) -> float:
    return float(max(OFFSETS, key=lambda offset: exact_epsilon(audit, setting, offset)))


def counts(audit: Any, pair: list[Any], total: int, **changed: float) -> tuple[int, int]:
    first, second = (
        audit.count_accepts(plan, data, total, 3 * 10**10 + 10**9 * world, **changed)
        for world, (plan, data) in enumerate(pair)
    )
    return first, second


@pytest.mark.parametrize("setting", NEAR + LONG, ids=str)
def test_the_lower_bound_is_a_large_share_of_the_claim_and_never_above_it(audit: Any, setting: Setting) -> None:
    offset = worst_offset(audit, setting)
    pair = worlds(audit, setting, offset)
    claim = pair[0][0].guarantee.epsilon(DELTA)
    exact = exact_epsilon(audit, setting, offset)
    found = counts(audit, pair, setting.bits)
    likely, certain = (
        audit.lower_bound(found, setting.bits, setting.steps, DELTA, confidence) for confidence in (0.95, 0.999)
    )
    print(
        f"{setting}: offset {offset:.2f}, exact {exact:.3f}, bound {likely:.3f} ({likely / exact:.3f}), "
        f"claim {claim:.3f} ({likely / claim:.3f} of it)"
    )
    assert exact <= claim
    assert likely >= setting.share * claim
    assert certain <= exact
    assert certain <= claim


@pytest.mark.parametrize("setting", NEAR + FAR, ids=str)
def test_bits_of_the_compiled_test_have_the_probability_summed_over_batches(audit: Any, setting: Setting) -> None:
    total = 60_000
    for offset in (-2.0, 0.0, 1.0):
        expected = accept_probabilities(setting, offset)
        found = counts(audit, worlds(audit, setting, offset), total)
        for p, count in zip(expected, found, strict=True):
            assert abs(count / total - p) < 4.5 * np.sqrt(p * (1.0 - p) / total)


@pytest.mark.parametrize(
    ("excess", "total"), [pytest.param(1.25, 2_000_000, marks=pytest.mark.slow), pytest.param(1.5, 300_000)]
)
def test_a_sampler_that_shifts_more_than_it_accounts_for_is_caught(audit: Any, excess: float, total: int) -> None:
    setting = NEAR[1]
    offset = worst_offset(audit, setting)
    plan, _ = worlds(audit, setting, offset)[0]
    shifted = recentred(audit, setting, offset, excess)
    found = counts(audit, shifted, total, clip=excess * plan.settings.clip)
    bound = audit.lower_bound(found, total, setting.steps, DELTA, 0.999)
    claim = plan.guarantee.epsilon(DELTA)
    print(f"excess {excess}: bound {bound:.3f}, claim {claim:.3f}")
    assert bound > claim


def recentred(audit: Any, setting: Setting, offset: float, excess: float) -> list[Any]:
    """Return the pair with the prior moved against the larger ratios of the other records, which cost nothing."""
    moved = (excess - 1.0) * (1.0 - 1.0 / setting.n) * largest_ratio(event(setting))
    return worlds(audit, setting, offset - moved)

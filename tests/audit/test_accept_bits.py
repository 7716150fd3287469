"""Audit of the full-data accept test: bits of worst-case neighbours, through the compiled decision.

Neighbours differ in one record whose clipped ratio goes from one bound to the other (replace) or appears
(add_remove). The move is frozen, so the number of accepts is sufficient and the exact epsilon is a binomial sum.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom, chi2

DELTA = 1e-5
OFFSETS = 9


class Setting(NamedTuple):
    shift: float
    steps: int
    bits: int  # per world, enough for the bound to be within 7 %; the slow test has it within 5 %


SETTINGS = [Setting(0.1, 1000, 4_000_000), Setting(0.5, 40, 1_000_000), Setting(1.0, 10, 1_000_000)]
IDS = [f"S={s.shift},T={s.steps}" for s in SETTINGS]


def worlds(audit: Any, setting: Setting, adjacency: str, offset: float) -> list[Any]:
    """Return (plan, data) of both neighbours: D is offset - shift/2 and offset + shift/2."""
    others = [audit.far, -audit.far] * 4
    if adjacency == "replace":
        clip, prior, tables = setting.shift / 2, offset, ([*others, -audit.far], [*others, audit.far])
    else:
        clip, prior, tables = setting.shift, offset - setting.shift / 2, (others, [*others, audit.far])
    options = {"adjacency": adjacency, "steps": setting.steps, "clip": clip}
    return [audit.planned(table, prior, **options) for table in tables]


def exact_epsilon(audit: Any, setting: Setting, offset: float) -> float:
    p, q = (audit.logistic(offset + side * setting.shift / 2) for side in (-1, 1))
    return float(audit.epsilon_of_counts(p, q, setting.steps, DELTA))


def offsets(setting: Setting) -> Any:
    reach = 4.0 * setting.shift
    return np.linspace(-reach, reach, OFFSETS)


def worst_offset(audit: Any, setting: Setting) -> float:
    return max(offsets(setting), key=lambda offset: exact_epsilon(audit, setting, offset))


def counts(audit: Any, pair: list[Any], total: int, **changed: float) -> tuple[int, int]:
    base = 0 if pair[0][0].adjacency == "replace" else 5 * 10**8
    first, second = (
        audit.count_accepts(plan, data, total, base + 10**9 * world, **changed)
        for world, (plan, data) in enumerate(pair)
    )
    return first, second


@pytest.mark.parametrize("adjacency", ["replace", "add_remove"])
@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
def test_the_lower_bound_is_close_to_exact_and_never_above_the_claim(
    audit: Any, setting: Setting, adjacency: str
) -> None:
    offset = worst_offset(audit, setting)
    pair = worlds(audit, setting, adjacency, offset)
    claim = pair[0][0].guarantee.epsilon(DELTA)
    exact = exact_epsilon(audit, setting, offset)
    found = counts(audit, pair, setting.bits)
    likely, certain = (
        audit.lower_bound(found, setting.bits, setting.steps, DELTA, confidence) for confidence in (0.95, 0.999)
    )
    print(
        f"{setting} {adjacency}: offset {offset:.2f}, exact {exact:.3f}, bound {likely:.3f} ({likely / exact:.3f}), "
        f"claim {claim:.3f} ({likely / claim:.3f} of it)"
    )
    assert exact <= claim
    assert likely >= 0.93 * exact
    assert certain <= exact
    assert certain <= claim


@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
def test_no_offset_exceeds_its_exact_epsilon_or_the_claim(audit: Any, setting: Setting) -> None:
    total = setting.bits // 7
    confidence = 1.0 - 0.001 / OFFSETS
    bounds, exact = [], []
    for offset in offsets(setting):
        pair = worlds(audit, setting, "replace", offset)
        bounds.append(audit.lower_bound(counts(audit, pair, total), total, setting.steps, DELTA, confidence))
        exact.append(exact_epsilon(audit, setting, offset))
    print(f"{setting}: exact {np.round(exact, 2)}, bounds {np.round(bounds, 2)}")
    assert max(bounds) <= pair[0][0].guarantee.epsilon(DELTA)
    assert (np.array(bounds) <= exact).all()
    assert max(bounds) >= 0.7 * max(exact)


@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
def test_a_sampler_that_shifts_a_tenth_more_than_it_accounts_for_is_caught(audit: Any, setting: Setting) -> None:
    pair = worlds(audit, setting, "replace", worst_offset(audit, setting))
    plan = pair[0][0]
    found = counts(audit, pair, setting.bits, clip=1.1 * plan.settings.clip)
    bound = audit.lower_bound(found, setting.bits, setting.steps, DELTA, 0.999)
    print(f"{setting}: bound {bound:.3f}, claim {plan.guarantee.epsilon(DELTA):.3f}")
    assert bound > plan.guarantee.epsilon(DELTA)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=IDS)
def test_a_hundred_thousand_worlds_give_binomial_counts(audit: Any, setting: Setting) -> None:
    """N = 1e5 runs of T bits in each world: their counts follow the binomial law and audit within 5 %."""
    worlds_each, steps = 100_000, setting.steps
    offset = worst_offset(audit, setting)
    pair = worlds(audit, setting, "replace", offset)
    totals = []
    for side, (plan, data) in zip((-1, 1), pair, strict=True):
        per_call = 1_000_000 // steps
        runs = [
            audit.accepts(plan, data, per_call * steps, 7 * 10**9 + (side + 1) * 10**8 + call)
            for call in range(worlds_each // per_call)
        ]
        accepts = np.concatenate([run.reshape(-1, steps).sum(axis=1) for run in runs]).astype(int)
        totals.append(int(accepts.sum()))
        assert binomial_p_value(accepts, steps, audit.logistic(offset + side * setting.shift / 2)) > 1e-4
    bits = worlds_each * steps
    exact = exact_epsilon(audit, setting, offset)
    bound = audit.lower_bound((totals[0], totals[1]), bits, steps, DELTA, 0.95)
    print(f"{setting}: exact {exact:.3f}, bound {bound:.3f} ({bound / exact:.3f})")
    assert bound >= 0.95 * exact
    certain = audit.lower_bound((totals[0], totals[1]), bits, steps, DELTA, 0.999)
    assert certain <= pair[0][0].guarantee.epsilon(DELTA)


def binomial_p_value(accepts: Any, steps: int, p: float) -> float:
    """Return the chi-square p-value of counts against Binomial(steps, p), about 20 equally likely cells."""
    edges = np.unique(binom.ppf(np.linspace(0.05, 0.95, 19), steps, p))
    cells = np.searchsorted(edges, accepts)
    observed = np.bincount(cells, minlength=len(edges) + 1)
    expected = len(accepts) * np.diff(np.concatenate([[0.0], binom.cdf(edges, steps, p), [1.0]]))
    used = expected > 0
    statistic = float(((observed[used] - expected[used]) ** 2 / expected[used]).sum())
    assert math.isfinite(statistic)
    return float(chi2.sf(statistic, int(used.sum()) - 1))

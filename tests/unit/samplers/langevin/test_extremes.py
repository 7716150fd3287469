"""At extreme magnitudes the core leaves a gradient out; in no plan of Langevin does this depend on theta."""

import numpy as np
import pytest

import pydpmc as dp
from pydpmc import _core
from pydpmc.errors import InvalidArgument
from pydpmc.samplers.langevin.constants import LARGEST_FACTOR

N = 1000
COIN = dp.Public(n=N, columns=("a",), has_target=False)


def public(norm=1.0, target=True):
    return dp.Public(n=N, columns=("a",), has_target=target, row_norm=norm, public_n=N)


def huber(sigma, threshold=1.345, scale=1.0, **options):
    return dp.HuberRegression(dp.Normal(scale=scale), sigma=sigma, threshold=threshold, **options)


REFUSED = {
    "rows of a mean": (dp.GaussianMean(dp.Normal(scale=1e75), sigma=1e75), public(1e75, False)),
    "box of a mean": (dp.GaussianMean(dp.Normal(loc=1e74, scale=1e73), sigma=1.0), public(1.0, False)),
    "precision of a mean": (dp.GaussianMean(sigma=1e-38), public(1e-38, False)),
    "scale of a mean": (dp.GaussianMean(sigma=1e200), public(1.0, False)),
    "residuals of Huber": (huber(1e-80, scale=1e80, intercept=False), public(1e-70)),
    "slope of Huber": (huber(1e-3, threshold=1e76), public(1.0)),
    "unit of Huber": (huber(1e-150, threshold=1e-150), public(1.0)),
    "unit of Huber, zero squared": (huber(1e-200, threshold=1e-200), public(1.0)),
    "slope of Huber, underflow": (huber(1e300, threshold=1e-300), public(1.0)),
    "rows of Huber": (huber(1.0), public(1e80)),
    "overflowing rows": (dp.LogisticRegression(), public(1e200)),
    "overflowing bounds": (
        dp.LogisticRegression(),
        dp.Public(n=N, columns=("a",), has_target=True, x_bounds=((-1e200, 1e200),)),
    ),
    "vanishing rows": (dp.LogisticRegression(dp.Normal(scale=1e60), intercept=False), public(1e-90)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bounds_within_which_a_record_could_come_and_go_are_refused(case):
    model, facts = REFUSED[case]
    with pytest.raises(InvalidArgument, match=r"row_norm"):
        dp.plan(model, facts, dp.Langevin(w=0.5, steps=10), epsilon=None)
    with pytest.raises(InvalidArgument, match=r"row_norm"):
        dp.plan(model, facts, dp.Langevin(), epsilon=1.0, delta=1e-6)


EDGE = 2.0**1023 * 2.0 ** -(np.log2(LARGEST_FACTOR) - 1)  # the target whose residual is half the largest double
SHARP = huber(2.0 / LARGEST_FACTOR, threshold=1.0)
ACCEPTED = {  # model, public facts, a record (or several), whether it counts
    "mean": (dp.GaussianMean(dp.Normal(scale=1e70), sigma=1e36), public(1e70, False), [1e70], True),
    "huber": (huber(1e-60, scale=1e60, intercept=False), public(1e-20), [1e-20, 1e240], True),
    "huber, overflow": (huber(1e-60, scale=1e60, intercept=False), public(1e-20), [1e-20, 1.7e308], False),
    "huber, below its edge": (SHARP, public(1.0), [1.0, np.nextafter(2 * EDGE, 0.0)], True),
    "huber, at its edge": (SHARP, public(1.0), [1.0, 2 * EDGE], False),
    "logistic": (dp.LogisticRegression(dp.Normal(scale=1e60)), public(1e60), [1e60, 0.25], True),
    "logistic, no label": (dp.LogisticRegression(dp.Normal(scale=1e60)), public(1e60), [1e60, np.nan], False),
    "softmax": (
        dp.SoftmaxRegression(dp.Normal(scale=1e60), classes=2),
        public(1e60),
        [[1e60, 0.0], [1e60, 0.0], [1e60, 1.0]],
        True,
    ),
    "softmax, no class": (dp.SoftmaxRegression(dp.Normal(scale=1e60), classes=2), public(1e60), [1e60, 2.0], False),
    "coin": (dp.BernoulliLogit(dp.Normal(scale=1e75)), COIN, [0.25], True),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_what_is_planned_keeps_the_same_records_at_every_theta_of_the_box(case):
    model, facts, record, counts = ACCEPTED[case]
    arithmetic = dp.plan(model, facts, dp.Langevin(w=0.5, steps=10)).settings.arithmetic
    box = arithmetic.box
    away = (np.arange(model.dim(facts)) + 1) % 2  # a constant for all classes is no change
    for share in (-1.0, -0.3, -1e-9, 0.0, 1e-9, 0.3, 1.0):
        moved = gradient(model, facts, record, box.centre + share * away * box.radius, arithmetic)
        # None of these is predicted without a residual, so a sum of zero means that they were left out.
        assert (np.abs(moved).max() > 0) == counts, share


def gradient(model, facts, record, theta, arithmetic):
    return _core.gradient_sum(
        rows=np.atleast_2d(record),
        columns=1,
        has_target=facts.has_target,
        model=model.core_name,
        intercept=model.has_intercept,
        constants=model.constants,
        theta=list(theta),
        clip=arithmetic.clip,
        per_unit=1.0 / arithmetic.gradient_unit,
    )


def test_the_core_does_leave_a_record_out_at_one_theta_only():
    model, facts = dp.GaussianMean(sigma=1.0), public(1e75, False)

    class Grid:
        clip, gradient_unit = 1e76, 1e76 * 2.0**-49

    near, far = (gradient(model, facts, [1e75], [theta], Grid)[0] for theta in (0.0, -1e75))
    assert near > 0
    assert far == 0

"""Coverage of a downstream regression on synthetic sets: combined 90 % intervals hold the truth as often as said."""

import numpy as np
import pytest
from irls import logistic

import pydpmc as dp

RUNS, N, SETS = 120, 10_000, 25
TRUTH = np.array([1.0, -0.5, 0.3])


@pytest.mark.slow
def test_combined_intervals_cover_as_they_say():
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(2000, 3)) * 0.35
    inside = []
    for _ in range(RUNS):
        x = rng.normal(size=(N, 3)) * 0.35
        y = rng.random(N) < 1 / (1 + np.exp(-x @ TRUTH))
        data = dp.Data(x, y, row_norm=1.2)
        post = dp.sample(dp.LogisticRegression(), data, epsilon=1.0, delta=1e-6, progress=False)
        found = post.synthesize(N, features=rows, sets=SETS).combine(logistic)
        inside.append((found.low < TRUTH) & (found.high > TRUTH))
    coverage = float(np.mean(inside))
    error = float(np.std(np.mean(inside, axis=1)) / RUNS**0.5)
    print(f"coverage of combined 90 % intervals: {coverage:.3f} +- {error:.3f}")
    assert abs(coverage - 0.9) < 0.03 + 2.0 * error

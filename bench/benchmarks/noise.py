"""W4: nanoseconds per rounded normal, and per normal of numpy."""

import time

import numpy as np

from pydpmc import _core

DRAWS = 1 << 13  # arrays that malloc keeps: a fresh page costs more than the draws on it


def _nanoseconds(draw):
    best = np.inf
    for _ in range(200):
        started = time.perf_counter()
        draw()
        best = min(best, time.perf_counter() - started)
    return best / DRAWS * 1e9


def secure_stream():
    random = _core.random
    return random.Stream(random.key_from_seed(1), random.purposes["test"], 0, 0)


def track_rounded_normal():
    stream = secure_stream()
    return _nanoseconds(lambda: _core.random.fill_rounded_normal(stream, DRAWS))


def track_numpy_normal():
    random, out = np.random.default_rng(1), np.empty(DRAWS)
    return _nanoseconds(lambda: random.standard_normal(out=out))


track_rounded_normal.unit = track_numpy_normal.unit = "ns"

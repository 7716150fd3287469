"""Exact draws from the exponential mechanism, by rational arithmetic on the core's random words.

The Bernoulli draw of exp(-gamma) follows Canonne, Kamath and Steinke 2020, algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .. import _core

Words = Callable[[], int]


def random_words(seed: int | None, use: int) -> Words:
    """Return a source of 64-bit words: the operating system's key, or a test's seed; one `use` per draw."""
    random = _core.random
    key = random.key_from_os() if seed is None else random.key_from_seed(seed)
    return random.Stream(key, random.purposes["noise"], 0, use).next64


def choose(costs: Sequence[int], rate: Fraction, words: Words) -> int:
    """Return j with probability exactly proportional to exp(-rate * costs[j])."""
    least = min(costs)
    while True:
        j = below(len(costs), words)
        if bernoulli_exp(rate * (costs[j] - least), words):
            return j


def below(n: int, words: Words) -> int:
    """Return a uniform whole number in [0, n)."""
    bits = (n - 1).bit_length()
    while True:
        value = 0
        for _ in range(-(-bits // 64)):
            value = value << 64 | words()
        value >>= -bits % 64
        if value < n:
            return value


def bernoulli_exp(gamma: Fraction, words: Words) -> bool:
    """Return True with probability exactly exp(-gamma), gamma >= 0."""
    for _ in range(int(gamma)):
        if not _bernoulli_exp_below_one(Fraction(1), words):
            return False
    return _bernoulli_exp_below_one(gamma - int(gamma), words)


def _bernoulli_exp_below_one(gamma: Fraction, words: Words) -> bool:
    k = 1
    while below(gamma.denominator * k, words) < gamma.numerator:
        k += 1
    return k % 2 == 1


def discrete_laplace(rate: Fraction, words: Words) -> int:
    """Return a whole number k with probability exactly proportional to exp(-rate |k|), rate > 0.

    Canonne, Kamath and Steinke 2020, algorithm 2.
    """
    s, t = rate.numerator, rate.denominator
    while True:
        u = below(t, words)
        if not bernoulli_exp(Fraction(u, t), words):
            continue
        v = 0
        while bernoulli_exp(Fraction(1), words):
            v += 1
        size, negative = (u + t * v) // s, below(2, words) == 1
        if size or not negative:
            return -size if negative else size

"""The compiled sampler does, word by word, what exact integers say: ties, overflows and repetitions included."""

import numpy as np
import pytest

from pydpmc import _core
from pydpmc.samplers.batches import batch_arguments, subset_arguments
from pydpmc.samplers.gap_tables import gap_tables, raised_rate

random = _core.random
LONGEST_RUN = 64  # words


class Supply:
    """Words of a stream, taken one by one: runs from the front of what was fetched, single words from the back."""

    def __init__(self, stream, multiple, expected):
        self.stream, self.multiple, self.words, self.ties = stream, multiple, [], 0
        self.at_once = max(multiple, 64 if expected > 8 else 8)

    def fetch(self):
        self.words = [int(self.stream.next64()) for _ in range(self.at_once)]

    def run(self, wanted):
        if len(self.words) < self.multiple:
            self.fetch()
        size = min(len(self.words), LONGEST_RUN, wanted + self.multiple) // self.multiple * self.multiple
        run, self.words = self.words[:size], self.words[size:]
        return run

    def single(self):
        if not self.words:
            self.fetch()
        return self.words.pop()


def fields(words):
    """Of every eight words: the low 21 bits of each of their sixteen halves, then the other bits by twos of halves."""
    found = []
    for start in range(0, len(words), 8):
        halves = [word >> shift & 0xFFFFFFFF for word in words[start : start + 8] for shift in (0, 32)]
        rest = [low >> 21 | high >> 21 << 11 for low, high in zip(halves[:8], halves[8:], strict=True)]
        found += [half & (1 << 21) - 1 for half in halves + rest]
    return found


def outcome(table, field, supply):
    """Column or alias, by a fraction of 9 + 128 bits of which only as many are drawn as decide."""
    column, head = field & 4095, field >> 12
    entry = int(table.entry[column])
    if head == entry >> 12:
        supply.ties += 1
        high = supply.single()
        own = high < int(table.tail_high[column])
        if high == int(table.tail_high[column]):
            own = supply.single() < int(table.tail_low[column])
    else:
        own = head < entry >> 12
    return column if own else entry & 4095


def process(tables, n, most, supply):
    """Members of the Bernoulli process on 0 .. n-1; more than `most` if there are more."""
    at, members = 0, []
    while at < n and len(members) <= most:
        run = supply.run(wanted(tables, n, at))
        if tables.remainder is None:
            for field in fields(run):
                gap = outcome(tables.gap, field, supply)
                members += [at + gap] if gap < 4095 else []
                at += gap + (gap < 4095)
        else:
            half = len(run) // 2
            for first, second in zip(fields(run[:half]), fields(run[half:]), strict=True):
                quotient = outcome(tables.gap, first, supply)
                remainder = outcome(tables.remainder, second, supply)
                if quotient == 4095:
                    at = min(at + 4095 * 4096, n)
                else:
                    members += [at + 4096 * quotient + remainder] if at + 4096 * quotient + remainder < n else []
                    at = min(at + 4096 * quotient + remainder + 1, n)
    return [i for i in members if i < n]


def wanted(tables, n, at):
    a_gap = 1.0 if tables.remainder is None else 2.0
    return int((n - at) * (a_gap * tables.rate / (1.0 - tables.overflow) / 3))


def supply_of(tables, n, stream):
    return Supply(stream, 8 if tables.remainder is None else 16, wanted(tables, n, 0))


def poisson(tables, n, most, stream):
    """The sample, and how many ties were met."""
    supply = supply_of(tables, n, stream)
    return process(tables, n, most, supply)[:most], supply.ties


def exactly(b, tables, n, most, stream):
    supply = supply_of(tables, n, stream)
    members = process(tables, n, most, supply)
    while not b <= len(members) <= most:
        members = process(tables, n, most, supply)
    ranks, count = set(), len(members)
    while count - len(ranks) > b:
        word = supply.single()
        for half in (word & 0xFFFFFFFF, word >> 32):
            if count - len(ranks) > b and half * count % 2**32 >= 2**32 % count:
                ranks.add(half * count >> 32)
    return [m for rank, m in enumerate(members) if rank not in ranks], supply.ties


def stream_of(seed, step=0):
    return random.Stream(random.key_from_seed(seed), random.purposes["subsample"], 0, step)


def arguments(n, rate):
    return batch_arguments(_core, "poisson", n, 0, rate)


SHAPES = [(1, 1.0), (1, 0.3), (40, 1.0), (500, 0.999), (5000, 0.4), (10**5, 0.01), (32_561, 256 / 32_561)]
SHAPES += [(10**6, 1e-3), (10**6, 2.0**-12), (10**6, 2e-4), (2**31, 1e-7), (2**31, 1e-9)]


@pytest.mark.parametrize(("n", "rate"), SHAPES)
def test_a_sample_is_what_exact_arithmetic_makes_of_the_same_words(n, rate):
    given, tables = arguments(n, rate), gap_tables(rate)
    sampler = random.Subsampler(n=n, **given)
    ties = gaps = 0
    for step in range(3):
        found = sampler.draw_poisson(stream_of(50, step))
        wanted, met = poisson(tables, n, given["most"], stream_of(50, step))
        np.testing.assert_array_equal(found, wanted)
        ties, gaps = ties + met, gaps + len(wanted)
    assert ties > 0 or gaps < 2000


@pytest.mark.parametrize(
    ("n", "b"), [(1, 1), (9, 4), (300, 299), (3000, 1500), (10**6, 1000), (10**7, 900), (2**31, 3)]
)
def test_a_subset_is_what_exact_arithmetic_makes_of_the_same_words(n, b):
    given = subset_arguments(_core, n, b)
    sampler, tables = random.Subsampler(n=n, **given), gap_tables(raised_rate(n, b))
    for step in range(4):
        found = sampler.draw_exactly(b, stream_of(51, step))
        np.testing.assert_array_equal(found, exactly(b, tables, n, given["most"], stream_of(51, step))[0])


def test_fallen_short_a_subset_is_drawn_again():
    given = arguments(1000, 0.02)
    sampler, tables = random.Subsampler(n=1000, **given), gap_tables(0.02)
    short = 0
    for step in range(20):
        short += len(poisson(tables, 1000, given["most"], stream_of(52, step))[0]) < 20
        found = sampler.draw_exactly(20, stream_of(52, step))
        np.testing.assert_array_equal(found, exactly(20, tables, 1000, given["most"], stream_of(52, step))[0])
    assert 3 < short < 17


@pytest.mark.parametrize("column", [1, 7, 1234, 4094, 4095])
def test_ties_are_settled_by_all_bits_of_the_threshold(column):
    table, gaps = gap_tables(0.003).gap, arguments(10, 0.003)["gaps"]
    entry, high, low = int(table.entry[column]), int(table.tail_high[column]), int(table.tail_low[column])
    field, alias = (entry >> 12) << 12 | column, entry & 4095
    assert alias != column
    assert gaps.settle(field, np.array([high - 1], np.uint64)) == (column, 1)
    assert gaps.settle(field, np.array([high + 1], np.uint64)) == (alias, 1)
    assert gaps.settle(field, np.array([high, low - 1], np.uint64)) == (column, 2)
    assert gaps.settle(field, np.array([high, low], np.uint64)) == (alias, 2)

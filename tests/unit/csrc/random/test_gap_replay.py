"""The compiled sampler does, word by word, what exact integers say: ties, overflows and repetitions included."""

import numpy as np
import pytest

from pydpmc import _core
from pydpmc.samplers.base import batch_arguments, subset_arguments
from pydpmc.samplers.batches.gap_tables import gap_tables, raised_rate

random = _core.random
STEPS_PER_STREAM = 16


class Supply:
    """Words of a stream, taken one by one: runs from the front of what was fetched, single words from the back."""

    def __init__(self, stream, multiple):
        self.stream, self.multiple, self.words, self.ties = stream, multiple, [], 0

    def fetch(self):
        self.words = [int(self.stream.next64()) for _ in range(64)]

    def run(self):
        if len(self.words) < self.multiple:
            self.fetch()
        size = len(self.words) // self.multiple * self.multiple
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


class Line:
    """Windows of n indices of an infinite Bernoulli process, in integers of any size."""

    def __init__(self, tables, n, most, stream):
        self.tables, self.n, self.most = tables, n, most
        self.supply = Supply(stream, 8 if tables.remainder is None else 16)
        self.at, self.members, self.broken_off = 0, [], 0

    def gaps(self):
        """Gaps of the next run of words, None for one that stays open, with how far that goes."""
        run, tables = self.supply.run(), self.tables
        if tables.remainder is None:
            for field in fields(run):
                gap = outcome(tables.gap, field, self.supply)
                yield (None, 4095) if gap == 4095 else (gap, gap + 1)
        else:
            half = len(run) // 2
            for first, second in zip(fields(run[:half]), fields(run[half:]), strict=True):
                quotient = outcome(tables.gap, first, self.supply)
                remainder = outcome(tables.remainder, second, self.supply)
                gap = 4096 * quotient + remainder
                yield (None, 4095 * 4096) if quotient == 4095 else (gap, gap + 1)

    def window(self):
        """Return the members of the next window; a truncated one has more than `most`, and carries nothing over."""
        while self.at < self.n and len(self.members) <= self.most:
            for gap, passed in self.gaps():
                if gap is not None:
                    self.members.append(self.at + gap)
                self.at += passed
        self.broken_off += self.at < self.n
        inside = [i for i in self.members if i < self.n]
        self.members = [i - self.n for i in self.members if i >= self.n]
        self.at = max(self.at - self.n, 0)
        return inside

    def poisson(self):
        return self.window()[: self.most]

    def exactly(self, b):
        members = self.window()
        while not b <= len(members) <= self.most:
            members = self.window()
        ranks, count = set(), len(members)
        while count - len(ranks) > b:
            word = self.supply.single()
            for half in (word & 0xFFFFFFFF, word >> 32):
                if count - len(ranks) > b and half * count % 2**32 >= 2**32 % count:
                    ranks.add(half * count >> 32)
        return [m for rank, m in enumerate(members) if rank not in ranks]


def stream_of(seed, step=0):
    return random.Stream(random.key_from_seed(seed), random.purposes["subsample"], 0, step)


def arguments(n, rate):
    return batch_arguments(_core, "poisson", n, 0, rate)


SHAPES = [(1, 1.0), (1, 0.3), (40, 1.0), (500, 0.999), (5000, 0.4), (10**5, 0.01), (32_561, 256 / 32_561)]
SHAPES += [(10**6, 1e-3), (10**6, 2.0**-12), (10**6, 2e-4), (2**31, 1e-7), (2**31, 1e-9)]


@pytest.mark.parametrize(("n", "rate"), SHAPES)
def test_samples_are_what_exact_arithmetic_makes_of_the_same_words(n, rate):
    given, tables = arguments(n, rate), gap_tables(rate)
    found = random.Subsampler(n=n, **given).line(stream_of(50))
    wanted = Line(tables, n, given["most"], stream_of(50))
    gaps = 0
    for _ in range(6):
        sample = wanted.poisson()
        np.testing.assert_array_equal(found.draw_poisson(), sample)
        gaps += len(sample)
    assert wanted.supply.ties > 0 or gaps < 2000


@pytest.mark.parametrize(("n", "rate", "most"), [(1000, 0.2, 150), (10**6, 1e-4, 95), (3, 0.4, 1), (193, 1.0, 190)])
def test_a_window_that_is_broken_off_leaves_nothing_to_the_next(n, rate, most):
    found = random.Subsampler(arguments(n, rate)["gaps"], n, most).line(stream_of(53))
    wanted = Line(gap_tables(rate), n, most, stream_of(53))
    for _ in range(500):
        np.testing.assert_array_equal(found.draw_poisson(), wanted.poisson())
    assert wanted.broken_off > 0


@pytest.mark.parametrize(
    ("n", "rate", "most", "b", "count"),
    [(300, 0.9, 280, 265, 60), (60, 0.5, 30, 30, 60), (10**6, 1e-4, 100, 95, 40), (300_000, 1.0, 300_000, 150_000, 1)],
)
def test_sizes_without_room_and_ranks_beyond_the_multiple_are_drawn_again(n, rate, most, b, count):
    found = random.Subsampler(arguments(n, rate)["gaps"], n, most).line(stream_of(55))
    wanted = Line(gap_tables(rate), n, most, stream_of(55))
    for _ in range(count):
        np.testing.assert_array_equal(found.draw_exactly(b), wanted.exactly(b))


@pytest.mark.parametrize(
    ("n", "b"), [(1, 1), (9, 4), (300, 299), (3000, 1500), (10**6, 1000), (10**7, 900), (2**31, 3)]
)
def test_subsets_are_what_exact_arithmetic_makes_of_the_same_words(n, b):
    given = subset_arguments(_core, n, b)
    found = random.Subsampler(n=n, **given).line(stream_of(51))
    wanted = Line(gap_tables(raised_rate(n, b)), n, given["most"], stream_of(51))
    for _ in range(6):
        np.testing.assert_array_equal(found.draw_exactly(b), wanted.exactly(b))


def test_fallen_short_a_subset_is_drawn_again():
    given = arguments(1000, 0.02)
    windows = Line(gap_tables(0.02), 1000, given["most"], stream_of(52))
    assert 5 < sum(len(windows.poisson()) < 20 for _ in range(30)) < 25
    found = random.Subsampler(n=1000, **given).line(stream_of(52))
    wanted = Line(gap_tables(0.02), 1000, given["most"], stream_of(52))
    for _ in range(30):
        np.testing.assert_array_equal(found.draw_exactly(20), wanted.exactly(20))


@pytest.mark.parametrize(("n", "rate"), [(1000, 0.02), (200_000, 1e-4)])
@pytest.mark.parametrize("b", [None, 20])
def test_steps_share_a_stream_by_sixteens_and_come_in_any_order(n, rate, b):
    given = arguments(n, rate)
    wanted = []
    for step in range(40):
        if step % STEPS_PER_STREAM == 0:
            line = Line(gap_tables(rate), n, given["most"], stream_of(54, step // STEPS_PER_STREAM))
        wanted.append(line.poisson() if b is None else line.exactly(b))
    samples = random.StepSamples(n=n, b=b, **given)
    jumps = [*range(40), 39, 39, 0, 15, 16, 17, 31, 33, 2, 3, 5]
    for step in jumps:
        np.testing.assert_array_equal(samples.draw(54, 0, step), wanted[step])
    one, other = samples.draw(54, 0, 7), samples.draw(54, 1, 8)
    np.testing.assert_array_equal(one, wanted[7])
    assert list(other) != wanted[8]
    assert list(samples.draw(55, 1, 9)) != list(samples.draw(54, 1, 9))
    np.testing.assert_array_equal(samples.draw(54, 0, 8), wanted[8])


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

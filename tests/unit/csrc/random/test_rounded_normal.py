"""The privacy noise: its integer table against exact arithmetic, its decisions word by word, its law by statistics."""

import math
from functools import cache
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import stats

from pydpmc import _core

random = _core.random
ALPHA = 1e-6
BINS, CELL_BITS, HEAD_BITS, WORD_BITS = 1024, 26, 10, 48
TAIL_BITS = 64 - HEAD_BITS
TWO_64, TOTAL = 2**64, 2**75
WIDTH = mpmath.mpf(1) / 64

Table = tuple[list[int], list[int], list[int]]


@pytest.fixture(autouse=True)
def high_precision():
    with mpmath.workprec(400):
        yield


@pytest.fixture(scope="module")
def table() -> Table:
    threshold, alias, drop = random.rounded_normal_table()
    return threshold.tolist(), alias.tolist(), drop.tolist()


@pytest.fixture(scope="module")
def draws() -> np.ndarray:
    return random.fill_rounded_normal(stream(40), 10_000_000)


def stream(seed: int):
    return random.Stream(random.key_from_seed(seed), random.purposes["test"], 0, 0)


@cache
def density(z: mpmath.mpf) -> mpmath.mpf:
    return mpmath.exp(-z * z / 2)


def piece_weights(threshold: list[int], alias: list[int]) -> list[int]:
    weights = [0] * len(threshold)
    for column, (below, other) in enumerate(zip(threshold, alias, strict=True)):
        weights[column] += below
        weights[other] += TWO_64 - below
    return weights


@cache
def half_normal_bins() -> list[mpmath.mpf]:
    tails = [mpmath.erfc(j * WIDTH / mpmath.sqrt(2)) for j in range(BINS + 1)]
    return [left - right for left, right in pairwise(tails)]


def bin_law_error(table: Table) -> mpmath.mpf:
    """Total variation between the bins of |Z| and the bins that this table accepts, with an exact curve."""
    threshold, alias, drop = table
    weights, exact = piece_weights(threshold, alias), half_normal_bins()
    accepted = []
    for j in range(BINS):
        mean_height = exact[j] * mpmath.sqrt(mpmath.pi / 2) / (WIDTH * density(j * WIDTH))
        above_curve = (1 - mean_height) * 2**65 / drop[j]
        accepted.append(weights[2 * j] + weights[2 * j + 1] * (1 - above_curve))
    total = mpmath.fsum(accepted)
    return mpmath.fsum(abs(a / total - e) for a, e in zip(accepted, exact, strict=True)) / 2


def test_every_piece_has_the_nearest_weight(table: Table) -> None:
    weights = piece_weights(*table[:2])
    f = [density(j * WIDTH) for j in range(BINS + 1)]
    unit = TOTAL / mpmath.fsum(f[:-1])
    exact = [w * unit for j in range(BINS) for w in (f[j + 1], f[j] - f[j + 1])]
    assert sum(weights) == TOTAL
    assert weights[1:] == [int(mpmath.nint(w)) for w in exact[1:]]
    assert mpmath.fsum(abs(w - e) for w, e in zip(weights, exact, strict=True)) < 1281


def test_every_drop_is_the_nearest(table: Table) -> None:
    exact = [-mpmath.expm1(-mpmath.mpf(2 * j + 1) / 8192) for j in range(BINS)]
    assert table[2] == [int(mpmath.nint(e * 2**65)) for e in exact]


def test_the_bin_law_is_within_the_proven_error(table: Table) -> None:
    assert bin_law_error(table) < mpmath.mpf(2) ** -64
    assert random.rounded_normal_error == 2.0**-63


@pytest.mark.parametrize(("which", "entry"), [(0, 3), (0, 63), (0, 101), (2, 0), (2, 1), (2, 32), (2, 96)])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_bin_law_notices_one_part_in_2_to_the_40(table: Table, which: int, entry: int, sign: int) -> None:
    mutant = [list(part) for part in table]
    assert mutant[which][entry] >= 2**40
    mutant[which][entry] += sign * (mutant[which][entry] >> 40)
    assert bin_law_error((mutant[0], mutant[1], mutant[2])) > 2 * random.rounded_normal_error


def exact_drop(j: int, cell: int) -> tuple[mpmath.mpf, mpmath.mpf]:
    t = mpmath.mpf(2 * cell + 1) / 2**33
    x = t * (j * WIDTH + t / 2)
    return x, -mpmath.expm1(-x)


def bins_and_cells() -> list[tuple[int, int]]:
    generator = np.random.default_rng(41)
    ends = [(j, cell) for j in range(BINS) for cell in (0, 1, 2**CELL_BITS - 2, 2**CELL_BITS - 1)]
    inside = zip(generator.integers(0, BINS, 5000), generator.integers(0, 2**CELL_BITS, 5000), strict=True)
    return ends + [(int(j), int(cell)) for j, cell in inside]


def test_the_curve_is_within_its_proven_error() -> None:
    for j, cell in bins_and_cells():
        high, low = random.rounded_normal_drop(j, cell)
        x, exact = exact_drop(j, cell)
        error = abs(mpmath.mpf(high * TWO_64 + low) / 2**128 - exact)
        assert error <= mpmath.mpf(2) ** -66 + x * 3.5 / mpmath.mpf(2) ** 63, (j, cell)


def first_bits(column: int, head: int, cell: int, negative: bool) -> int:
    return int(negative) << 47 | column << (CELL_BITS + HEAD_BITS) | head << CELL_BITS | cell


def words_for(column: int, fraction: int, cell: int, table: Table, negative: bool = False) -> list[int]:
    """Words whose first 48 bits begin the draw; the others of the first word mean nothing."""
    head = fraction >> TAIL_BITS
    words = [first_bits(column, head, cell, negative) << (64 - WORD_BITS) | 0xBEEF]
    if head == table[0][column] >> TAIL_BITS:
        words.append((fraction & (2**TAIL_BITS - 1)) << HEAD_BITS)
    return words


def from_words(words: list[int]) -> tuple[int, int]:
    return random.rounded_normal_from_words(np.array(words, np.uint64))


def test_columns_choose_exactly_at_their_thresholds(table: Table) -> None:
    cell, high_point = 12_345, TWO_64 - 1
    for column, (threshold, alias) in enumerate(zip(table[0], table[1], strict=True)):
        cases = [
            (0, threshold > 0),
            (threshold - 1, True),
            (threshold, False),
            (threshold + 1, False),
            (TWO_64 - 1, False),
        ]
        for fraction, own in [case for case in cases if case[0] >= 0]:
            words, piece = words_for(column, fraction, cell, table), column if own else alias
            words += [high_point] * (piece % 2)
            assert from_words([*words, 0]) == ((piece // 2) << CELL_BITS | cell, len(words))


def upper_piece_words(j: int, cell: int, table: Table, negative: bool = False) -> list[int]:
    piece = 2 * j + 1
    if table[0][piece] > 0:
        return words_for(piece, 0, cell, table, negative)
    column = table[1].index(piece)
    return words_for(column, TWO_64 - 1, cell, table, negative)


def test_the_upper_piece_is_cut_exactly_at_the_curve(table: Table) -> None:
    next_cell, generator = 54_321, np.random.default_rng(42)
    for j in [0, 1, 2, 31, 32, 33, 64, 100, 200, 300, 600]:
        for cell in [1, 2**CELL_BITS - 1000, *generator.integers(0, 2**CELL_BITS - 1000, 50).tolist()]:
            high, low = random.rounded_normal_drop(j, cell)
            least = -(-2 * (high * TWO_64 + low) // table[2][j])
            words = upper_piece_words(j, cell, table)
            assert from_words([*words, least]) == (j << CELL_BITS | cell, len(words) + 1)
            again = words_for(0, 0, next_cell, table)
            assert from_words([*words, least - 1, *again]) == (next_cell, len(words) + 1 + len(again))
            x, exact = exact_drop(j, cell)
            scale = mpmath.mpf(table[2][j]) / 2**65
            slack = mpmath.mpf(2) ** -64 + (mpmath.mpf(2) ** -64 + x * 3.5 / mpmath.mpf(2) ** 63) / scale
            assert abs(mpmath.mpf(least) / TWO_64 - exact / -mpmath.expm1(-mpmath.mpf(2 * j + 1) / 8192)) <= slack


def test_the_sign_bit_reflects_about_minus_one_half(table: Table) -> None:
    for column in range(0, 2 * BINS, 7):
        positive = [*words_for(column, TWO_64 - 1, 99, table), TWO_64 - 1]
        negative = [*words_for(column, TWO_64 - 1, 99, table, negative=True), TWO_64 - 1]
        (y, used), (reflected, also_used) = from_words(positive), from_words(negative)
        assert (reflected, also_used) == (-1 - y, used)


def test_too_few_words_or_no_such_cell_are_refused(table: Table) -> None:
    with pytest.raises(ValueError, match="more words"):
        from_words(upper_piece_words(5, 0, table))
    for j, cell in [(BINS, 0), (0, 2**CELL_BITS)]:
        with pytest.raises(ValueError, match="no such"):
            random.rounded_normal_drop(j, cell)


def test_draws_take_the_words_of_the_stream_in_order() -> None:
    words, used, by_hand = stream(43).fill(3000), 0, []
    for _ in range(2500):
        value, count = random.rounded_normal_from_words(words[used:])
        by_hand.append(value)
        used += count
    one_by_one = stream(43)
    assert random.rounded_normal(one_by_one, 2500).tolist() == by_hand
    assert one_by_one.next64() == words[used]


@pytest.mark.parametrize("sizes", [[256] * 9 + [196], [1], [3], [7], [64], [109], [255], [256, 1]])
def test_a_block_takes_48_bits_for_each_draw_and_then_what_the_open_ones_need(sizes: list[int]) -> None:
    words, used, by_hand = stream(43).fill(3000), 0, []
    for size in sizes:
        halves, quarters = (size + 1) // 2, (size + 3) // 4
        low, high = words[used : used + halves].view(np.uint32), words[used + halves :][:quarters].view(np.uint16)
        used += halves + quarters
        for bits in (high[:size].astype(np.uint64) << np.uint64(32)) | low[:size]:
            first = bits << np.uint64(64 - WORD_BITS)
            value, count = random.rounded_normal_from_words(np.concatenate([[first], words[used:]]))
            by_hand.append(value)
            used += count - 1
    bulk = stream(43)
    assert random.fill_rounded_normal(bulk, sum(sizes)).tolist() == by_hand
    assert bulk.next64() == words[used]


@pytest.mark.parametrize("isa", _core.available_isas())
def test_48_bits_settle_a_draw_unless_they_tie_or_fall_into_an_upper_piece(table: Table, isa: str) -> None:
    threshold, alias, _ = table
    words, values, unsettled = [], [], []
    for column in range(2 * BINS):
        head = threshold[column] >> TAIL_BITS
        for near in {0, max(head - 1, 0), head, min(head + 1, 2**HEAD_BITS - 1), 2**HEAD_BITS - 1}:
            for negative in (0, 1):
                cell = (column * 131_071 + near) % 2**CELL_BITS
                words.append(first_bits(column, near, cell, bool(negative)))
                piece = column if near < head else alias[column]
                magnitude = (piece // 2) << CELL_BITS | cell
                values.append(-1 - magnitude if negative else magnitude)
                unsettled.append(near == head or piece % 2 == 1)
    chosen = _core.isa()
    try:
        assert _core.use_isa(isa)
        found, listed = random.normal_candidates(np.array(words, dtype=np.uint64))
    finally:
        _core.use_isa(chosen)
    assert listed.tolist() == np.flatnonzero(unsettled).tolist()
    settled = ~np.array(unsettled)
    np.testing.assert_array_equal(found[settled], np.array(values)[settled])
    assert settled.any()
    assert not settled.all()


def test_the_shortcuts_at_the_curve_enclose_what_the_series_gives() -> None:
    generator = np.random.default_rng(45)
    for j in [0, 1, 5, 31, 64, 127, 200, 320, 511, 1023]:
        for cell in [1, 2, 2**CELL_BITS - 1, *generator.integers(1, 2**CELL_BITS, 300).tolist()]:
            odd = 2 * cell + 1
            x = (odd * ((j << (CELL_BITS + 2)) + odd) + 2) >> 2  # (z^2 - lo^2)/2 in units of 2^-65
            high, low = random.rounded_normal_drop(j, cell)
            h, rest = divmod(high * TWO_64 + low, x)
            least, cubic = 2**63 - (x >> 3) - 4, (x * x >> 64) // 48
            assert rest == 0
            assert least <= h < least + cubic + 8


def test_draws_are_the_same_on_every_instruction_set() -> None:
    chosen, per_isa = _core.isa(), []
    try:
        for isa in _core.available_isas():
            assert _core.use_isa(isa)
            per_isa.append(random.fill_rounded_normal(stream(44), 100_003))
    finally:
        _core.use_isa(chosen)
    for other in per_isa[1:]:
        np.testing.assert_array_equal(other, per_isa[0])


@pytest.mark.parametrize(("cells_per_unit_log2", "end"), [(5, 5), (8, 4), (12, 3)])
def test_cells_have_normal_frequencies(draws: np.ndarray, cells_per_unit_log2: int, end: int) -> None:
    last = end << cells_per_unit_log2
    cell = np.clip(draws >> (random.rounded_normal_bits - cells_per_unit_log2), -last - 1, last)
    observed = np.bincount(cell + last + 1, minlength=2 * last + 2)
    edges = np.arange(-last, last + 1) / (1 << cells_per_unit_log2)
    expected = draws.size * np.diff(np.concatenate([[0], stats.norm.cdf(edges), [1]]))
    assert stats.chisquare(observed, expected * (draws.size / expected.sum())).pvalue > ALPHA


def test_distribution_function_and_tail(draws: np.ndarray) -> None:
    z = (draws + 0.5) * 2.0**-32
    assert stats.kstest(z[:2_000_000], "norm").pvalue > ALPHA
    beyond = np.abs(z[np.abs(z) > 3.5])
    assert stats.kstest(beyond, lambda x: 1 - stats.norm.sf(x) / stats.norm.sf(3.5)).pvalue > ALPHA
    tail = 2 * stats.norm.sf(5)
    assert abs(np.mean(np.abs(z) > 5) - tail) < 4 * math.sqrt(tail / z.size)


def test_moments_and_symmetry(draws: np.ndarray) -> None:
    z = (draws + 0.5) * 2.0**-32
    for power, moment, spread in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
        assert abs(np.mean(z**power) - moment) < 4 * math.sqrt(spread / z.size)
    assert stats.binomtest(int((draws < 0).sum()), draws.size).pvalue > ALPHA
    assert stats.ks_2samp(z[z > 0][:500_000], -z[z < 0][:500_000]).pvalue > ALPHA


@pytest.mark.parametrize("shift", [0, 8, 16])
def test_low_bits_are_uniform(draws: np.ndarray, shift: int) -> None:
    assert stats.chisquare(np.bincount(draws >> shift & 0xFF, minlength=256)).pvalue > ALPHA

// Privacy noise: floor(2^32 Z), Z standard normal. For an integer x, x + floor(2^32 Z) = floor(x + 2^32 Z) is
// post-processing of the continuous Gaussian mechanism. Proof of the error: docs/privacy/rounded_normal.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "random/noise/rounded_normal_table.hpp"
#include "random/stream.hpp"

namespace pydpmc {

inline constexpr int rounded_normal_bits = 32;

// The total variation between one draw and the law above; it must be charged to delta.
inline constexpr double rounded_normal_error = 0x1p-63;

namespace rounded_normal_detail {

using Table = RoundedNormalTable;
using Wide = unsigned __int128;

constexpr int cell_bits = Table::cell_bits, head_bits = Table::head_bits, tail_bits = Table::tail_bits;
static_assert(cell_bits + Table::bins_per_unit_log2 == rounded_normal_bits);

constexpr int series_terms = 16;

// 2^63 / (k + 1)!
inline constexpr std::array<std::uint64_t, series_terms> series = [] {
  std::array<std::uint64_t, series_terms> c{std::uint64_t{1} << 63};
  Wide factorial = 1;
  for (unsigned k = 1; k < series_terms; ++k)
    c[k] = static_cast<std::uint64_t>(Wide{c[0]} / (factorial *= k + 1));
  return c;
}();

// x = (z^2 - lo^2) / 2 < 1/2, rounded, in units of 2^-65, at the middle z of a cell of the bin that begins at
// lo.
inline std::uint64_t exponent(std::uint64_t bin, std::uint64_t cell) noexcept {
  const std::uint64_t odd = 2 * cell + 1;  // z - lo in units of 2^-33
  const Wide exact = Wide{odd} * ((bin << (cell_bits + 2)) + odd);
  return static_cast<std::uint64_t>((exact + 2) >> 2);
}

// 1 - f(z) / f(lo) = 1 - exp(-x) in units of 2^-128.
inline Wide drop(std::uint64_t x) noexcept {
  std::uint64_t h = series[series_terms - 1];
  for (int k = series_terms - 2; k >= 0; --k) h = series[k] - static_cast<std::uint64_t>((Wide{x} * h) >> 65);
  return Wide{x} * h;
}

// Whether a uniform point of the upper piece, at distance v from its top, lies under the curve. Most points
// are far from the curve and need no series: the integers that drop() computes satisfy x - x^2/2 <= drop <= x
// - x^2/2 + x^3/6 with a margin of a few units.
inline bool under_curve(std::uint64_t bin, std::uint64_t cell, std::uint64_t v) noexcept {
  static_assert(Table::drop_bits == 65, "v * table drop is in units of 2^-129");
  const Wide depth = Wide{v} * rounded_normal_table.drop[bin];
  const std::uint64_t x = exponent(bin, cell), least = series[0] - (x >> 3) - 4;
  const std::uint64_t cubic = static_cast<std::uint64_t>((Wide{x} * x) >> 64) / 48;
  if (depth >= 2 * (Wide{x} * (least + cubic + 8))) return true;
  if (depth < 2 * (Wide{x} * least)) return false;
  return depth >= 2 * drop(x);
}

// What the first 48 bits give: a value, and whether it is decided. It is undecided if the fraction ties with
// its threshold or the point lies in an upper piece.
struct Candidate {
  std::uint64_t bin;
  std::int64_t value;
  bool tie, upper;
};

inline Candidate candidate(std::uint64_t word, bool tie_below) noexcept {
  const std::uint64_t cell = word & ((std::uint64_t{1} << cell_bits) - 1);
  const std::uint64_t head = word >> cell_bits & ((std::uint64_t{1} << head_bits) - 1);
  const std::uint64_t column = word >> (cell_bits + head_bits) & (Table::columns - 1);
  const std::uint64_t both = rounded_normal_table.head_and_alias[column];
  const std::uint64_t threshold = both >> Table::columns_log2, alias = both & (Table::columns - 1);
  const bool tie = head == threshold, own = (head < threshold) | (tie & tie_below);
  // Branch-free, because a branch would be mispredicted half of the time.
  const std::uint64_t piece = alias ^ ((column ^ alias) & -std::uint64_t{own});
  const auto magnitude = static_cast<std::int64_t>((piece >> 1) << cell_bits | cell);
  // floor(-a) = -1 - floor(a) unless a is an integer, which has probability 0.
  const auto negative = static_cast<std::int64_t>(word >> (Table::word_bits - 1));
  return {piece >> 1, magnitude ^ -negative, tie, (piece & 1) != 0};
}

template <class Words>
bool tie_is_below(std::uint64_t word, Words& words) {
  constexpr std::uint64_t tail = (std::uint64_t{1} << tail_bits) - 1;
  const std::uint64_t column = word >> (cell_bits + head_bits) & (Table::columns - 1);
  return words.next64() >> head_bits < (rounded_normal_table.threshold[column] & tail);
}

template <class Words>
std::uint64_t first_bits(Words& words) {
  return words.next64() >> (64 - Table::word_bits);
}

// Completes the draw that begins with these 48 bits.
template <class Words>
std::int64_t draw_from(std::uint64_t word, Words& words) {
  for (;; word = first_bits(words)) {
    Candidate c = candidate(word, false);
    if (c.tie) [[unlikely]]
      c = candidate(word, tie_is_below(word, words));
    const std::uint64_t cell = word & ((std::uint64_t{1} << cell_bits) - 1);
    if (!c.upper || under_curve(c.bin, cell, words.next64())) return c.value;
  }
}

}  // namespace rounded_normal_detail

inline std::int64_t rounded_normal(Stream& stream) noexcept {
  return rounded_normal_detail::draw_from(rounded_normal_detail::first_bits(stream), stream);
}

// n draws in blocks: first words for the low 32 bits of each draw, then words for the next 16 bits. The few
// undecided draws continue with the words that follow.
inline void fill_rounded_normal(Stream& stream, std::int64_t* out, std::size_t n) noexcept {
  constexpr std::size_t block = 256;
  std::uint32_t low[block];
  std::uint16_t high[block], unsettled[block];
  std::uint64_t words[block / 2 + block / 4];
  for (std::size_t done = 0; done < n; done += block) {
    const std::size_t here = n - done < block ? n - done : block, halves = (here + 1) / 2;
    stream.fill(words, halves + (here + 3) / 4);
    std::memcpy(low, words, here * sizeof *low);
    std::memcpy(high, words + halves, here * sizeof *high);
    const std::size_t open = kernels().normal_candidates(low, high, here, out + done, unsettled);
    for (std::size_t k = 0; k < open; ++k) {
      const std::size_t i = unsettled[k];
      out[done + i] = rounded_normal_detail::draw_from(std::uint64_t{high[i]} << 32 | low[i], stream);
    }
  }
}

}  // namespace pydpmc

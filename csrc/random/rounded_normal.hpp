// Privacy noise: floor(2^32 Z), Z standard normal. For an integer x, x + floor(2^32 Z) = floor(x + 2^32 Z) is
// post-processing of the continuous Gaussian mechanism. Proof of the error: docs/privacy/rounded_normal.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "random/rounded_normal_table.hpp"
#include "random/stream.hpp"

namespace pydpmc {

inline constexpr int rounded_normal_bits = 32;

// Total variation between one draw and the law above, to be charged to delta.
inline constexpr double rounded_normal_error = 0x1p-63;

namespace rounded_normal_detail {

using Table = RoundedNormalTable;
using Wide = unsigned __int128;

// A word, from its low end: the cell within the bin, the head of the fraction, the column, the sign.
constexpr int cell_bits = rounded_normal_bits - Table::bins_per_unit_log2;
constexpr int head_bits = 63 - Table::columns_log2 - cell_bits;
constexpr int tail_bits = 64 - head_bits;

constexpr int series_terms = 16;

// 2^63 / (k + 1)!
inline constexpr std::array<std::uint64_t, series_terms> series = [] {
  std::array<std::uint64_t, series_terms> c{std::uint64_t{1} << 63};
  Wide factorial = 1;
  for (unsigned k = 1; k < series_terms; ++k)
    c[k] = static_cast<std::uint64_t>(Wide{c[0]} / (factorial *= k + 1));
  return c;
}();

// x = (z^2 - lo^2) / 2 < 1/2 at the middle z of a cell of the bin that begins at lo, in units of 2^-65,
// rounded.
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

// Whether a uniform point of the upper piece, v from its top, lies under the curve. Most points are far from
// it: x - x^2/2 <= drop <= x - x^2/2 + x^3/6 holds for the integers that drop() computes, with a few units to
// spare.
inline bool under_curve(std::uint64_t bin, std::uint64_t cell, std::uint64_t v) noexcept {
  static_assert(Table::drop_bits == 65, "v * table drop is in units of 2^-129");
  const Wide depth = Wide{v} * rounded_normal_table.drop[bin];
  const std::uint64_t x = exponent(bin, cell), least = series[0] - (x >> 3) - 4;
  const std::uint64_t cubic = static_cast<std::uint64_t>((Wide{x} * x) >> 64) / 48;
  if (depth >= 2 * (Wide{x} * (least + cubic + 8))) return true;
  if (depth < 2 * (Wide{x} * least)) return false;
  return depth >= 2 * drop(x);
}

// What one word says: a value, and whether it is settled. It is unless the fraction ties with its threshold,
// or the point lies in an upper piece.
struct Candidate {
  std::uint64_t bin;
  std::int64_t value;
  bool tie, upper;
};

inline Candidate candidate(std::uint64_t word, bool tie_below) noexcept {
  const std::uint64_t cell = word & ((std::uint64_t{1} << cell_bits) - 1);
  const std::uint64_t head = word >> cell_bits & ((std::uint64_t{1} << head_bits) - 1);
  const std::uint64_t column = word >> (cell_bits + head_bits) & (Table::columns - 1);
  const std::uint64_t threshold = rounded_normal_table.threshold[column] >> tail_bits;
  const std::uint64_t alias = rounded_normal_table.alias[column];
  const bool tie = head == threshold, own = (head < threshold) | (tie & tie_below);
  // Without a branch, which would be mispredicted half of the time.
  const std::uint64_t piece = alias ^ ((column ^ alias) & -std::uint64_t{own});
  const auto magnitude = static_cast<std::int64_t>((piece >> 1) << cell_bits | cell);
  // floor(-a) = -1 - floor(a) unless a is an integer, which has probability 0.
  return {piece >> 1, magnitude ^ -static_cast<std::int64_t>(word >> 63), tie, (piece & 1) != 0};
}

template <class Words>
bool tie_is_below(std::uint64_t word, Words& words) {
  constexpr std::uint64_t tail = (std::uint64_t{1} << tail_bits) - 1;
  const std::uint64_t column = word >> (cell_bits + head_bits) & (Table::columns - 1);
  return words.next64() >> head_bits < (rounded_normal_table.threshold[column] & tail);
}

template <class Words>
std::int64_t draw(Words& words) {
  for (;;) {
    const std::uint64_t word = words.next64();
    Candidate c = candidate(word, false);
    if (c.tie) [[unlikely]]
      c = candidate(word, tie_is_below(word, words));
    const std::uint64_t cell = word & ((std::uint64_t{1} << cell_bits) - 1);
    if (c.upper) [[unlikely]]
      if (!under_curve(c.bin, cell, words.next64())) continue;
    return c.value;
  }
}

}  // namespace rounded_normal_detail

inline std::int64_t rounded_normal(Stream& stream) noexcept { return rounded_normal_detail::draw(stream); }

// Words of a stream, fetched in blocks but never more than will be used: a draw takes at least one.
class FetchedWords {
 public:
  explicit FetchedWords(Stream& stream) noexcept : stream_(stream) {}

  std::uint64_t next64() noexcept { return position_ < filled_ ? words_[position_++] : stream_.next64(); }

  // Writes draws until one is not settled by its word, words run out or `wanted` are done; returns how many.
  std::size_t fill_settled(std::int64_t* out, std::size_t wanted) noexcept {
    if (position_ == filled_) {
      position_ = 0;
      filled_ = wanted < block ? wanted : block;
      stream_.fill(words_, filled_);
    }
    const std::size_t most = filled_ - position_ < wanted ? filled_ - position_ : wanted;
    std::size_t i = 0;
    for (; i < most; ++i) {
      const auto c = rounded_normal_detail::candidate(words_[position_ + i], false);
      if (c.tie | c.upper) [[unlikely]]
        break;
      out[i] = c.value;
    }
    position_ += i;
    return i;
  }

  bool unsettled() const noexcept { return position_ < filled_; }

 private:
  static constexpr std::size_t block = 256;
  Stream& stream_;
  std::size_t position_ = 0, filled_ = 0;
  std::uint64_t words_[block];
};

// The same as n calls of rounded_normal().
inline void fill_rounded_normal(Stream& stream, std::int64_t* out, std::size_t n) noexcept {
  FetchedWords words(stream);
  for (std::size_t done = 0; done < n;) {
    done += words.fill_settled(out + done, n - done);
    if (done < n && words.unsettled()) out[done++] = rounded_normal_detail::draw(words);
  }
}

}  // namespace pydpmc

// How rounded_normal divides the area under f(z) = exp(-z^2/2), z >= 0. Bin j is [j, j + 1) * 2^-6; its piece
// 2j is the rectangle below f(upper edge), its piece 2j + 1 the rectangle from there up to f(lower edge).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pydpmc {

struct RoundedNormalTable {
  static constexpr int bins_per_unit_log2 = 6;
  static constexpr int columns_log2 = 11;
  static constexpr std::size_t columns = std::size_t{1} << columns_log2;
  static constexpr std::size_t pieces = columns;
  static constexpr std::size_t bins = pieces / 2;
  static constexpr int drop_bits = 65;

  // A draw begins with 48 bits, from low to high: the cell within the bin, the head of the fraction, the
  // column, the sign.
  static constexpr int word_bits = 48;
  static constexpr int cell_bits = 32 - bins_per_unit_log2;
  static constexpr int head_bits = word_bits - 1 - columns_log2 - cell_bits;
  static constexpr int tail_bits = 64 - head_bits;

  // Walker's alias method in integers: column c gives piece c if a uniform 64-bit fraction is below
  // threshold[c], else piece alias[c].
  std::uint64_t threshold[columns];
  std::uint16_t alias[columns];
  // Both packed: the head of the threshold, with the alias in the low bits.
  std::uint32_t head_and_alias[columns];
  // 1 - f(upper edge) / f(lower edge), in units of 2^-drop_bits, rounded to nearest.
  std::uint64_t drop[bins];
};

extern const RoundedNormalTable rounded_normal_table;

}  // namespace pydpmc

// What single words say as draws of rounded_normal: most settle one. Compiled once per instruction set;
// shifts and masks only, so that the loop becomes vectors.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "random/rounded_normal_table.hpp"

PYDPMC_ISA_BEGIN
namespace normals {

using Table = RoundedNormalTable;

constexpr std::size_t words_at_once = 64;  // bits of `open`

constexpr std::uint64_t ones(int bits) noexcept { return (std::uint64_t{1} << bits) - 1; }

[[gnu::always_inline]] inline std::uint64_t column_of(std::uint64_t word) noexcept {
  return word >> (Table::cell_bits + Table::head_bits) & (Table::columns - 1);
}

// 1 if a < b, for numbers below 2^63.
[[gnu::always_inline]] inline std::uint64_t less(std::uint64_t a, std::uint64_t b) noexcept {
  return (a - b) >> 63;
}

struct Candidate {
  std::uint64_t value, unsettled;
};

[[gnu::always_inline]] inline Candidate candidate(std::uint64_t word, std::uint64_t head_and_alias) noexcept {
  const std::uint64_t cell = word & ones(Table::cell_bits);
  const std::uint64_t head = word >> Table::cell_bits & ones(Table::head_bits);
  const std::uint64_t threshold = head_and_alias >> Table::columns_log2;
  const std::uint64_t alias = head_and_alias & (Table::columns - 1);
  const std::uint64_t own = 0 - less(head, threshold), tie = less(head ^ threshold, 1);
  const std::uint64_t piece = alias ^ ((column_of(word) ^ alias) & own);
  return {((piece >> 1) << Table::cell_bits | cell) ^ (0 - (word >> 63)), tie | (piece & 1)};
}

}  // namespace normals

// values[i] is the draw that words[i] settles. Those that it does not are listed; returns how many they are.
static std::size_t normal_candidates(const std::uint64_t* __restrict words, std::size_t count,
                                     std::int64_t* __restrict values,
                                     std::uint16_t* __restrict unsettled) noexcept {
  using namespace normals;
  std::size_t listed = 0;
  for (std::size_t begin = 0; begin < count; begin += words_at_once) {
    const std::size_t here = count - begin < words_at_once ? count - begin : words_at_once;
    std::uint64_t entry[words_at_once], open = 0;
    for (std::size_t i = 0; i < here; ++i)
      entry[i] = rounded_normal_table.head_and_alias[column_of(words[begin + i])];
    for (std::size_t i = 0; i < here; ++i) {
      const Candidate c = candidate(words[begin + i], entry[i]);
      values[begin + i] = static_cast<std::int64_t>(c.value);
      open |= c.unsettled << i;
    }
    for (; open; open &= open - 1)
      unsettled[listed++] =
          static_cast<std::uint16_t>(begin + static_cast<std::size_t>(std::countr_zero(open)));
  }
  return listed;
}

PYDPMC_ISA_END

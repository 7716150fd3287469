// Outcomes of an alias table, three to a word of 64 bits (random/alias_table.hpp). Compiled once per
// instruction set, without a branch, which would be mispredicted half of the time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa.hpp"
#include "random/alias_field.hpp"

PYDPMC_ISA_BEGIN

template <int shift>
static void outcomes_of_field(const std::uint32_t* __restrict entry, const std::uint64_t* __restrict words,
                              std::size_t n, std::uint32_t* __restrict out) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t field = static_cast<std::uint32_t>(words[i] >> shift) & alias_field::mask;
    const std::uint32_t e = entry[field & alias_field::column], difference = field ^ e;
    const std::uint32_t own = -static_cast<std::uint32_t>(field < e);
    const std::uint32_t tie = -static_cast<std::uint32_t>(difference <= alias_field::column);
    const std::uint32_t settled = (e ^ (difference & own)) & alias_field::column;
    out[i] = settled ^ ((settled ^ (field | alias_field::unsettled)) & tie);
  }
}

// out[f n + i] from bits 21 f .. 21 f + 20 of word i, f = 0, 1, 2. On a tie: the field itself, marked
// unsettled.
static void alias_outcomes(const std::uint32_t* entry, const std::uint64_t* words, std::size_t n,
                           std::uint32_t* out) noexcept {
  outcomes_of_field<0>(entry, words, n, out);
  outcomes_of_field<alias_field::bits>(entry, words, n, out + n);
  outcomes_of_field<2 * alias_field::bits>(entry, words, n, out + 2 * n);
}

PYDPMC_ISA_END

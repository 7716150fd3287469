// Outcomes of an alias table, three from a 64-bit word (random/sampling/alias_table.hpp). Compiled once per
// instruction set; branch-free, because a branch would be mispredicted half of the time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/sampling/alias_field.hpp"
#include "simd/words.hpp"

PYDPMC_ISA_BEGIN

// Outcomes from the low 21 bits of each of eight words. On a tie: these bits, marked as undecided.
PYDPMC_INLINE Words8 eight_outcomes(const std::uint32_t* entry, const void* words) noexcept {
  typedef std::int32_t Signed8 __attribute__((vector_size(32)));  // faster to compare
  const auto entry_of = [&](int k) PYDPMC_LAMBDA { return entry[word_at(words, k) & alias_field::column]; };
  const Words8 e{entry_of(0), entry_of(1), entry_of(2), entry_of(3),
                 entry_of(4), entry_of(5), entry_of(6), entry_of(7)};
  const Words8 field = load_words(words) & alias_field::mask, difference = field ^ e;
  const Words8 below = (Words8)((Signed8)field < (Signed8)e);
  const Words8 settled = (e ^ (difference & below)) & alias_field::column;
  const Words8 tie = (Words8)((Signed8)difference <= static_cast<std::int32_t>(alias_field::column));
  return settled ^ ((settled ^ (field | alias_field::unsettled)) & tie);
}

// 3 n outcomes from n words, n a multiple of eight. Each of the sixteen halves of eight words gives 21 bits
// to one outcome, and each pair of halves gives its remaining 21 bits to a third.
static void alias_outcomes(const std::uint32_t* entry, const std::uint64_t* words, std::size_t n,
                           std::uint32_t* out) noexcept {
  constexpr int used = alias_field::bits;
  for (const std::uint64_t* end = words + n; words < end; words += alias_field::words, out += 24) {
    std::uint32_t rest[8];
    store_words(rest, load_words(words) >> used | load_words(words + 4) >> used << (32 - used));
    store_words(out, eight_outcomes(entry, words));
    store_words(out + 8, eight_outcomes(entry, words + 4));
    store_words(out + 16, eight_outcomes(entry, rest));
  }
}

PYDPMC_ISA_END

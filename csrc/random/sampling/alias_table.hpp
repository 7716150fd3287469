// Walker's alias method on 0 .. 4095 with thresholds of 9 + 128 bits: what a table says is drawn exactly.
// Made in exact integers by pydpmc/samplers/gap_tables.py.
#pragma once

#include <cstdint>
#include <vector>

#include "random/sampling/alias_field.hpp"

namespace pydpmc {

struct AliasTable {
  std::vector<std::uint32_t> entry;                // per column: head of the threshold << 12 | alias
  std::vector<std::uint64_t> tail_high, tail_low;  // the other 128 bits of the threshold

  // The column itself if the fraction that begins with the field is below the threshold, else the alias. For
  // fields whose head ties; two words are taken, the second only if the first ties as well.
  template <class Words>
  std::uint32_t settle(std::uint32_t field, Words& words) const {
    const std::uint32_t own = field & alias_field::column;
    const std::uint64_t high = words.next64();
    const bool below = high < tail_high[own] || (high == tail_high[own] && words.next64() < tail_low[own]);
    return below ? own : entry[own] & alias_field::column;
  }
};

}  // namespace pydpmc

// Walker's alias method on 0 .. 4095 with thresholds of 9 + 128 bits: draws have exactly the law of the
// table. pydpmc/samplers/batches/gap_tables.py computes the tables in exact integers.
#pragma once

#include <cstdint>
#include <vector>

#include "random/sampling/alias_field.hpp"

namespace pydpmc {

struct AliasTable {
  std::vector<std::uint32_t> entry;                // per column: threshold's head << 12 | alias
  std::vector<std::uint64_t> tail_high, tail_low;  // the other 128 bits of the threshold

  // Decides fields whose head ties: returns the column if the fraction that begins with the field is below
  // the threshold, else the alias. Takes one word, and a second one only if the first ties as well.
  template <class Words>
  std::uint32_t settle(std::uint32_t field, Words& words) const {
    const std::uint32_t own = field & alias_field::column;
    const std::uint64_t high = words.next64();
    const bool below = high < tail_high[own] || (high == tail_high[own] && words.next64() < tail_low[own]);
    return below ? own : entry[own] & alias_field::column;
  }
};

}  // namespace pydpmc

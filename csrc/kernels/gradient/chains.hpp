// Sums of gradients at the thetas of several chains in one pass over the records: what it needs. Public
// numbers alone decide whether there is such a pass.
#pragma once

#include <cstddef>

#include "concepts.hpp"
#include "models/facts.hpp"

namespace pydpmc {

constexpr int most_chains_at_once = 32;
constexpr int longest_tile_row = 128;  // columns of csrc/kernels/tile.hpp

inline bool sums_chains_at_once(const ModelSpec& model, const Records& records) noexcept {
  const Facts& facts = facts_of(model.kind);
  return !model.own && facts.has_slopes && facts.has_target && !facts.has_classes && !records.group_start &&
         (records.coded || records.columns <= longest_tile_row);
}

// The number of doubles of scratch memory: a prepared theta and eight numbers per column, for as many chains
// as fill whole vectors.
inline size_t chains_scratch(const ModelSpec& model, size_t chains) noexcept {
  return (chains + 7) / 8 * 8 * (prepared_size(model) + 8 * static_cast<size_t>(model.columns));
}

}  // namespace pydpmc

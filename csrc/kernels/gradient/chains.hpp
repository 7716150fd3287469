// Sums of gradients at the thetas of several chains in one pass over the records: what it needs. Public
// numbers alone decide whether there is such a pass.
#pragma once

#include <cstddef>

#include "concepts.hpp"
#include "models/facts.hpp"

namespace pydpmc {

constexpr int most_chains_at_once = 32;

// Tiles of csrc/kernels/tile.hpp: the more columns, the fewer records, so that a tile stays in the
// first-level cache.
constexpr int longest_tile_row = 128;  // columns
constexpr int most_tile_records = 64;
constexpr int tile_columns(int columns) noexcept { return columns < 4 ? columns : (columns + 3) / 4 * 4; }
constexpr int tile_records(int columns) noexcept { return tile_columns(columns) <= 64 ? 64 : 32; }
// The number of doubles of a tile: its columns, and the targets and squared norms of its records.
constexpr size_t tile_size(int columns) noexcept {
  return static_cast<size_t>((tile_columns(columns) + 2) * tile_records(columns));
}
constexpr size_t largest_tile = 66 * 64;
static_assert(tile_size(64) == largest_tile && tile_size(longest_tile_row) <= largest_tile);

inline bool sums_chains_at_once(const ModelSpec& model, const Records& records) noexcept {
  const Facts& facts = facts_of(model.kind);
  return !model.own && facts.has_slopes && facts.has_target && !facts.has_classes && !records.group_start &&
         !records.weights && (records.coded || records.columns <= longest_tile_row);
}

// The number of doubles of a copy of all records by tiles, or 0 if a run should have none: beyond the caches
// the copy, which is wider than most rows, takes longer to read than the rows take to be turned.
inline size_t tiles_of_run(const ModelSpec& model, const Records& records) noexcept {
  constexpr size_t most = size_t{1} << 21;  // 16 MB: what a run may need beyond its records
  if (records.coded || !sums_chains_at_once(model, records)) return 0;
  const size_t places = static_cast<size_t>(tile_records(records.columns));
  const size_t tiles = (static_cast<size_t>(records.n) + places - 1) / places;
  return tiles <= most / tile_size(records.columns) ? tiles * tile_size(records.columns) : 0;
}

// The number of doubles of scratch memory: a prepared theta and eight numbers per column, for as many chains
// as fill whole vectors.
inline size_t chains_scratch(const ModelSpec& model, size_t chains) noexcept {
  return (chains + 7) / 8 * 8 * (prepared_size(model) + 8 * static_cast<size_t>(model.columns));
}

}  // namespace pydpmc

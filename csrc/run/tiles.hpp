// The copy of the records by tiles that a run makes before its first step.
#pragma once

#include <algorithm>
#include <vector>

#include "isa/dispatch.hpp"
#include "kernels/gradient/chains.hpp"
#include "threads/chains.hpp"

namespace pydpmc {

// Returns what holds the copy, which is empty if public numbers say that there should be none.
inline std::vector<double> make_tiles(const ModelSpec& model, Records& records) {
  const size_t size = tiles_of_run(model, records);
  if (size == 0) return {};
  std::vector<double> memory(size + cache_line / sizeof(double));
  double* const first = at_cache_line(memory.data());
  kernels_of(model).write_tiles(model, records, first);
  records.tiles = {first};
  return memory;
}

// Whether the records and targets of the tiles are finite numbers; what was not is no number now.
inline bool has_finite_tiles(const Records& records) noexcept {
  const size_t size = tile_size(records.columns), places = static_cast<size_t>(tile_records(records.columns));
  const size_t tiles = (static_cast<size_t>(records.n) + places - 1) / places;
  for (size_t k = 0; k < tiles; ++k) {
    const double* tile = records.tiles.first + k * size;
    if (!std::all_of(tile, tile + size - places, [](double x) { return x - x == 0.0; })) return false;
  }
  return true;
}

// The same for sums that must have the bits that rows give: rows treat numbers that are not finite otherwise,
// so that a table with such numbers gets no tiles. Data stores none but in records that count as missing.
inline std::vector<double> make_finite_tiles(const ModelSpec& model, Records& records) {
  std::vector<double> memory = make_tiles(model, records);
  if (records.tiles && !has_finite_tiles(records)) {
    records.tiles = {};
    return {};
  }
  return memory;
}

}  // namespace pydpmc

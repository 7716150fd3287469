// Ratios of consecutive records by tiles, bit for bit equal to kernels/ratio/ratio.hpp if all numbers are
// finite.
#pragma once

#include "kernels/ratio/ratio.hpp"
#include "kernels/tile.hpp"

PYDPMC_ISA_BEGIN

// Records begin .. end-1, where `begin` is the first of a tile.
template <class Model>
[[gnu::noinline]] RatioSum tile_ratio(const Tiles& tiles, int columns, const Prepared& p, int64_t begin,
                                      int64_t end, const double* current, double* proposed,
                                      const Grid& grid) noexcept {
  const int places = tile_records(columns);
  I8 total = zero_i8(), clipped = zero_i8();
  alignas(64) double eta[most_tile_records];
  for (int64_t i = begin; i < end; i += places) {
    const Tile tile(tiles.first + static_cast<size_t>(i / places) * tile_size(columns), columns);
    tile_predictors(tile, p.slopes, columns, p.offset, eta);
    const int here = static_cast<int>(end - i < places ? end - i : places);
    const int whole = here / lanes * lanes;
    for (int r = 0; r < whole; r += lanes)
      store(proposed + i + r, Model::loglik(load(eta + r), load(tile.y + r), p));
    for (int r = 0; r < whole; r += lanes) {
      const F8 ratio = load(proposed + i + r) - load(current + i + r);
      total = total + quantise(clip(ratio, grid, clipped), grid);
    }
    if (const int r = whole; r < here) {
      double now[lanes], next[lanes];
      store(next, Model::loglik(load(eta + r), load(tile.y + r), p));
      store(now, load(next));  // the places beyond the end get ratio zero
      copy(now, current + i + r, here - r);
      copy(proposed + i + r, next, here - r);
      total = total + quantise(clip(load(next) - load(now), grid, clipped), grid);
    }
  }
  return RatioSum{sum(total), 0, sum(clipped)};
}

PYDPMC_ISA_END

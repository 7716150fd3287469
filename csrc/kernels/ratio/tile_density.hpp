// kernels/ratio/density.hpp from tiles, bit for bit.
#pragma once

#include "kernels/ratio/density_terms.hpp"
#include "kernels/tile.hpp"

PYDPMC_ISA_BEGIN

// sums[j][k] = weight[r] * x[r][j] summed over the places r = k, k + 8, k + 16 and so on of a tile. Meanwhile
// the tile at `next` comes into the first-level cache.
[[gnu::noinline]] inline void weighted_sums(const Tile& tile, int columns, const double* weight, double* sums,
                                            const double* next) noexcept {
  constexpr int groups = sum_groups, places = groups * native_lanes;
  static_assert(groups % parts == 0);
  for (int r = 0; r < tile.records; r += places) {
    NativeF w[groups];
    for (int g = 0; g < groups; ++g) w[g] = load_native(weight + r + g * native_lanes);
    for (int j = 0; j < columns; ++j) {
      const double* x = tile.column(j) + r;
      F8 total = r == 0 ? fill(0.0) : load(sums + j * lanes);
      fetch_places<places>(next + (x - tile.x));
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g)
        total.p[g % parts] = total.p[g % parts] + w[g] * load_native(x + g * native_lanes);
      store(sums + j * lanes, total);
    }
  }
}

// to[j] += the sum of eight of sums[j][0 .. 7], for eight columns at a time.
PYDPMC_INLINE void add_sums_of_eight(const double* sums, int columns, double* to) noexcept {
  for (int j = 0; j < columns; j += lanes) {
    F8 x[lanes], found;
    for (int k = 0; k < lanes; ++k) x[k] = load(sums + (j + k) * lanes);
    sums_of<lanes>(x, found.p);
    store(to + j, load(to + j) + found);
  }
}

// out = {log-likelihood, gradient[dim]} of records begin .. end-1, where `begin` is the first of a tile;
// `slopes` has room for 9 padded(columns).
template <class Model>
[[gnu::noinline]] void sum_tile_density(const ModelSpec& spec, const Tiles& tiles, int64_t begin, int64_t end,
                                        const Prepared& p, const LoglikRange& range, double* slopes,
                                        double* out) noexcept {
  const int columns = spec.columns, places = tile_records(columns), width = padded(columns);
  double* const of_tile = slopes + width;
  DensitySums sums;
  for (int j = 0; j < width * (1 + lanes); ++j) slopes[j] = 0.0;
  alignas(64) double eta[most_tile_records], weight[most_tile_records];
  for (int64_t i = begin; i < end; i += places) {
    const Tile tile(tiles.first + static_cast<size_t>(i / places) * tile_size(columns), columns);
    tile_predictors(tile, p.slopes, columns, p.offset, eta);
    const int here = static_cast<int>(end - i < places ? end - i : places);
    add_terms<Model>(eta, tile.y, here, p, range, sums, weight);
    for (int r = padded(here); r < places; r += lanes) store(weight + r, fill(0.0));
    const bool last = i + places >= end;
    weighted_sums(tile, columns, weight, of_tile, last ? tile.x : tile.x + tile_size(columns));
    add_sums_of_eight(of_tile, columns, slopes);
  }
  double* gradient = finish_density<Model>(spec, sums, out);
  for (int j = 0; j < columns; ++j) gradient[j] = slopes[j];
}

PYDPMC_ISA_END

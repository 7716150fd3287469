// A look at records of few columns by tiles (kernels/tile.hpp), bit for bit equal to
// kernels/curvature/look.hpp. A record that does not count has factors of zero, and so have the spare places
// of the last tile.
#pragma once

#include "kernels/curvature/lane_products.hpp"
#include "kernels/curvature/look_factors.hpp"
#include "kernels/gradient/tile_gradient.hpp"

PYDPMC_ISA_BEGIN

// sums[j] += nearest(factor[r] x[r][j]) over all places of a tile, and q[j][r] = nearest(root[r] x[r][j]).
[[gnu::noinline]] inline void round_tile(const Tile& tile, int columns, const double* factor,
                                         const double* root, uint64_t* sums, double* q) noexcept {
  constexpr int groups = 2;
  for (int r = 0; r < tile.records; r += groups * native_lanes) {
    NativeF f[groups], s[groups];
    for (int g = 0; g < groups; ++g) {
      f[g] = load_native(factor + r + g * native_lanes);
      s[g] = load_native(root + r + g * native_lanes);
    }
    for (int j = 0; j < columns; ++j) {
      UnalignedU* to = reinterpret_cast<UnalignedU*>(sums + j * native_lanes);
      NativeU total = *to;
#pragma GCC unroll 4
      for (int g = 0; g < groups; ++g) {
        const NativeF x = load_native(tile.column(j) + r + g * native_lanes);
        total += (NativeU)(f[g] * x + rounding_magic);
        *reinterpret_cast<UnalignedF*>(q + j * tile.records + r + g * native_lanes) =
            (s[g] * x + rounding_magic) - rounding_magic;
      }
      *to = total;
    }
  }
}

template <class Model, class Scalar>
[[gnu::noinline]] void add_tile_look(const ModelSpec& spec, const Table<Scalar>& table,
                                     const Records& records, const Prepared& p, int64_t begin, int64_t end,
                                     const LookGrid& grid, double* scratch, int64_t* sums,
                                     int64_t* products) noexcept {
  constexpr int places = most_tile_records;
  static_assert(places == tile_records(longest_look_tile));
  const int columns = spec.columns, shift = spec.intercept ? 1 : 0;
  const bool stored = records.tiles && begin % places == 0;
  alignas(64) double room[largest_tile], eta[most_tile_records], first[most_tile_records],
      root[most_tile_records];
  double* q = scratch;
  uint64_t* slopes = reinterpret_cast<uint64_t*>(q + look_block * look_width(spec.dim));
  LaneProducts<places> all(reinterpret_cast<double*>(slopes + columns * lanes), spec.dim, grid, products);
  std::memset(slopes, 0, static_cast<size_t>(columns) * lanes * sizeof *slopes);
  const auto factors = choose_factors<Model>(records.weights, p, grid);
  ChainSums gradient{p, slopes, zero_i8(), zero_i8()};
  int64_t added = 0;
  for (int64_t i = begin; i < end; i += places, added += places) {
    const int here = static_cast<int>(end - i < places ? end - i : places);
    if (!stored) write_tile(table, records.squares, i, here, shift, room);
    const Tile tile(
        stored ? records.tiles.first + static_cast<size_t>(i / places) * tile_size(columns) : room, columns);
    tile_predictors(tile, p.slopes, columns, p.offset, eta);
    factors({eta, tile.y, tile.row2, i, here, places}, records.weights, p, grid, first, root);
    for (int r = 0; shift && r < places; r += lanes) {
      gradient.firsts = gradient.firsts + nearest_integer(load(first + r));
      store(q + r, (load(root + r) + rounding_magic) - rounding_magic);
    }
    round_tile(tile, columns, first, root, slopes, q + shift * places);
    all.add(q, places);
  }
  all.flush();
  gradient.move_slopes_to(sums + shift, columns, added);
  gradient.move_scalars_to(sums, spec);
}

PYDPMC_ISA_END

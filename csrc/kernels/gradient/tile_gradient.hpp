// Clipped gradients of consecutive records at several thetas by tiles, bit for bit equal to
// kernels/gradient/record.hpp at each. A record whose gradient is not finite counts with factor zero, and so
// do the spare places of the last tile.
#pragma once

#include "kernels/fill_tile.hpp"
#include "kernels/gradient/gradient_norm.hpp"
#include "kernels/odds.hpp"

PYDPMC_ISA_BEGIN

// Numbers that are not finite become zero, because zero times an infinity is no number; the target of such a
// record becomes NaN, so that the record adds nothing.
inline void clear_infinities(const NewTile& tile, int columns, int r) noexcept {
  for (int j = 0; j < columns; ++j) {
    double& x = tile.column(j)[r];
    if (!(x - x == 0.0)) x = 0.0, tile.y[r] = __builtin_nan("");
  }
}

// Reads the squared norms of records i .. i+count-1. A gradient whose row has a norm too large to be right
// adds nothing whatever theta is: its norm becomes NaN.
template <class Scalar>
PYDPMC_INLINE void fill_squares(const Table<Scalar>& table, const RowSquares& squares, int64_t i, int count,
                                int shift, const NewTile& tile) noexcept {
  bool finite = true;
  for (int r = 0; r < tile.records; ++r) {
    const int64_t id = i + (r < count ? r : 0);
    tile.row2[r] = (squares ? *squares.of(id) : squared_norm(table.row(id), nullptr, table.columns)) + shift;
    finite &= tile.row2[r] <= largest_square;
  }
  if (finite) return;
  for (int r = 0; r < tile.records; ++r)
    if (!(tile.row2[r] <= largest_square)) {
      tile.row2[r] = __builtin_nan("");
      clear_infinities(tile, table.columns, r);
    }
}

// Writes a tile of records i .. i+count-1.
template <class Scalar>
PYDPMC_INLINE void write_tile(const Table<Scalar>& table, const RowSquares& squares, int64_t i, int count,
                              int shift, double* to) noexcept {
  const NewTile tile(to, table.columns);
  fill_tile(table, i, count, tile);
  fill_squares(table, squares, i, count, shift, tile);
}

// One theta and the sums of gradients at it. A column has a sum for every native lane; these contain the bits
// of the rounding constant, once for every place of every tile.
struct ChainSums {
  Prepared p;
  uint64_t* slopes;  // [column][native_lanes]
  I8 firsts, seconds;

  // Adds what was summed in so many places of tiles.
  void move_slopes_to(int64_t* sums, int columns, int64_t places) const noexcept {
    for (int j = 0; j < columns; ++j) {
      uint64_t total = static_cast<uint64_t>(sums[j]);
      for (int lane = 0; lane < native_lanes; ++lane) total += slopes[j * native_lanes + lane];
      sums[j] = static_cast<int64_t>(total);
    }
    remove_magic(sums, columns, places);
  }

  void move_scalars_to(int64_t* sums, const ModelSpec& spec) const noexcept {
    if (spec.intercept) sums[0] += sum(firsts);
    if (spec.dim > spec.columns + (spec.intercept ? 1 : 0)) sums[spec.dim - 1] += sum(seconds);
  }
};

// sums[j] += nearest(factor[r] * x[r][j]) over all places of a tile. Meanwhile the tile at `next` comes into
// the first-level cache.
[[gnu::noinline]] inline void add_tile(const Tile& tile, int columns, const double* factor, uint64_t* sums,
                                       const double* next) noexcept {
  constexpr int groups = sum_groups, places = groups * native_lanes;
  for (int r = 0; r < tile.records; r += places) {
    NativeF f[groups];
    for (int g = 0; g < groups; ++g) f[g] = load_native(factor + r + g * native_lanes);
    for (int j = 0; j < columns; ++j) {
      UnalignedU* to = reinterpret_cast<UnalignedU*>(sums + j * native_lanes);
      const double* x = tile.column(j) + r;
      NativeU total = *to;
      fetch_places<places>(next + (x - tile.x));
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g)
        total += (NativeU)(f[g] * load_native(x + g * native_lanes) + rounding_magic);
      *to = total;
    }
  }
}

// The factors that take the gradients of a tile to the grid, clipped; all but the first `count` are zero.
template <bool clips, bool extra, class Model>
[[gnu::noinline]] void tile_factors(const Tile& tile, const double* eta, int count, const GradientGrid& grid,
                                    ChainSums& chain, double* factor) noexcept {
  I8 firsts = chain.firsts, seconds = chain.seconds;
  const F8 most = fill(largest_square), bound = fill(grid.clip * grid.clip), none = fill(0.0),
           per_unit = fill(grid.per_unit);
  const Odds<Model> odds(eta, tile.records);
  for (int r = 0; r < tile.records; r += lanes) {
    const Score score = odds.score(load(eta + r), load(tile.y + r), r, chain.p);
    const F8 row2 = load(tile.row2 + r), first2 = score.first * score.first;
    const F8 second2 = extra ? score.second * score.second : none;
    const F8 norm2 = extra ? first2 * row2 + second2 : first2 * row2;
    const auto counted = [&](F8 value) PYDPMC_LAMBDA {
      F8 found;
      if constexpr (clips) {
        const F8 scale = clipped_scale(row2, first2, second2, grid);
        found = select(none <= scale, value * scale, none);
      } else {  // fill_squares made row2 NaN where it is too large
        found = select(norm2 <= bound, select(first2 <= most, value * per_unit, none), none);
        if constexpr (extra) found = select(second2 <= most, found, none);
      }
      return count - r >= lanes ? found : only_first(count - r, found);
    };
    const F8 first = counted(score.first);
    store(factor + r, first);
    firsts = firsts + nearest_integer(first);
    if constexpr (extra) seconds = seconds + nearest_integer(counted(score.second));
  }
  chain.firsts = firsts;
  chain.seconds = seconds;
}

template <class Model>
PYDPMC_INLINE auto tile_factors_for(bool clips, bool extra) noexcept {
  if (clips) return extra ? tile_factors<true, true, Model> : tile_factors<true, false, Model>;
  return extra ? tile_factors<false, true, Model> : tile_factors<false, false, Model>;
}

// Adds the clipped gradients of records begin .. begin+count-1 at every theta; returns the places of all
// tiles.
template <class Model, class Scalar>
[[gnu::noinline]] int64_t add_tiles(const ModelSpec& spec, const Table<Scalar>& table,
                                    const RowSquares& squares, const Tiles& tiles, int64_t begin,
                                    int64_t count, const GradientGrid& grid, ChainSums* chain,
                                    int chains) noexcept {
  const int shift = spec.intercept ? 1 : 0;
  const auto factors = tile_factors_for<Model>(grid.clips, spec.dim > spec.columns + shift);
  const int records = tile_records(spec.columns);
  const bool stored = tiles && begin % records == 0;
  alignas(64) double room[largest_tile], eta[most_tile_records], factor[most_tile_records];
  int64_t places = 0;
  for (int64_t i = 0; i < count; i += records, places += records) {
    const int here = static_cast<int>(count - i < records ? count - i : records);
    if (!stored) write_tile(table, squares, begin + i, here, shift, room);
    const Tile tile(
        stored ? tiles.first + static_cast<size_t>((begin + i) / records) * tile_size(spec.columns) : room,
        spec.columns);
    const double* next = stored && i + records < count ? tile.x + tile_size(spec.columns) : tile.x;
    for (int c = 0; c < chains; ++c) {
      tile_predictors(tile, chain[c].p.slopes, spec.columns, chain[c].p.offset, eta);
      factors(tile, eta, here, grid, chain[c], factor);
      add_tile(tile, spec.columns, factor, chain[c].slopes, c == 0 ? next : tile.x);
    }
  }
  return places;
}

PYDPMC_ISA_END

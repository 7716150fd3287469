// A tile: some dozens of consecutive records of few columns, turned so that a column is contiguous and a lane
// holds a record. Every sum over columns is made in the order of kernels/predictor.hpp, so that a record's
// value is bit for bit the same as from its row.
#pragma once

#include "kernels/gradient/chains.hpp"
#include "kernels/predictor.hpp"

PYDPMC_ISA_BEGIN

// Where a tile is: its columns as numbers (those of fixed16 times their unit), a distance of `records` apart,
// then targets, then |x|^2 with the intercept's 1.
template <class Number>
struct TileAt {
  Number *x, *y, *row2;
  int records;

  TileAt(Number* first, int columns) noexcept
      : x(first),
        y(x + pydpmc::tile_columns(columns) * tile_records(columns)),
        row2(y + tile_records(columns)),
        records(tile_records(columns)) {}
  PYDPMC_INLINE Number* column(int j) const noexcept { return x + j * records; }
};
using Tile = TileAt<const double>;
using NewTile = TileAt<double>;

constexpr int tile_groups = 4;  // vectors of records at a time

// The sums over columns k, k + 8, k + 16 and so on, plus those over k + 4, k + 12 and so on; both at once,
// since each waits for its last addition.
PYDPMC_INLINE void class_sums(const Tile& tile, int r, const double* slopes, int columns, int k,
                              NativeF (&total)[tile_groups]) noexcept {
  if (native_lanes < lanes && k + 4 >= columns) {  // faster with narrow vectors
    // To add the product to zero, as below, would only turn -0 to 0, and nothing that follows tells them
    // apart.
    const NativeF slope = every<NativeF>(slopes[k]);
    for (int g = 0; g < tile_groups; ++g)
      total[g] = load_native(tile.column(k) + r + g * native_lanes) * slope;
    return;
  }
  NativeF other[tile_groups];
  for (int g = 0; g < tile_groups; ++g) total[g] = other[g] = NativeF{};
  const auto add = [&](int j, NativeF(&to)[tile_groups]) PYDPMC_LAMBDA {
    const NativeF slope = every<NativeF>(slopes[j]);
    const double* x = tile.column(j) + r;
#pragma GCC unroll 4
    for (int g = 0; g < tile_groups; ++g) to[g] = to[g] + load_native(x + g * native_lanes) * slope;
  };
  int j = k;
  for (; j + 4 < columns; j += lanes) {
    add(j, total);
    add(j + 4, other);
  }
  if (j < columns) add(j, total);
  for (int g = 0; g < tile_groups; ++g) total[g] = total[g] + other[g];
}

// In the order of kernels/predictor.hpp: ((0+4) + (2+6)) + ((1+5) + (3+7)), or, for fewer than four columns,
// one after the other.
PYDPMC_INLINE void tile_dots(const Tile& tile, int r, const double* slopes, int columns,
                             NativeF (&dot)[tile_groups]) noexcept {
  if (columns < 4) {
    for (int g = 0; g < tile_groups; ++g) {
      dot[g] = load_native(tile.x + r + g * native_lanes) * slopes[0];
      for (int j = 1; j < columns; ++j)
        dot[g] = dot[g] + load_native(tile.column(j) + r + g * native_lanes) * slopes[j];
    }
    return;
  }
  NativeF half[tile_groups], pair[tile_groups];
  const auto four = [&](int k, NativeF(&to)[tile_groups]) PYDPMC_LAMBDA {
    class_sums(tile, r, slopes, columns, k, to);
    class_sums(tile, r, slopes, columns, k + 2, pair);
    for (int g = 0; g < tile_groups; ++g) to[g] = to[g] + pair[g];
  };
  four(0, half);
  four(1, dot);
  for (int g = 0; g < tile_groups; ++g) dot[g] = half[g] + dot[g];
}

// Vectors of records at a time in a sum over records: as many as there are registers for.
constexpr int sum_groups = native_lanes == lanes ? 4 : 8;

// Brings so many numbers of a column into the first-level cache. One instruction per line and no more at once
// than are used meanwhile: a whole tile at once is slower than none.
template <int places>
PYDPMC_INLINE void fetch_places(const double* x) noexcept {
  constexpr int line = 64 / sizeof(double);
#pragma GCC unroll 8
  for (int k = 0; k < places; k += line) __builtin_prefetch(x + k, 0, 3);
}

// eta[r] = offset + the dot product of record r with the slopes.
[[gnu::noinline]] inline void tile_predictors(const Tile& tile, const double* slopes, int columns,
                                              double offset, double* eta) noexcept {
  for (int r = 0; r < tile.records; r += tile_groups * native_lanes) {
    NativeF dot[tile_groups];
    tile_dots(tile, r, slopes, columns, dot);
    for (int g = 0; g < tile_groups; ++g)
      *reinterpret_cast<UnalignedF*>(eta + r + g * native_lanes) = dot[g] + offset;
  }
}

PYDPMC_ISA_END

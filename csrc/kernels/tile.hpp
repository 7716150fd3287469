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

// Writes four columns of eight rows to columns at `to`, a distance of `records` apart.
template <class Scalar>
PYDPMC_INLINE void turn_four(const Rows<Scalar>& row, int j, double* to, int records) noexcept {
  Quad q[lanes];
  for (int r = 0; r < lanes; ++r) q[r] = (Quad)widen<4>(row[r] + j) * unit_of<Scalar>;
  if constexpr (native_lanes == 8) {
    using Octet = Wide<8>::F;
    Octet pair[4];
    for (int r = 0; r < 4; ++r) pair[r] = __builtin_shufflevector(q[r], q[r + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    const Octet even01 = __builtin_shufflevector(pair[0], pair[1], 0, 8, 2, 10, 4, 12, 6, 14),
                odd01 = __builtin_shufflevector(pair[0], pair[1], 1, 9, 3, 11, 5, 13, 7, 15),
                even23 = __builtin_shufflevector(pair[2], pair[3], 0, 8, 2, 10, 4, 12, 6, 14),
                odd23 = __builtin_shufflevector(pair[2], pair[3], 1, 9, 3, 11, 5, 13, 7, 15);
    const Octet column[4] = {__builtin_shufflevector(even01, even23, 0, 1, 8, 9, 4, 5, 12, 13),
                             __builtin_shufflevector(odd01, odd23, 0, 1, 8, 9, 4, 5, 12, 13),
                             __builtin_shufflevector(even01, even23, 2, 3, 10, 11, 6, 7, 14, 15),
                             __builtin_shufflevector(odd01, odd23, 2, 3, 10, 11, 6, 7, 14, 15)};
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) std::memcpy(to + c * records, &column[c], sizeof column[c]);
  } else {
#pragma GCC unroll 2
    for (int half = 0; half < lanes; half += 4) {
      const Quad a = q[half], b = q[half + 1], c = q[half + 2], d = q[half + 3];
      const Quad even01 = __builtin_shufflevector(a, b, 0, 4, 2, 6),
                 odd01 = __builtin_shufflevector(a, b, 1, 5, 3, 7),
                 even23 = __builtin_shufflevector(c, d, 0, 4, 2, 6),
                 odd23 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      const Quad column[4] = {__builtin_shufflevector(even01, even23, 0, 1, 4, 5),
                              __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5),
                              __builtin_shufflevector(even01, even23, 2, 3, 6, 7),
                              __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7)};
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) std::memcpy(to + k * records + half, &column[k], sizeof column[k]);
    }
  }
}

// Writes the records of eight rows to the places of the tile from `first` on.
template <class Scalar>
PYDPMC_INLINE void fill_eight(const Rows<Scalar>& row, int columns, int first, const NewTile& tile) noexcept {
  double* to = tile.x + first;
  if (columns < 4) {
    for (int j = 0; j < columns; ++j)
      for (int k = 0; k < lanes; ++k)
        to[j * tile.records + k] = static_cast<double>(row[k][j]) * unit_of<Scalar>;
  } else {
    for (int j = 0; j < columns; j += 4) turn_four(row, j, to + j * tile.records, tile.records);
  }
  store(tile.y + first, gather([&](int k) PYDPMC_LAMBDA { return target_of(row[k], columns); }));
}

// Fills the tile with records i .. i+count-1; the places beyond repeat the first record and must be dropped
// by the caller.
template <class Scalar>
[[gnu::noinline]] void fill_tile(const Table<Scalar>& table, int64_t i, int count,
                                 const NewTile& tile) noexcept {
  const Scalar* from = table.row(i);
  int first = 0;
  for (; first + lanes <= count; first += lanes, from += lanes * table.stride) {
    Rows<Scalar> row;
    for (int k = 0; k < lanes; ++k) row[k] = from + k * table.stride;
    fill_eight(row, table.columns, first, tile);
  }
  for (; first < tile.records; first += lanes) {
    Rows<Scalar> row;
    for (int k = 0; k < lanes; ++k) row[k] = table.row(i + (first + k < count ? first + k : 0));
    fill_eight(row, table.columns, first, tile);
  }
}

constexpr int tile_groups = 4;  // vectors of records at a time

// The sums over columns k, k + 8, k + 16 and so on, plus those over k + 4, k + 12 and so on; both at once,
// since each waits for its last addition.
PYDPMC_INLINE void class_sums(const Tile& tile, int r, const double* slopes, int columns, int k,
                              NativeF (&total)[tile_groups]) noexcept {
  if (native_lanes < lanes && k + 4 >= columns) {  // faster with narrow vectors
    // To add the product to zero, as below, would only turn -0 to 0, and nothing that follows tells them
    // apart.
    const NativeF slope = NativeF{} + slopes[k];
    for (int g = 0; g < tile_groups; ++g)
      total[g] = load_native(tile.column(k) + r + g * native_lanes) * slope;
    return;
  }
  NativeF other[tile_groups];
  for (int g = 0; g < tile_groups; ++g) total[g] = other[g] = NativeF{};
  const auto add = [&](int j, NativeF(&to)[tile_groups]) PYDPMC_LAMBDA {
    const NativeF slope = NativeF{} + slopes[j];
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

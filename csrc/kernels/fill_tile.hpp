// Turns rows into the columns of a tile (kernels/tile.hpp).
#pragma once

#include "kernels/tile.hpp"

PYDPMC_ISA_BEGIN

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

PYDPMC_ISA_END

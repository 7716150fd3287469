// Scaled rows, each coordinate rounded to the nearest integer, added to 64-bit
// sums: eight rows for one visit to a sum. The integers are those of add_row.
#pragma once

#include "kernels/gradient/group.hpp"

PYDPMC_ISA_BEGIN

// Columns j .. j+width-1 of eight rows, of which the first `kept` are added.
template <int width, class Scalar>
PYDPMC_INLINE void add_columns(int64_t* sums, const Scalar* const* row, const double* centre,
                               const double* scale, int j, int kept) noexcept {
  using Vectors = Wide<width>;
  typename Vectors::U total{};
#pragma GCC unroll 8
  for (int r = 0; r < lanes; ++r) {
    const typename Vectors::F x = widen<width>(row[r] + j);
    const typename Vectors::F moved = centre ? x - widen<width>(centre + j) : x;
    total += (typename Vectors::U)(scale[r] * moved + rounding_magic);
  }
  if (kept == width) {
    total += unaligned<typename Vectors::U>(sums + j);
    __builtin_memcpy(sums + j, &total, sizeof total);
  } else {
    for (int k = 0; k < kept; ++k)
      sums[j + k] = static_cast<int64_t>(static_cast<uint64_t>(sums[j + k]) + total[k]);
  }
}

// sums[j] += nearest(per_row[r] * (row[r][j] - centre[j])) over eight rows,
// `centre` null for zero. Rows of four or more columns may be read in whole
// fours (pydpmc/data/storage.py), as may slopes.
template <class Scalar, class Fetch>
PYDPMC_INLINE void add_rows(int64_t* sums, const Scalar* const* row, const double* centre,
                            const double* per_row, int columns, const Fetch& fetch) noexcept {
  double scale[lanes];
  for (int r = 0; r < lanes; ++r) scale[r] = per_row[r] * unit_of<Scalar>;
  if (columns < 4) {
    for (int r = 0; r < lanes; ++r)
      for (int j = 0; j < columns; ++j)
        add_scalar(sums + j, scale[r] * (static_cast<double>(row[r][j]) - (centre ? centre[j] : 0.0)));
    return;
  }
  constexpr int narrow = native_lanes < 4 ? native_lanes : 4;
  int j = 0;
  for (; j + lanes <= columns; j += lanes) {
    fetch(4, j);
    fetch(6, j);
#pragma GCC unroll 4
    for (int k = 0; k < lanes; k += native_lanes)
      add_columns<native_lanes>(sums, row, centre, scale, j + k, native_lanes);
  }
  for (; j + native_lanes <= columns; j += native_lanes)
    add_columns<native_lanes>(sums, row, centre, scale, j, native_lanes);
  for (; j < columns; j += narrow)
    add_columns<narrow>(sums, row, centre, scale, j, columns - j < narrow ? columns - j : narrow);
}

PYDPMC_ISA_END

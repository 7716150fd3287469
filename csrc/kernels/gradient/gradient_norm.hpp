// Norms of rows, computed once for all steps, and norms of gradients that are a factor times a row.
#pragma once

#include "kernels/gradient/group.hpp"

PYDPMC_ISA_BEGIN

// The squared norms of all rows, which a run keeps because rows do not change.
inline void squared_norms(const Records& records, double* squares) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    for (int64_t i = 0; i < records.n; ++i) squares[i] = squared_norm(table.row(i), nullptr, table.columns);
  });
}

PYDPMC_INLINE F8 square_root(F8 x) noexcept {
  for (int k = 0; k < parts; ++k)
    for (int i = 0; i < native_lanes; ++i) x.p[k][i] = __builtin_sqrt(x.p[k][i]);
  return x;
}

// The factor from a gradient to the grid after clipping to grid.clip, computed from the squares of the
// gradient's factors. It is negative if one of these is NaN or so large that the norm may be wrong.
PYDPMC_INLINE F8 clipped_scale(F8 row2, F8 first2, F8 second2, const GradientGrid& grid) noexcept {
  const F8 most = fill(largest_square), clip = fill(grid.clip);
  const F8 norm2 = first2 * row2 + second2, none = fill(-1.0);
  F8 scale;
  if (grid.clips) {
    const F8 norm = square_root(norm2);
    scale = select(norm > clip, clip / norm, fill(1.0)) * grid.per_unit;
  } else {
    scale = select(norm2 <= clip * clip, fill(grid.per_unit), none);
  }
  return select(row2 <= most, select(first2 <= most, select(second2 <= most, scale, none), none), none);
}

PYDPMC_ISA_END

// Sums of gradients in floating point, over the records of one group: the counterpart of the integer sums of
// kernels/gradient/group.hpp. Each operation rounds each coordinate once, in the order of the calls.
#pragma once

#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

// sums[j] += scale * (row[j] - centre[j]); a null `centre` means zero.
template <class Scalar>
PYDPMC_INLINE void add_row(double* sums, const Scalar* row, const double* centre, double scale,
                           int columns) noexcept {
  scale *= unit_of<Scalar>;
  const NativeF a = every<NativeF>(scale);
  int j = 0;
  for (; j + native_lanes <= columns; j += native_lanes) {
    const NativeF x = load_native(row + j);
    const NativeF term = a * (centre ? x - load_native(centre + j) : x);
    *reinterpret_cast<UnalignedF*>(sums + j) = load_native(sums + j) + term;
  }
  for (; j < columns; ++j)
    sums[j] += scale * (centre ? static_cast<double>(row[j]) - centre[j] : static_cast<double>(row[j]));
}

PYDPMC_INLINE void add_scalar(double* sum, double value) noexcept { *sum += value; }

PYDPMC_ISA_END

// Clips a log-likelihood ratio to [-B, B] and rounds it to the public grid. Total: -inf counts as -B, +inf as
// +B, NaN as 0. Nearest rounding is odd, so a reversed proposal contributes exactly the opposite.
#pragma once

#include "concepts.hpp"
#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

PYDPMC_INLINE F8 clip(F8 ratio, const Grid& grid, I8& clipped) noexcept {
  const F8 high = fill(grid.clip), low = fill(-grid.clip);
  const I8 above = ratio > high, below = ratio < low;
  clipped = clipped - above - below;  // a true lane of a comparison is -1
  const F8 r = select(above, high, select(below, low, ratio));
  return select(ratio == ratio, r, fill(0.0));
}

PYDPMC_INLINE I8 quantise(F8 clipped_ratio, const Grid& grid) noexcept {
  return nearest_integer(clipped_ratio * grid.per_unit);
}

// Squares of the quantised ratios, exact for at most 25 bits.
PYDPMC_INLINE I8 quantised_squares(F8 clipped_ratio, const Grid& grid) noexcept {
  const F8 q = (clipped_ratio * grid.per_unit + rounding_magic) - rounding_magic;
  return nearest_integer(q * q);
}

PYDPMC_ISA_END

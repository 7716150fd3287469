// A log-likelihood ratio, clipped to [-B, B] and rounded to the public grid. Total: -inf counts as -B, +inf as
// +B, NaN as 0. Nearest rounding is odd, so a reversed proposal has exactly the opposite contribution.
#pragma once

#include "concepts.hpp"
#include "vec/lanes.hpp"

PYDPMC_ISA_BEGIN

PYDPMC_INLINE I8 quantise(F8 ratio, const Grid& grid, I8& clipped) noexcept {
  const F8 high = fill(grid.clip), low = fill(-grid.clip);
  clipped = clipped - (ratio > high) - (ratio < low);  // a true lane is -1
  F8 r = select(ratio > high, high, select(ratio < low, low, ratio));
  r = select(ratio == ratio, r, fill(0.0));
  return nearest_integer(r * grid.per_unit);
}

PYDPMC_INLINE I8 squares(I8 q) noexcept {
  I8 r;
  int64_t v[lanes];
  std::memcpy(v, &q, sizeof q);
  for (int64_t& x : v) x *= x;
  std::memcpy(&r, v, sizeof r);
  return r;
}

// Lanes at and beyond `count` become zero.
PYDPMC_INLINE I8 first_lanes(I8 q, int count) noexcept {
  int64_t v[lanes];
  std::memcpy(v, &q, sizeof q);
  for (int k = count; k < lanes; ++k) v[k] = 0;
  std::memcpy(&q, v, sizeof q);
  return q;
}

PYDPMC_ISA_END

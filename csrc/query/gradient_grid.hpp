// The specification of a gradient query, and the integer grid of its sums. Public numbers alone decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>

#include "concepts.hpp"
#include "kernels/gradient/second_moments.hpp"
#include "query/narrow_grid.hpp"
#include "random/noise/rounded_normal.hpp"
#include "random/sampling/bernoulli_process.hpp"

namespace pydpmc {

enum class Sampling : int { full, without_replacement, poisson };

struct QuerySpec {
  Sampling sampling;
  double clip;    // L: bound on the norm of one unit's contribution, rounding included
  int64_t batch;  // b, only without replacement
  std::shared_ptr<const GapTables> gaps;  // unless sampling is full
  int64_t most;                           // capacity of a sample before units are dropped
  double room;                            // public: the largest number of units in a step
  SecondMoments moments{};

  // Bounds the norm of everything that one unit adds.
  double bound() const noexcept { return std::hypot(clip, moments.bound()); }
};

// The largest power of two of grid steps in a standard deviation of the noise, up to the resolution of the
// noise, for which sums of `room` units stay far from overflowing 64 bits. Public numbers alone decide.
inline int grid_bits(const QuerySpec& spec, double sd) noexcept {
  const double farthest = std::fmin(0x1p61 / spec.room, 0x1p50);
  return std::min(rounded_normal_bits, std::ilogb(farthest * (sd / spec.bound())));
}

// Covers the floating-point errors of a computed norm and of the scaling by it: docs/privacy/sgld.md, lemma
// 2.
inline double below_norm_rounding(size_t dim) { return 1.0 - 1e-12 - static_cast<double>(dim) * 0x1p-53; }

// The grid on which each record's integers have norm at most clip / unit: the clip is lowered by the largest
// error of rounding `dim` coordinates to integers.
inline GradientGrid grid_within(double clip, double unit, int dim) noexcept {
  const double room = 0.5 * std::sqrt(static_cast<double>(dim)) * unit;
  return {std::fmax(0.0, clip - room) * below_norm_rounding(static_cast<size_t>(dim)), 1.0 / unit};
}

// The grid of one step; `bits` comes from grid_bits.
struct StepGrid {
  GradientGrid grid;
  int bits;
  bool narrow;
};

inline StepGrid step_grid(const QuerySpec& spec, const ModelSpec& model, const Records& records,
                          double sd) noexcept {
  const size_t length = spec.moments.coordinates(model.dim);
  const int most = grid_bits(spec, sd);
  if (model.own && model.own->largest_integer > 0.0) {
    // These loops leave room for the rounding themselves.
    const int bits = std::min(most, std::ilogb(model.own->largest_integer * (sd / spec.clip)));
    return {{spec.clip, 1.0 / std::ldexp(sd, -bits)}, bits, false};
  }
  if (!spec.moments.taken() && has_narrow_sums(model, records) && spec.clip >= 0x1p-100) {
    const int bits = std::min(most, narrow_bits(model, records.storage, spec.clip, sd));
    if (bits >= least_narrow_bits)
      return {narrow_grid(records.storage, spec.clip, std::ldexp(sd, -bits), length), bits, true};
  }
  return {grid_within(spec.clip, std::ldexp(sd, -most), static_cast<int>(length)), most, false};
}

}  // namespace pydpmc

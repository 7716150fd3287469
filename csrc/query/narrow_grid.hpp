// Decides when records stored in fewer bits are summed on a coarser grid that fits into those bits
// (csrc/kernels/gradient/narrow_gradient.hpp), and on which grid. Public numbers alone decide.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "concepts.hpp"
#include "models/facts.hpp"

namespace pydpmc {

constexpr int narrow_columns = 16;             // rows are read sixteen columns at a time
constexpr double largest_float_integer = 4e6;  // below 2^22, rounding included
constexpr double largest_fixed16_factor = 8191;
constexpr int least_narrow_bits = 8;

// Bounds the factor that multiplies a row, after clipping; infinite if there is no bound.
inline double factor_bound(const ModelSpec& model, double clip) noexcept {
  const double with_intercept = model.intercept ? clip : std::numeric_limits<double>::infinity();
  return std::fmin(facts_of(model.kind).score_bound(model), with_intercept);
}

// kernels/gradient/narrow_gradient.hpp requires that a gradient is one factor times the row.
inline bool is_regression(ModelKind kind) noexcept {
  const Facts& facts = facts_of(kind);
  return facts.has_slopes && facts.has_target && !facts.has_classes;
}

inline bool has_narrow_sums(const ModelSpec& model, const Records& records) noexcept {
  return !model.own && records.storage != Storage::float64 && is_regression(model.kind) &&
         records.has_target && !records.group_start && !records.coded && !records.weights &&
         model.predictors == 1 && records.columns >= narrow_columns && records.stride % narrow_columns == 0 &&
         model.dim == records.columns + (model.intercept ? 1 : 0);
}

// The number of grid steps in a standard deviation of the noise, as a power of two.
inline int narrow_bits(const ModelSpec& model, Storage storage, double clip, double sd) noexcept {
  if (storage == Storage::float32) return std::ilogb(largest_float_integer * (sd / clip));
  const double bound = factor_bound(model, clip);
  // A clip far below the bound would leave too few integers to clip to.
  if (!(bound <= 8 * clip)) return 0;
  return std::ilogb(largest_fixed16_factor / fixed16_step * (sd / bound));
}

// The grid on which each record's integers have norm at most clip / unit: docs/privacy/sgld.md, lemma 2'. For
// sixteen bits the kernel itself allows for the rounding of the one factor.
inline GradientGrid narrow_grid(Storage storage, double clip, double unit, size_t dim) noexcept {
  const double d = static_cast<double>(dim);
  if (storage == Storage::fixed16) return {clip * (1.0 - 1e-12 - d * 0x1p-53), 1.0 / unit};
  const double room = 0.5 * std::sqrt(d) * unit;
  return {std::fmax(0.0, clip - room) * (1.0 - 0x1p-21), 1.0 / unit};
}

}  // namespace pydpmc

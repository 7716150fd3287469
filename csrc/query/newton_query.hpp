// One look: the noised sums of gradients and of curvatures at one public theta, over all records.
//
// Both sums are exact integers. They are rescaled to the noise's grid after summing. The gradient's unit is
// sigma / 2^32. A sum S of the curvature becomes nearest(S M / 2^shift) with a public integer M, so that a
// diagonal entry has the unit tau / 2^32, and an off-diagonal entry times sqrt(2) has it too. Then floor(2^32
// Z) is added to each: post-processing of the continuous Gaussian mechanism.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "concepts.hpp"
#include "kernels/curvature/look_grid.hpp"
#include "random/noise/rounded_normal.hpp"

namespace pydpmc {

using Int128 = __int128;

struct LookSpec {
  double clip, sigma;           // bound on |r x|; sd of the noise on the gradient
  double curvature_clip, tau;   // bound on h |x|^2; sd of the noise on the diagonal
  double largest_square;        // bound on |x|^2
  double limits[2];             // of the model, see kernels/curvature/terms.hpp
  bool outer;                   // use r^2 in place of the model's curvature
  std::vector<int> block_of;    // per coordinate of the curvature; curvature between blocks is not released
  std::vector<double> table{};  // of the model's terms, three numbers a predictor; empty if it needs none
  double table_first = 0, table_per_unit = 0;
  std::vector<double> edges{};  // of groups of predictors: a look at residuals by group; empty for all others
};

// What a look sums: gradients and curvatures of the model, or residuals and their squares by group.
inline ModelSpec summed_by(const LookSpec& spec, const ModelSpec& model) {
  if (spec.edges.empty()) return model;
  ModelSpec groups = model;
  groups.dim = static_cast<int>(spec.edges.size()) + 1;
  groups.predictors = 1;
  return groups;
}

// The number of sums of a look before they are brought onto the grid.
inline size_t sums_of(const ModelSpec& summed) noexcept {
  const size_t width = look_width(curvature_dim(summed));
  return static_cast<size_t>(summed.dim) + width * width;
}

// S M / 2^shift, rounded to nearest; M < 2^46 and |S| < 2^77 keep it within 128 bits.
struct Rescale {
  int64_t multiplier;
  int shift;

  // The largest such factor that does not exceed `factor`, up to the rounding of a double.
  explicit Rescale(double factor) noexcept : shift(45 - std::ilogb(factor)) {
    multiplier = static_cast<int64_t>(std::floor(std::ldexp(factor, shift)));
  }
  double factor() const noexcept { return std::ldexp(static_cast<double>(multiplier), -shift); }
  Int128 operator()(Int128 sum) const noexcept {
    return (sum * multiplier + (Int128{1} << (shift - 1))) >> shift;
  }
};

class LookPlan {
 public:
  LookPlan(const LookSpec& spec, const ModelSpec& model)
      : spec_(spec),
        dim_(summed_by(spec, model).dim),
        across_(curvature_dim(summed_by(spec, model))),
        root_step_(std::sqrt(spec.curvature_clip) / longest_root),
        diagonal_(root_step_ * root_step_ / curvature_unit()),
        beside_(diagonal_.factor() * 1.4142135623730950),  // below the root of two
        tiles_(look_width(across_) / 4 * (look_width(across_) / 4)) {
    const size_t across = look_width(across_) / 4;
    for (int i = 0; i < across_; ++i)
      for (int j = i; j < across_; ++j)
        if (together(i, j)) {
          ++entries_;
          tiles_[static_cast<size_t>(i) / 4 * across + static_cast<size_t>(j) / 4] = 1;
        }
  }

  size_t released() const noexcept { return static_cast<size_t>(dim_) + entries_; }
  bool together(int i, int j) const noexcept {
    return spec_.block_of[static_cast<size_t>(i)] == spec_.block_of[static_cast<size_t>(j)];
  }

  LookGrid grid() const noexcept {
    const TermLimits limits{{spec_.limits[0], spec_.limits[1]},
                            spec_.table.data(),
                            static_cast<int64_t>(spec_.table.size() / 3) - 1,
                            spec_.table_first,
                            spec_.table_per_unit};
    return {{spec_.clip, 1.0 / gradient_unit()},
            spec_.curvature_clip,
            1.0 / root_step_,
            spec_.largest_square,
            limits,
            spec_.outer,
            tiles_.data(),
            spec_.edges.empty() ? nullptr : spec_.edges.data(),
            static_cast<int>(spec_.edges.size())};
  }

  // Integer sums on the noise's grid, in the order of release: the gradient, then the upper triangle of the
  // curvature row by row, within blocks only.
  void onto_grid(const Int128* sums, const Int128* products, Int128* out) const noexcept {
    for (int j = 0; j < dim_; ++j) *out++ = sums[j];
    const size_t width = look_width(across_);
    for (int i = 0; i < across_; ++i)
      for (int j = i; j < across_; ++j)
        if (together(i, j))
          *out++ = (i == j ? diagonal_
                           : beside_)(products[static_cast<size_t>(i) * width + static_cast<size_t>(j)]);
  }

  // Converts integers back to the gradient and the entries of the curvature, shifted by `half` a step.
  void in_units(const Int128* integers, double half, double* out) const noexcept {
    const auto value = [&](double unit) { return (static_cast<double>(*integers++) + half) * unit; };
    for (int j = 0; j < dim_; ++j) *out++ = value(gradient_unit());
    const double square = root_step_ * root_step_;
    for (int i = 0; i < across_; ++i)
      for (int j = i; j < across_; ++j)
        if (together(i, j)) *out++ = value(square / (i == j ? diagonal_ : beside_).factor());
  }

 private:
  double gradient_unit() const noexcept { return std::ldexp(spec_.sigma, -rounded_normal_bits); }
  double curvature_unit() const noexcept { return std::ldexp(spec_.tau, -rounded_normal_bits); }

  LookSpec spec_;
  int dim_, across_;  // of the gradient; of the curvature
  double root_step_;  // the unit of the integers of sqrt(h) x
  Rescale diagonal_, beside_;
  std::vector<uint8_t> tiles_;
  size_t entries_ = 0;
};

}  // namespace pydpmc

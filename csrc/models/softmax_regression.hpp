// y in {0 .. k-1}, P(y = c) proportional to exp(x . beta_c). constants[0] is k. Every class has coefficients
// of its own and none is the baseline: the prior makes them identifiable. kernels/softmax.hpp computes the
// likelihood.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct SoftmaxRegression {
  static constexpr std::string_view name = "softmax_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = true;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    const int classes = spec.predictors, width = padded(spec.columns);
    const double* beta = theta + (spec.intercept ? classes : 0);
    double* offsets = slopes + static_cast<int64_t>(classes) * width;
    for (int c = 0; c < classes; ++c) {
      for (int j = 0; j < width; ++j)
        slopes[static_cast<int64_t>(c) * width + j] =
            j < spec.columns ? beta[static_cast<int64_t>(c) * spec.columns + j] : 0.0;
      offsets[c] = spec.intercept ? theta[c] : 0.0;
    }
    Prepared p{slopes, 0.0};
    p.predictors = classes;
    p.offsets = offsets;
    p.scratch = offsets + classes;
    return p;
  }
};

PYDPMC_ISA_END

// y = x . beta plus noise with a density proportional to 1 / cosh. The constant log 2 is left out.
// A template: CONTRIBUTING.md, "Add a model".
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct ToyRegression {
  static constexpr std::string_view name = "toy_regression";  // core_name in Python
  static constexpr bool has_slopes = true;                    // the predictor is x . beta
  static constexpr bool has_target = true;                    // records end in y
  static constexpr bool has_classes = false;                  // true only for a softmax

  // Computes what all records need from theta, once per step.
  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    return prepare_linear(spec, theta, slopes);
  }

  // Optional: a bound on |Score::first|, which lets rows in fewer bits be summed faster.
  static double score_bound(const ModelSpec&) noexcept { return 1.0; }

  // -log cosh(y - eta) = -(|z| + softplus(-2 |z|)) + log 2. A NaN argument must give a NaN result.
  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared&) noexcept {
    const F8 z = abs(y - eta);
    return 0.0 - (z + softplus(-2.0 * z));
  }

  // Its derivatives in eta, tanh(y - eta), and in a last coordinate such as log sigma, which is absent here.
  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    return {2.0 * logistic(2.0 * (y - eta)) - 1.0, fill(0.0)};
  }
};

PYDPMC_ISA_END

// y ~ N(x . beta, sigma^2). constants[0] is sigma, or 0 when theta ends in log sigma.
#pragma once

#include <cmath>

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct LinearRegression {
  static constexpr std::string_view name = "linear_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    Prepared p = prepare_linear(spec, theta, slopes);
    const bool known = spec.constants[0] > 0;
    const double log_sigma = known ? 0.0 : theta[spec.dim - 1];
    p.a = known ? 1.0 / spec.constants[0] : ::exp(-log_sigma);
    p.b = log_sigma;
    return p;
  }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared& p) noexcept {
    const F8 z = (y - eta) * p.a;
    return -0.5 * (z * z) - p.b;
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared& p) noexcept {
    const F8 z = (y - eta) * p.a;
    return {z * p.a, z * z - 1.0};
  }
};

PYDPMC_ISA_END

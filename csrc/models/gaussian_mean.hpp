// x ~ N(theta, sigma^2 I). The term in |x|^2 does not depend on theta and is left out.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct GaussianMean {
  static constexpr std::string_view name = "gaussian_mean";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = false;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    Prepared p = prepare_linear(spec, theta, slopes);
    double norm2 = 0.0;
    for (int j = 0; j < spec.columns; ++j) norm2 += theta[j] * theta[j];
    p.a = 1.0 / (spec.constants[0] * spec.constants[0]);
    p.b = 0.5 * norm2;
    return p;
  }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8, const Prepared& p) noexcept { return (eta - p.b) * p.a; }

  PYDPMC_INLINE static Score score(F8, F8, const Prepared& p) noexcept { return {fill(p.a), fill(0.0)}; }
};

PYDPMC_ISA_END

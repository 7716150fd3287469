// y in {0, 1}, P(y = 1) = Phi(x . beta), Phi the standard normal distribution function.
#pragma once

#include "models/prepared.hpp"
#include "simd/normal_tail.hpp"

PYDPMC_ISA_BEGIN

struct ProbitRegression {
  static constexpr std::string_view name = "probit_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    return prepare_linear(spec, theta, slopes);
  }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared&) noexcept {
    return log_normal_cdf((2.0 * y - 1.0) * eta);
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    const F8 side = 2.0 * y - 1.0;
    return {side * inverse_mills_ratio(side * eta), fill(0.0)};
  }
};

PYDPMC_ISA_END

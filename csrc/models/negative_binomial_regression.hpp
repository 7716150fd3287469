// y with mean m = exp(x . beta) and variance m + a m^2, a the dispersion: log-likelihood
// y log m - (y + 1/a) log(1 + a m). Terms free of theta are left out. constants[0] is a.
#pragma once

#include <cmath>

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

constexpr double largest_log_mean = 600.0;  // its exp times the largest dispersion is finite

struct NegativeBinomialRegression {
  static constexpr std::string_view name = "negative_binomial_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    Prepared p = prepare_linear(spec, theta, slopes);
    p.a = spec.constants[0];
    p.b = ::log(p.a);
    p.c = 1.0 / p.a;
    return p;
  }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared& p) noexcept {
    return y * eta - (y + p.c) * softplus(eta + p.b);
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared& p) noexcept {
    const F8 mean = exp(min(eta, fill(largest_log_mean)));
    return {(y - mean) / (mean * p.a + 1.0) + (eta - eta), fill(0.0)};  // eta - eta keeps a NaN
  }
};

PYDPMC_ISA_END

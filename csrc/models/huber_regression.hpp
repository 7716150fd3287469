// z = (y - x . beta)/sigma; log-likelihood -z^2/2 where |z| <= t, else t^2/2 - t |z|.
// constants = {sigma, t}.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct HuberRegression {
  static constexpr std::string_view name = "huber_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    Prepared p = prepare_linear(spec, theta, slopes);
    p.a = 1.0 / spec.constants[0];
    p.b = spec.constants[1];
    return p;
  }

  static double score_bound(const ModelSpec& spec) noexcept { return spec.constants[1] / spec.constants[0]; }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared& p) noexcept {
    const F8 z = abs((y - eta) * p.a);
    const F8 core = min(z, fill(p.b));  // -core^2/2 - t (|z| - core)
    return -0.5 * (core * core) - p.b * (z - core);
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared& p) noexcept {
    const F8 z = (y - eta) * p.a;
    return {max(min(z, fill(p.b)), fill(-p.b)) * p.a + (z - z), fill(0.0)};  // z - z keeps a NaN
  }
};

PYDPMC_ISA_END

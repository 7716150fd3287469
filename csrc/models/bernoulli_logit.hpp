// x in {0, 1}, P(x = 1) = logistic(theta) (Minami et al. 2016, example 17).
#pragma once

#include <cmath>

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct BernoulliLogit {
  static constexpr std::string_view name = "bernoulli_logit";
  static constexpr bool has_slopes = false;
  static constexpr bool has_target = false;
  static constexpr bool has_classes = false;
  static constexpr int parameters = 1;

  static Prepared prepare(const ModelSpec&, const double* theta, double*) noexcept {
    const double t = theta[0];
    return {nullptr, 0.0, t, (t > 0 ? t : 0.0) + ::log1p(::exp(-::fabs(t))), 1.0 / (1.0 + ::exp(-t))};
  }

  PYDPMC_INLINE static F8 loglik(F8 x, F8, const Prepared& p) noexcept { return p.a * x - p.b; }

  PYDPMC_INLINE static Score score(F8 x, F8, const Prepared& p) noexcept { return {x - p.c, fill(0.0)}; }
};

PYDPMC_ISA_END

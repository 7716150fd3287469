// y in {0, 1}, P(y = 1) = logistic(x . beta).
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct LogisticRegression {
  static constexpr std::string_view name = "logistic_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    return prepare_linear(spec, theta, slopes);
  }

  static double score_bound(const ModelSpec&) noexcept { return 1.0; }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared&) noexcept {
    return 0.0 - softplus((1.0 - 2.0 * y) * eta);
  }

  PYDPMC_INLINE static F8 log_ratio(F8 eta_next, F8 eta_now, F8 y, const Prepared&,
                                    const Prepared&) noexcept {
    const F8 sign = 1.0 - 2.0 * y;
    return softplus_difference(sign * eta_now, sign * eta_next);
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    return {y - logistic(eta), fill(0.0)};
  }

  // Both of the above from one exponential, as |(1 - 2 y) eta| = |eta| for y = 0 and 1.
  PYDPMC_INLINE static LoglikAndScore loglik_and_score(F8 eta, F8 y, const Prepared&) noexcept {
    const F8 u = exp_minus_abs(eta), small = u / (u + 1.0);
    const F8 softplus = max(fill(0.0), (1.0 - 2.0 * y) * eta) + log1p_unit(u);
    const F8 probability = select(eta == eta, select(eta > fill(0.0), 1.0 - small, small), eta);
    return {0.0 - softplus, {y - probability, fill(0.0)}};
  }
};

PYDPMC_ISA_END

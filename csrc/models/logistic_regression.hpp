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

  // exp(-|eta|), from which the terms below follow.
  PYDPMC_INLINE static Quotient odds(F8 eta) noexcept { return exp_minus_abs_nearly(eta); }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Quotient& odds) noexcept {
    return {y - logistic(eta, odds), fill(0.0)};
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    return score(eta, y, odds(eta));
  }

  // loglik and score, as |(1 - 2 y) eta| = |eta| for y = 0 and 1; the logarithm is left to the caller, who
  // takes it of the product of several.
  PYDPMC_INLINE static FactoredLoglik factored(F8 eta, F8 y, const Quotient& odds) noexcept {
    return {0.0 - max(fill(0.0), (1.0 - 2.0 * y) * eta),
            {odds.above + odds.below, odds.below},
            score(eta, y, odds)};
  }
};

PYDPMC_ISA_END

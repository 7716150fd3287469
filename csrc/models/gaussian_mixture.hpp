// x ~ (N(theta_1, s^2) + N(theta_1 + theta_2, s^2)) / 2, s^2 = constants[0] (Heikkilä et al. 2019, section
// 4). With the term in x^2 left out the log-likelihood is a line in x plus softplus of another line.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct GaussianMixture {
  static constexpr std::string_view name = "gaussian_mixture";
  static constexpr bool has_slopes = false;
  static constexpr bool has_target = false;
  static constexpr bool has_classes = false;
  static constexpr int parameters = 2;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double*) noexcept {
    const double s2 = spec.constants[0], first = theta[0], second = theta[0] + theta[1];
    return {nullptr,
            0.0,
            first / s2,
            -0.5 * first * first / s2,
            (second - first) / s2,
            -0.5 * (second * second - first * first) / s2,
            first,
            second,
            1.0 / s2};
  }

  PYDPMC_INLINE static F8 loglik(F8 x, F8, const Prepared& p) noexcept {
    return (p.a * x + p.b) + softplus(p.c * x + p.d);
  }

  PYDPMC_INLINE static F8 log_ratio(F8 x, F8 x_again, F8, const Prepared& next,
                                    const Prepared& now) noexcept {
    return ((next.a * x + next.b) - (now.a * x_again + now.b)) +
           softplus_difference(next.c * x + next.d, now.c * x_again + now.d);
  }

  PYDPMC_INLINE static Score score(F8 x, F8, const Prepared& p) noexcept {
    const F8 share = logistic(p.c * x + p.d);  // of the second component
    const F8 first = (x - p.e) * p.g, second = (x - p.f) * p.g;
    return {first + share * (second - first), share * second};
  }
};

PYDPMC_ISA_END

// y ~ Poisson(exp(x . beta)). log y! does not depend on theta and is left out.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct PoissonRegression {
  static constexpr std::string_view name = "poisson_regression";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    return prepare_linear(spec, theta, slopes);
  }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared&) noexcept { return y * eta - exp(eta); }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    return {y - exp(eta), fill(0.0)};
  }
};

PYDPMC_ISA_END

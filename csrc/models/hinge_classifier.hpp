// y in {0, 1}; pseudo-likelihood exp(-max(0, 1 - (2y - 1) x . beta)).
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

struct HingeClassifier {
  static constexpr std::string_view name = "hinge_classifier";
  static constexpr bool has_slopes = true;
  static constexpr bool has_target = true;
  static constexpr bool has_classes = false;

  static Prepared prepare(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
    return prepare_linear(spec, theta, slopes);
  }

  static double score_bound(const ModelSpec&) noexcept { return 1.0; }

  PYDPMC_INLINE static F8 loglik(F8 eta, F8 y, const Prepared&) noexcept {
    return min(fill(0.0), (2.0 * y - 1.0) * eta - 1.0);
  }

  PYDPMC_INLINE static Score score(F8 eta, F8 y, const Prepared&) noexcept {
    const F8 side = 2.0 * y - 1.0;
    return {select(side * eta < fill(1.0), side, side - side), fill(0.0)};
  }
};

PYDPMC_ISA_END

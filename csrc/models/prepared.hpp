// What the likelihood of a record needs of theta, computed once per step.
#pragma once

#include "concepts.hpp"
#include "simd/functions.hpp"

PYDPMC_ISA_BEGIN

// The gradients of eight log-likelihoods. With slopes: `first` times the row (and the intercept's 1), and
// `second` for a last coordinate such as log sigma. Without slopes: the two coordinates of theta themselves.
struct Score {
  F8 first, second;
};

struct LoglikAndScore {
  F8 loglik;
  Score score;
};

// A log-likelihood that is linear - log(factor), both parts of the quotient `factor` in [0.8, 2.5], with its
// score.
struct FactoredLoglik {
  F8 linear;
  Quotient factor;
  Score score;
};

struct Prepared {
  const double* slopes;  // zero-padded to a multiple of eight
  double offset;
  double a = 0.0, b = 0.0, c = 0.0, d = 0.0, e = 0.0, f = 0.0, g = 0.0;  // scalars of the model
  // For several predictors: their slopes one after the other, their offsets, and room for eight records.
  int predictors = 1;
  const double* offsets = nullptr;
  double* scratch = nullptr;
};

// The types that the concept Model refers to.
struct ModelTypes {
  using Doubles = F8;
  using Prepared = PYDPMC_ISA::Prepared;
  using Score = PYDPMC_ISA::Score;
};

inline int padded(int columns) noexcept { return (columns + lanes - 1) / lanes * lanes; }

// Splits theta into intercept and slopes; `slopes` has room for padded(columns).
inline Prepared prepare_linear(const ModelSpec& spec, const double* theta, double* slopes) noexcept {
  const double* beta = theta + (spec.intercept ? 1 : 0);
  for (int j = 0; j < padded(spec.columns); ++j) slopes[j] = j < spec.columns ? beta[j] : 0.0;
  return {slopes, spec.intercept ? theta[0] : 0.0};
}

PYDPMC_ISA_END

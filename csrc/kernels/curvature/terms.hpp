// The terms of eight records in a look: r, the factor of x in the gradient, and h >= 0, the factor of x x' in
// the curvature. docs/privacy/newton.md bounds both from these formulas and the rounding of single
// operations; the accuracy of exp does not matter, that of a normal tail does. A NaN argument must give a NaN
// in r or h.
#pragma once

#include "kernels/predictor.hpp"
#include "models/all.hpp"

PYDPMC_ISA_BEGIN

struct Terms {
  F8 r, h;
};

template <class Model>
constexpr bool has_terms = false;
template <>
inline constexpr bool has_terms<LogisticRegression> = true;
template <>
inline constexpr bool has_terms<BernoulliLogit> = true;
template <>
inline constexpr bool has_terms<LinearRegression> = true;
template <>
inline constexpr bool has_terms<HuberRegression> = true;
template <>
inline constexpr bool has_terms<PoissonRegression> = true;
template <>
inline constexpr bool has_terms<NegativeBinomialRegression> = true;
template <>
inline constexpr bool has_terms<ProbitRegression> = true;

// Several predictors: kernels/curvature/softmax_look.hpp.
template <>
inline constexpr bool has_terms<SoftmaxRegression> = true;

PYDPMC_INLINE F8 clamp(F8 x, double most) noexcept {
  return max(min(x, fill(most)), fill(-most)) + (x - x);  // x - x keeps a NaN
}

PYDPMC_INLINE Terms terms_of(LogisticRegression, F8 eta, F8 y, const Prepared&, const double*) noexcept {
  const F8 p = logistic(eta);
  return {y - p, p * (1.0 - p)};
}

PYDPMC_INLINE Terms terms_of(BernoulliLogit, F8 x, F8, const Prepared& p, const double*) noexcept {
  return {x - p.c, fill(p.c * (1.0 - p.c))};
}

// limits = {largest residual}.
PYDPMC_INLINE Terms terms_of(LinearRegression, F8 eta, F8 y, const Prepared& p,
                             const double* limits) noexcept {
  const double precision = p.a * p.a;
  return {clamp(y - eta, limits[0]) * precision, fill(precision)};
}

PYDPMC_INLINE Terms terms_of(HuberRegression, F8 eta, F8 y, const Prepared& p, const double*) noexcept {
  const F8 z = (y - eta) * p.a;
  return {clamp(z, p.b) * p.a, select(abs(z) < fill(p.b), fill(p.a * p.a), fill(0.0))};
}

// limits = {largest y, largest log mean}; above the latter the mean is constant.
PYDPMC_INLINE Terms terms_of(PoissonRegression, F8 eta, F8 y, const Prepared&,
                             const double* limits) noexcept {
  const F8 top = fill(limits[1]), mean = exp(min(eta, top));
  const F8 count = max(min(y, fill(limits[0])), fill(0.0)) + (y - y);
  return {count - mean + (eta - eta), select(eta < top, mean, fill(0.0))};
}

// limits as for Poisson; the score of the likelihood and its Fisher information.
PYDPMC_INLINE Terms terms_of(NegativeBinomialRegression, F8 eta, F8 y, const Prepared& p,
                             const double* limits) noexcept {
  const F8 top = fill(limits[1]), mean = exp(min(eta, top)), weight = 1.0 / (mean * p.a + 1.0);
  const F8 count = max(min(y, fill(limits[0])), fill(0.0)) + (y - y);
  return {(count - mean) * weight + (eta - eta), select(eta < top, mean * weight, fill(0.0))};
}

// y - Phi(eta), not the score of the likelihood, which has no bound.
PYDPMC_INLINE Terms terms_of(ProbitRegression, F8 eta, F8 y, const Prepared&, const double*) noexcept {
  const NormalTail of(eta);
  const F8 p = select(eta > fill(0.0), 1.0 - of.tail, of.tail);
  return {y - p + (eta - eta), normal_density_at_zero * of.bell};
}

PYDPMC_ISA_END

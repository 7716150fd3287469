// The terms of eight records in a look: r, the factor of x in the gradient, and h >= 0, the factor of x x' in
// the curvature. docs/privacy/newton.md bounds both from these formulas and the rounding of single
// operations; the accuracy of exp does not matter, that of a normal tail does. A NaN argument must give a NaN
// in r or h.
#pragma once

#include "kernels/curvature/look_grid.hpp"
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

// Whether the terms are read off a table.
template <class Model>
constexpr bool has_table = false;
template <>
inline constexpr bool has_table<PoissonRegression> = true;
template <>
inline constexpr bool has_table<NegativeBinomialRegression> = true;

// Bounds on |r| and on h, whatever the record; infinite where none is known.
struct TermBounds {
  double r, h;
};

PYDPMC_INLINE F8 clamp(F8 x, double most) noexcept {
  return max(min(x, fill(most)), fill(-most)) + (x - x);  // x - x keeps a NaN
}

PYDPMC_INLINE Terms terms_of(LogisticRegression, F8 eta, F8 y, const Quotient& odds) noexcept {
  const F8 p = logistic(eta, odds);
  return {y - p, p * (1.0 - p)};
}

PYDPMC_INLINE Terms terms_of(LogisticRegression model, F8 eta, F8 y, const Prepared&,
                             const TermLimits&) noexcept {
  return terms_of(model, eta, y, model.odds(eta));
}

PYDPMC_INLINE TermBounds bounds_of(LogisticRegression, const Prepared&, const TermLimits&) noexcept {
  return {1.0, 0.25};
}

PYDPMC_INLINE Terms terms_of(BernoulliLogit, F8 x, F8, const Prepared& p, const TermLimits&) noexcept {
  return {x - p.c, fill(p.c * (1.0 - p.c))};
}

PYDPMC_INLINE TermBounds bounds_of(BernoulliLogit, const Prepared&, const TermLimits&) noexcept {
  return {1.0, 0.25};
}

// limits = {largest residual}.
PYDPMC_INLINE Terms terms_of(LinearRegression, F8 eta, F8 y, const Prepared& p,
                             const TermLimits& limits) noexcept {
  const double precision = p.a * p.a;
  return {clamp(y - eta, limits[0]) * precision, fill(precision)};
}

PYDPMC_INLINE TermBounds bounds_of(LinearRegression, const Prepared& p, const TermLimits& limits) noexcept {
  return {limits[0] * (p.a * p.a), p.a * p.a};
}

PYDPMC_INLINE Terms terms_of(HuberRegression, F8 eta, F8 y, const Prepared& p, const TermLimits&) noexcept {
  const F8 z = (y - eta) * p.a;
  return {clamp(z, p.b) * p.a, select(abs(z) < fill(p.b), fill(p.a * p.a), fill(0.0))};
}

PYDPMC_INLINE TermBounds bounds_of(HuberRegression, const Prepared& p, const TermLimits&) noexcept {
  return {p.b * p.a, p.a * p.a};
}

// limits = {largest |r|, largest y}. The table holds w, v and h at its predictors, and is linear between
// them: r = w y - v, clamped. docs/privacy/newton.md, lemma 5, needs |r| <= limits[0] and nothing of the
// table.
PYDPMC_INLINE Terms count_terms(F8 eta, F8 y, const TermLimits& limits) noexcept {
  const F8 end = fill(static_cast<double>(limits.cells)), zero = fill(0.0);
  const F8 place = min(max((eta - limits.first) * limits.per_unit, zero), end);  // 0 if eta is no number
  double at[lanes], w[lanes], v[lanes], h[lanes];
  store(at, place);
  for (int k = 0; k < lanes; ++k) {
    const int64_t cell = static_cast<int64_t>(at[k]), i = cell < limits.cells ? cell : limits.cells - 1;
    const double *row = limits.table + 3 * i, beyond = at[k] - static_cast<double>(i);
    w[k] = row[0] + beyond * (row[3] - row[0]);
    v[k] = row[1] + beyond * (row[4] - row[1]);
    h[k] = row[2] + beyond * (row[5] - row[2]);
  }
  const F8 count = max(min(y, fill(limits[1])), zero) + (y - y);
  return {clamp(load(w) * count - load(v), limits[0]) + (eta - eta), load(h)};
}

PYDPMC_INLINE Terms terms_of(PoissonRegression, F8 eta, F8 y, const Prepared&,
                             const TermLimits& limits) noexcept {
  return count_terms(eta, y, limits);
}

PYDPMC_INLINE Terms terms_of(NegativeBinomialRegression, F8 eta, F8 y, const Prepared&,
                             const TermLimits& limits) noexcept {
  return count_terms(eta, y, limits);
}

template <class Counts>
  requires has_table<Counts>
PYDPMC_INLINE TermBounds bounds_of(Counts, const Prepared&, const TermLimits& limits) noexcept {
  return {limits[0], __builtin_inf()};
}

// y - Phi(eta), not the score of the likelihood, which has no bound.
PYDPMC_INLINE Terms terms_of(ProbitRegression, F8 eta, F8 y, const Prepared&, const TermLimits&) noexcept {
  const NormalTail of(eta);
  const F8 p = select(eta > fill(0.0), 1.0 - of.tail, of.tail);
  return {y - p + (eta - eta), normal_density_at_zero * of.bell};
}

PYDPMC_INLINE TermBounds bounds_of(ProbitRegression, const Prepared&, const TermLimits&) noexcept {
  return {1.0, normal_density_at_zero};
}

PYDPMC_ISA_END

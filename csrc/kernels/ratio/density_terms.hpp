// What eight records add to the log-likelihood and its gradient.
#pragma once

#include "kernels/odds.hpp"
#include "kernels/predictor.hpp"

PYDPMC_ISA_BEGIN

// Lane k sums records k, k + 8, k + 16 and so on of a block. The factors of log-likelihoods are multiplied,
// and their logarithm is taken once for several.
struct DensitySums {
  F8 loglik = fill(0.0), first = fill(0.0), second = fill(0.0);
  Quotient factors{fill(1.0), fill(1.0)};
  int pending = 0;

  PYDPMC_INLINE void take_logarithm() noexcept {
    loglik = loglik - log_from_one(factors.above / factors.below);
    factors = {fill(1.0), fill(1.0)};
    pending = 0;
  }
};

// Adds the terms of eight records, of which the first `count` are counted; returns what multiplies their
// rows.
template <class Model>
PYDPMC_INLINE F8 add_clamped(F8 eta, F8 y, int count, const Prepared& p, const LoglikRange& range,
                             DensitySums& sums) noexcept {
  const F8 loglik = Model::loglik(eta, y, p);
  const Score score = Model::score(eta, y, p);
  const F8 clamped = min(max(loglik, fill(range.low)), fill(range.high)), none = fill(0.0);
  const I8 free = clamped == loglik;
  const auto counted = [&](F8 x) PYDPMC_LAMBDA { return count < lanes ? only_first(count, x) : x; };
  const F8 slope = counted(select(free, score.first, none));
  sums.loglik = sums.loglik + counted(select(loglik == loglik, clamped, none));
  sums.first = sums.first + slope;
  sums.second = sums.second + counted(select(free, score.second, none));
  return slope;
}

// The same without a range, for a model with factored log-likelihoods.
template <class Model>
PYDPMC_INLINE F8 add_factored(F8 eta, F8 y, const Quotient& odds, int count, DensitySums& sums) noexcept {
  constexpr int together = 8;  // the product stays below 2.5^8
  const FactoredLoglik terms = Model::factored(eta, y, odds);
  const F8 none = fill(0.0), one = fill(1.0);
  const auto counted = [&](F8 x, F8 otherwise) PYDPMC_LAMBDA {
    const F8 found = select(terms.linear == terms.linear, x, otherwise);
    return count < lanes ? select(only_first(count, one) == one, found, otherwise) : found;
  };
  const F8 slope = counted(terms.score.first, none);
  sums.loglik = sums.loglik + counted(terms.linear, none);
  sums.first = sums.first + slope;
  sums.factors.above = sums.factors.above * counted(terms.factor.above, one);
  sums.factors.below = sums.factors.below * counted(terms.factor.below, one);
  if (++sums.pending == together) sums.take_logarithm();
  return slope;
}

// Whether log-likelihoods are summed by factors; public facts alone decide.
template <class Model>
constexpr bool by_factors(const LoglikRange& range) noexcept {
  constexpr double infinite = __builtin_inf();
  if constexpr (requires(F8 x, const Quotient& odds) { Model::factored(x, x, odds); })
    return range.low == -infinite && range.high == infinite;
  return false;
}

// Adds the terms of records 0 .. count-1 in groups of eight; writes what multiplies their
// rows.
template <class Model>
PYDPMC_INLINE void add_terms(const double* eta, const double* y, int count, const Prepared& p,
                             const LoglikRange& range, DensitySums& sums, double* weight) noexcept {
  if constexpr (has_odds<Model>)
    if (by_factors<Model>(range)) {
      const Odds<Model> odds(eta, count);
      for (int r = 0; r < count; r += lanes)
        store(weight + r, add_factored<Model>(load(eta + r), load(y + r), odds.at(r), count - r, sums));
      return;
    }
  for (int r = 0; r < count; r += lanes)
    store(weight + r, add_clamped<Model>(load(eta + r), load(y + r), count - r, p, range, sums));
}

// Writes all but the gradient of slopes; returns where that belongs.
template <class Model>
PYDPMC_INLINE double* finish_density(const ModelSpec& spec, DensitySums& sums, double* out) noexcept {
  const int shift = spec.intercept || !Model::has_slopes ? 1 : 0;
  const int columns = Model::has_slopes ? spec.columns : 0;
  if (sums.pending > 0) sums.take_logarithm();
  out[0] = sum_lanes(sums.loglik);
  if (shift) out[1] = sum_lanes(sums.first);
  if (spec.dim > columns + shift) out[spec.dim] = sum_lanes(sums.second);
  return out + 1 + shift;
}

PYDPMC_ISA_END

// Softmax of eight records with one linear predictor per class. Lanes are records and never mix; classes are
// taken in order, so that a record's value depends on the record and theta alone. A target that is not a
// class gives NaN, and so do predictors that are not finite.
#pragma once

#include "kernels/predictor.hpp"

PYDPMC_ISA_BEGIN

// Writes the predictors of class c to p.scratch[8 c ..] and returns the largest predictor of each record.
template <class Scalar>
PYDPMC_INLINE F8 class_predictors(const Scalar* const (&row)[lanes], int columns,
                                  const Prepared& p) noexcept {
  const double* slopes = p.slopes;
  F8 top = fill(-__builtin_inf());
  for (int c = 0; c < p.predictors; ++c, slopes += padded(columns)) {
    const F8 predictor = dot8(row, slopes, columns, fetch_nothing) + p.offsets[c];
    store(p.scratch + c * lanes, predictor);
    top = max(top, predictor);
  }
  return top;
}

// Log-likelihoods from the predictors in p.scratch.
PYDPMC_INLINE F8 log_share(F8 y, F8 top, const Prepared& p) noexcept {
  F8 total = fill(0.0), own = fill(__builtin_nan(""));
  for (int c = 0; c < p.predictors; ++c) {
    const F8 below = load(p.scratch + c * lanes) - top;
    total = total + exp_below_zero(below);
    own = select(y == fill(c), below, own);
  }
  return own - log_from_one(total);
}

template <class Scalar>
PYDPMC_INLINE F8 softmax_loglik(const Scalar* const (&row)[lanes], int columns, F8 y,
                                const Prepared& p) noexcept {
  return log_share(y, class_predictors(row, columns, p), p);
}

// Turns the predictors in p.scratch into residuals 1{y = c} - P(c); returns their squared norms.
PYDPMC_INLINE F8 softmax_residuals(F8 y, F8 top, const Prepared& p) noexcept {
  F8 total = fill(0.0);
  for (int c = 0; c < p.predictors; ++c) {
    const F8 share = exp_below_zero(load(p.scratch + c * lanes) - top);
    store(p.scratch + c * lanes, share);
    total = total + share;
  }
  F8 squares = fill(0.0), found = fill(0.0);
  for (int c = 0; c < p.predictors; ++c) {
    const F8 own = select(y == fill(c), fill(1.0), fill(0.0));
    const F8 residual = own - load(p.scratch + c * lanes) / total;
    store(p.scratch + c * lanes, residual);
    squares = squares + residual * residual;
    found = found + own;
  }
  return select(found > fill(0.0), squares, fill(__builtin_nan("")));
}

PYDPMC_ISA_END

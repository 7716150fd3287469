// kernels/ratio/density.hpp for a softmax, which has a predictor per class.
#pragma once

#include "kernels/ratio/ratio.hpp"
#include "kernels/ratio/weighted_rows.hpp"

PYDPMC_ISA_BEGIN

// out = {log-likelihood, gradient[dim]} of rows begin .. end-1; `sums` has room for padded(columns) numbers
// per class.
template <class Model, class Scalar>
inline void sum_softmax_density(const ModelSpec& spec, const Table<Scalar>& table, int64_t begin, int64_t end,
                                const Prepared& p, const LoglikRange& range, double* sums,
                                double* out) noexcept {
  const int columns = spec.columns, classes = spec.predictors, width = padded(columns);
  double* gradient = out + 1 + (spec.intercept ? classes : 0);
  F8 logliks = fill(0.0);
  for (int j = 0; j < classes * width; ++j) sums[j] = 0.0;
  for (int j = 0; j <= spec.dim; ++j) out[j] = 0.0;
  Block<Scalar> block(table);
  block.most = lanes;
  for (int64_t i = begin; i < end; i += lanes) {
    block.move_to(table, i, end);
    Rows<Scalar> row;
    block.eight(0, row);
    fetch_consecutive(table, i);
    const F8 y = targets<Model>(row, columns), top = class_predictors(row, columns, p);
    const F8 loglik = log_share(y, top, p);
    const F8 clamped = min(max(loglik, fill(range.low)), fill(range.high));
    logliks = logliks + only_first(block.count, select(loglik == loglik, clamped, fill(0.0)));
    softmax_residuals(y, top, p);
    for (int c = 0; c < classes; ++c) {
      double weight[lanes];
      const F8 residual =
          only_first(block.count, select(clamped == loglik, load(p.scratch + c * lanes), fill(0.0)));
      store(weight, residual * unit_of<Scalar>);
      add_weighted(block, weight, nullptr, sums + c * width);
      if (spec.intercept) out[1 + c] += sum_lanes(residual);
    }
  }
  out[0] = sum_lanes(logliks);
  for (int c = 0; c < classes; ++c) copy(gradient + c * columns, sums + c * width, columns);
}

PYDPMC_ISA_END

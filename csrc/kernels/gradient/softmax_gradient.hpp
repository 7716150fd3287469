// Gradients of a softmax: (residual of each class) x (row). The norm is a product of two norms, and one
// factor scales the whole gradient, so the b x k x d array of gradients is never stored.
#pragma once

#include "kernels/gradient/group.hpp"

PYDPMC_ISA_BEGIN

// Adds factor_of(norm^2) times the gradients of row_of(0) .. row_of(count-1), each times weight_of its place,
// to sums[0 .. dim-1]; returns how many had a finite norm and were added.
template <class Model, class Scalar, class RowOf, class WeightOf, class FactorOf, class Sum>
inline int64_t add_softmax_gradients(const ModelSpec& spec, const Table<Scalar>& table, const Prepared& p,
                                     const RowOf& row_of, const WeightOf& weight_of, int64_t count,
                                     const FactorOf& factor_of, Sum* sums) noexcept {
  const int columns = table.columns;
  Sum* slopes = sums + (spec.intercept ? spec.predictors : 0);
  int64_t added = 0;
  for (int64_t i = 0; i < count; i += lanes) {
    const int here = rest_of(i, count);
    Rows<Scalar> row;
    for (int k = 0; k < lanes; ++k) row[k] = row_of(k < here ? i + k : i);
    const F8 top = class_predictors(row, columns, p);
    double residual2[lanes];
    store(residual2, softmax_residuals(targets<Model>(row, columns), top, p));
    for (int k = 0; k < here; ++k) {
      const double row2 = squared_norm(row[k], nullptr, columns) + (spec.intercept ? 1.0 : 0.0);
      const double weight = weight_of(i + k),
                   norm2 = gradient_norm2(row2, residual2[k] * (weight * weight), 0.0);
      if (norm2 == __builtin_inf()) continue;
      const double factor = factor_of(norm2) * weight;
      for (int c = 0; c < spec.predictors; ++c) {
        const double scale = p.scratch[c * lanes + k] * factor;
        add_row(slopes + static_cast<int64_t>(c) * columns, row[k], nullptr, scale, columns);
        if (spec.intercept) add_scalar(sums + c, scale);
      }
      ++added;
    }
  }
  return added;
}

PYDPMC_ISA_END

// One look at all records of a softmax.
#pragma once

#include "kernels/curvature/look.hpp"
#include "kernels/softmax.hpp"

PYDPMC_ISA_BEGIN

// Several predictors: the gradient is (residual of each class) x (row), the curvature is h = 1: the second
// moments of the rows, which the classes share.
template <class Model, class Scalar>
[[gnu::noinline]] void add_softmax_look(const ModelSpec& spec, const Table<Scalar>& table,
                                        const Records& records, const Prepared& p, int64_t begin, int64_t end,
                                        const LookGrid& grid, double* q, int64_t* sums,
                                        int64_t* products) noexcept {
  const LookShape<Model> shape(spec);
  int64_t* slopes = sums + (spec.intercept ? spec.predictors : 0);
  int64_t added = 0;
  for (int64_t i = 0; i < look_block * shape.width; ++i) q[i] = 0.0;
  for (int64_t first = begin; first < end; first += look_block) {
    const int64_t last = end - first < look_block ? end : first + look_block;
    int filled = 0;
    for (int64_t i = first; i < last; i += lanes) {
      const int here = rest_of(i, last);
      Rows<Scalar> row;
      consecutive_rows(table, i, here, row);
      const F8 top = class_predictors(row, table.columns, p), y = targets<Model>(row, table.columns);
      const F8 residual2 = softmax_residuals(y, top, p), weight = look_weights(records.weights, i, here);
      const F8 row2 = look_squares(shape, row, i, here, records.squares);
      const LookFactors factors = look_factors(residual2 * (weight * weight), weight, row2, grid);
      const unsigned trusted = bits_of(factors.trusted);
      double scale[lanes], root[lanes];
      store(scale, weight * factors.scale);
      store(root, factors.root);
      for (int k = 0; k < here; ++k) {
        if (!(trusted >> k & 1)) continue;
        ++added;
        write_root(shape, row[k], root[k], q + filled++ * shape.width);
        for (int c = 0; c < spec.predictors; ++c) {
          const double factor = p.scratch[c * lanes + k] * scale[k];
          add_row(slopes + static_cast<int64_t>(c) * shape.columns, row[k], nullptr, factor, shape.columns);
          if (spec.intercept) add_scalar(sums + c, factor);
        }
      }
    }
    add_outer_products(q, filled, shape.dim, shape.width, grid.tiles, products);
  }
  remove_magic(sums, spec.dim, added);
}

PYDPMC_ISA_END

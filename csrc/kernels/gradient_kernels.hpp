// The gradient sums as the dispatcher calls them: of a range of records, or of those in a batch.
#pragma once

#include "kernels/softmax_gradient.hpp"

PYDPMC_ISA_BEGIN

template <class Model, class Scalar, class RowOf>
inline void clipped_gradients(const ModelSpec& spec, const Table<Scalar>& table, const double* theta,
                              double* slopes, const RowOf& row_of, int64_t count, const GradientGrid& grid,
                              int64_t* sums) noexcept {
  const Prepared p = Model::prepare(spec, theta, slopes);
  const auto factor_of = [&](double norm2) PYDPMC_LAMBDA { return onto_grid(norm2, grid); };
  int64_t added;
  if constexpr (Model::has_classes)
    added = add_softmax_gradients<Model>(spec, table, p, row_of, count, factor_of, sums);
  else
    added = add_gradients<Model>(spec, table, p, row_of, count, factor_of, sums);
  remove_magic(sums, spec.dim, added);
}

inline void full_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                          int64_t begin, int64_t end, const GradientGrid& grid, int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(begin + i); };
    clipped_gradients<Model>(spec, table, theta, slopes, row_of, end - begin, grid, sums);
  });
}

inline void batch_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                           const uint32_t* index, int64_t count, const GradientGrid& grid,
                           int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(index[i]); };
    clipped_gradients<Model>(spec, table, theta, slopes, row_of, count, grid, sums);
  });
}

PYDPMC_ISA_END

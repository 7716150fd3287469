// The gradient sums that the dispatcher calls. A unit is a record or, if there are groups, a group. The
// gradients of a group's records are summed in the order of its rows, and the sum is clipped and rounded. A
// group of one record counts exactly as the record would.
#pragma once

#include "kernels/gradient/block_gradient.hpp"
#include "kernels/gradient/coded_gradient.hpp"
#include "kernels/gradient/record.hpp"
#include "kernels/gradient/softmax_gradient.hpp"

PYDPMC_ISA_BEGIN

// Adds the clipped gradients of records to the integer sums; returns how many were added.
template <class Model, class Scalar>
[[gnu::noinline]] int64_t add_records(const ModelSpec& spec, const Table<Scalar>& table,
                                      const Records& records, const Prepared& p, const Batch& batch,
                                      const GradientGrid& grid, int64_t* sums) noexcept {
  if constexpr (Model::has_classes) {
    const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(batch.at(i)); };
    const auto weight_of = [&](int64_t i) PYDPMC_LAMBDA { return records.weights.of(batch.at(i)); };
    const auto factor_of = [&](double norm2) PYDPMC_LAMBDA { return onto_grid(norm2, grid); };
    return add_softmax_gradients<Model>(spec, table, p, row_of, weight_of, batch.count, factor_of, sums);
  } else {
    const RowSquares& squares = records.squares;
    if (!batch.index && !records.weights && makes_blocks(table))
      return add_block_gradients<Model>(spec, table, squares, p, batch.first, batch.count, grid, sums);
    return add_record_gradients<Model>(spec, table, squares, records.weights, p, batch, grid, sums);
  }
}

// Adds the gradients of rows begin .. begin+count-1, in floating point, to `total`.
template <class Model, class Scalar>
inline int64_t add_unclipped(const ModelSpec& spec, const Table<Scalar>& table, const RowWeights& weights,
                             const Prepared& p, int64_t begin, int64_t count, double* total) noexcept {
  const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(begin + i); };
  const auto weight_of = [&](int64_t i) PYDPMC_LAMBDA { return weights.of(begin + i); };
  const auto unscaled = [](double) PYDPMC_LAMBDA { return 1.0; };
  if constexpr (Model::has_classes)
    return add_softmax_gradients<Model>(spec, table, p, row_of, weight_of, count, unscaled, total);
  else
    return add_gradients<Model>(spec, table, p, row_of, weight_of, count, unscaled, total);
}

// A sum of gradients with a larger square adds nothing; the bound is far from overflow.
constexpr double largest_group_square = 0x1p1000;

// Adds the clipped gradient of a group to the integer sums; returns 1, or 0 if there is nothing to add.
template <class Model, class Scalar>
inline int64_t add_group(const ModelSpec& spec, const Records& records, const Table<Scalar>& table,
                         const Prepared& p, int64_t group, const GradientGrid& grid, double* total,
                         int64_t* sums) noexcept {
  const int64_t begin = records.first_row(group), rows = records.first_row(group + 1) - begin;
  if (rows == 1) return add_records<Model>(spec, table, records, p, {nullptr, 1, begin}, grid, sums);
  for (int j = 0; j < spec.dim; ++j) total[j] = 0.0;
  if (add_unclipped<Model>(spec, table, records.weights, p, begin, rows, total) == 0) return 0;
  const double norm2 = squared_norm(total, nullptr, spec.dim);
  if (!(norm2 <= largest_group_square)) return 0;
  add_row(sums, total, nullptr, onto_grid(norm2, grid), spec.dim);
  return 1;
}

// Adds the clipped gradients of the units of a batch to sums[0 .. dim-1].
inline void gradient_sums(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                          const Batch& batch, const GradientGrid& grid, int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes)
      if (records.coded && !records.weights)
        return add_coded<Model>(spec, records.coded, p, slopes + prepared_size(spec), batch, grid, sums);
    int64_t added = 0;
    if (records.group_start) {
      double* total = slopes + 2 * prepared_size(spec);
      for (int64_t i = 0; i < batch.count; ++i)
        added += add_group<Model>(spec, records, table, p, batch.at(i), grid, total, sums);
    } else {
      added = add_records<Model>(spec, table, records, p, batch, grid, sums);
    }
    remove_magic(sums, spec.dim, added);
  });
}

PYDPMC_ISA_END

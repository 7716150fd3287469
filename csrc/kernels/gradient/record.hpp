// Clipped gradients of single records, eight at a time: the common case, bit for bit equal to
// kernels/gradient/group.hpp.
#pragma once

#include "kernels/gradient/gradient_norm.hpp"
#include "kernels/gradient/gradient_sums.hpp"
#include "kernels/gradient/group.hpp"
#include "kernels/row_queue.hpp"

PYDPMC_ISA_BEGIN

// The gradient of a record is (first x, [first], [second]), or (first, second) for models without slopes.
template <class Model>
struct GradientShape {
  int columns, shift, dim;
  const double* centre;  // the factor multiplies x - centre
  bool extra;            // whether there is a `second`

  GradientShape(const ModelSpec& spec, const Prepared& p) noexcept
      : columns(spec.columns),
        shift(spec.intercept ? 1 : 0),
        dim(spec.dim),
        centre(Model::has_target || !Model::has_slopes ? nullptr : p.slopes),
        extra(Model::has_slopes ? spec.dim > columns + shift : spec.dim > 1) {}

  template <class Scalar>
  PYDPMC_INLINE F8 row_squares(const Rows<Scalar>& row, const int64_t (&id)[lanes],
                               const RowSquares& squares) const noexcept {
    if constexpr (!Model::has_slopes) return fill(1.0);
    if (centre || !squares)
      return gather([&](int k) PYDPMC_LAMBDA { return squared_norm(row[k], centre, columns); }) + shift;
    return gather([&](int k) PYDPMC_LAMBDA { return *squares.of(id[k]); }) + shift;
  }

  // Adds the gradients of eight rows times their scales.
  template <class Scalar, class Fetch>
  PYDPMC_INLINE void add8(int64_t* sums, const Rows<Scalar>& row, const double* first, const double* second,
                          const Fetch& fetch) const noexcept {
    if constexpr (Model::has_slopes) add_rows(sums + shift, row, centre, first, columns, fetch);
    for (int k = 0; k < lanes; ++k) add_scalars(sums, first[k], second[k]);
  }

  template <class Scalar>
  PYDPMC_INLINE void add1(int64_t* sums, const Scalar* row, double first, double second) const noexcept {
    if constexpr (Model::has_slopes) add_row(sums + shift, row, centre, first, columns);
    add_scalars(sums, first, second);
  }

 private:
  PYDPMC_INLINE void add_scalars(int64_t* sums, double first, double second) const noexcept {
    if (shift || !Model::has_slopes) add_scalar(sums, first);
    if (extra) add_scalar(sums + dim - 1, second);
  }
};

// The scores of eight records, times their weights.
PYDPMC_INLINE Score weighted(const Score& score, const int64_t (&id)[lanes],
                             const RowWeights& weights) noexcept {
  const F8 weight = gather([&](int k) PYDPMC_LAMBDA { return weights.of(id[k]); });
  return {score.first * weight, score.second * weight};
}

// Adds the clipped gradients of the records of a batch to sums[0 .. dim-1]; returns how many had a finite
// norm and were added.
template <class Model, class Scalar>
[[gnu::noinline]] int64_t add_record_gradients(const ModelSpec& spec, const Table<Scalar>& table,
                                               const RowSquares& squares, const RowWeights& weights,
                                               const Prepared& p, const Batch& batch,
                                               const GradientGrid& grid, int64_t* sums) noexcept {
  const GradientShape<Model> shape(spec, p);
  RowQueue<Scalar> queue(table, squares, batch);
  int64_t added = 0;
  for (int64_t i = 0; i < batch.count; i += lanes) {
    queue.advance(i);
    const EightRows<Scalar>&now = queue.now(), &fetch = queue.ahead();
    Score score = Model::score(predict<Model>(now.row, table.columns, p, fetch),
                               targets<Model>(now.row, table.columns), p);
    if (weights) score = weighted(score, now.id, weights);
    const F8 second2 = !Model::has_slopes || shape.extra ? score.second * score.second : fill(0.0);
    const F8 scale =
        clipped_scale(shape.row_squares(now.row, now.id, squares), score.first * score.first, second2, grid);
    double first[lanes], second[lanes];
    store(first, score.first * scale);
    store(second, score.second * scale);
    const unsigned trusted = bits_of(fill(0.0) <= scale) & ((1u << rest_of(i, batch.count)) - 1);
    added += __builtin_popcount(trusted);
    if (trusted == 255) {
      shape.add8(sums, now.row, first, second, fetch);
    } else {
      for (int k = 0; k < lanes; ++k)
        if (trusted >> k & 1) shape.add1(sums, now.row[k], first[k], second[k]);
    }
  }
  return added;
}

PYDPMC_ISA_END

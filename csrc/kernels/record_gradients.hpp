// Clipped gradients of single records, eight at a time: the common case, and what kernels/gradient.hpp
// computes, to the last bit. Rows are fetched two rounds ahead, while others are worked on.
#pragma once

#include "kernels/gradient.hpp"
#include "kernels/gradient_norm.hpp"
#include "kernels/gradient_sums.hpp"

PYDPMC_ISA_BEGIN

// The gradient of a record is (first x, [first], [second]), or (first, second) for models without slopes.
template <class Model>
struct GradientShape {
  int columns, shift, dim;
  const double* centre;  // x - centre in place of x
  bool extra;            // has `second`

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

  // The gradients of eight rows, times their scales.
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

// Fetches eight rows of a batch into the second-level cache: their ends, where the targets are, and what the
// model keeps of them at once, the rest when called.
template <class Scalar>
struct RowsAhead {
  Rows<Scalar> row;

  PYDPMC_INLINE RowsAhead(const Table<Scalar>& table, const RowSquares& squares, const Batch& batch,
                          int64_t i) noexcept {
    for (int k = 0; k < lanes; ++k) {
      const int64_t id = batch.at_or_after(i + k);
      row[k] = table.row(id);
      __builtin_prefetch(row[k] + table.columns, 0, 2);
      if (squares) __builtin_prefetch(squares.of(id), 0, 2);
    }
  }
  // Columns j .. j+7 of two rows.
  PYDPMC_INLINE void operator()(int r, int j) const noexcept {
    __builtin_prefetch(row[r] + j, 0, 2);
    __builtin_prefetch(row[r + 1] + j, 0, 2);
  }
};

// Adds the clipped gradients of the records of a batch to sums[0 .. dim-1]; returns how many could be trusted
// and were added.
template <class Model, class Scalar>
[[gnu::noinline]] int64_t add_record_gradients(const ModelSpec& spec, const Table<Scalar>& table,
                                               const RowSquares& squares, const Prepared& p,
                                               const Batch& batch, const GradientGrid& grid,
                                               int64_t* sums) noexcept {
  constexpr int64_t distance = 2 * lanes;
  const GradientShape<Model> shape(spec, p);
  int64_t added = 0;
  for (int64_t i = 0; i < batch.count; i += lanes) {
    const int here = rest_of(i, batch.count);
    Rows<Scalar> row;
    int64_t id[lanes];
    for (int k = 0; k < lanes; ++k) row[k] = table.row(id[k] = batch.at(k < here ? i + k : i));
    const RowsAhead<Scalar> fetch(table, squares, batch, i + distance);
    const Score score =
        Model::score(predict<Model>(row, table.columns, p, fetch), targets<Model>(row, table.columns), p);
    const F8 second2 = !Model::has_slopes || shape.extra ? score.second * score.second : fill(0.0);
    const F8 scale =
        clipped_scale(shape.row_squares(row, id, squares), score.first * score.first, second2, grid);
    double scales[lanes], first[lanes], second[lanes];
    store(scales, scale);
    store(first, score.first * scale);
    store(second, score.second * scale);
    bool all = here == lanes;
    for (int k = 0; k < lanes; ++k) all &= scales[k] >= 0;
    if (all) shape.add8(sums, row, first, second, fetch);
    for (int k = 0; k < here; ++k) {
      if (!all && scales[k] >= 0) shape.add1(sums, row[k], first[k], second[k]);
      added += scales[k] >= 0;
    }
  }
  return added;
}

PYDPMC_ISA_END

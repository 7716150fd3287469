// One look at all records: the sums of r x on the gradient's grid and of the outer products of
// nearest(sqrt(h) x / step), both in exact integers. A record whose terms are not finite adds nothing.
#pragma once

#include "kernels/curvature/look_factors.hpp"
#include "kernels/curvature/outer_products.hpp"
#include "kernels/gradient/block_gradient.hpp"

PYDPMC_ISA_BEGIN

// The columns of a look: those of x after a 1 if there is an intercept, or the 1 alone.
template <class Model>
struct LookShape {
  int columns, shift, dim;
  int64_t width;

  explicit LookShape(const ModelSpec& spec) noexcept
      : columns(Model::has_slopes ? spec.columns : 0),
        shift(!Model::has_slopes || spec.intercept ? 1 : 0),
        dim(columns + shift),
        width(static_cast<int64_t>(look_width(curvature_dim(spec)))) {}
};

// |x|^2 of the records at i, with the intercept's 1.
template <class Model, class Scalar>
PYDPMC_INLINE F8 look_squares(const LookShape<Model>& shape, const Rows<Scalar>& row, int64_t i, int here,
                              const RowSquares& squares) noexcept {
  if constexpr (!Model::has_slopes) return fill(1.0);
  return gather([&](int k) PYDPMC_LAMBDA {
           const int64_t id = i + (k < here ? k : 0);
           return squares ? *squares.of(id) : squared_norm(row[k], nullptr, shape.columns);
         }) +
         shape.shift;
}

// As write_root. Rows of four or more columns are read in whole groups of four, which may spill over into the
// start of the next row of q: it is written later.
template <class Model, class Scalar>
PYDPMC_INLINE void write_short_root(const LookShape<Model>& shape, const Scalar* row, double factor,
                                    double* q) noexcept {
  constexpr int narrow = native_lanes < 4 ? native_lanes : 4;
  const auto nearest = [](auto x) PYDPMC_LAMBDA { return (x + rounding_magic) - rounding_magic; };
  if (shape.shift) q[0] = nearest(factor);
  double* to = q + shape.shift;
  const double scaled = factor * unit_of<Scalar>;
  int j = 0;
  for (; j + native_lanes <= shape.columns; j += native_lanes) {
    const NativeF whole = nearest(scaled * load_native(row + j));
    *reinterpret_cast<UnalignedF*>(to + j) = whole;
  }
  if (shape.columns < 4) {
    for (; j < shape.columns; ++j) to[j] = nearest(scaled * static_cast<double>(row[j]));
    return;
  }
  for (; j < shape.columns; j += narrow) {
    const auto whole = nearest(scaled * widen<narrow>(row + j));
    __builtin_memcpy(to + j, &whole, sizeof whole);
  }
  for (int k = shape.columns; k < j; ++k) to[k] = 0.0;
}

// (1, x_0, x_1, ..) without the last x.
template <class Vector>
PYDPMC_INLINE Vector after_one(Vector x) noexcept {
  const Vector one = Vector{} + 1.0;
  if constexpr (sizeof x == 64)
    return __builtin_shufflevector(one, x, 0, 8, 9, 10, 11, 12, 13, 14);
  else if constexpr (sizeof x == 32)
    return __builtin_shufflevector(one, x, 0, 4, 5, 6);
  else
    return __builtin_shufflevector(one, x, 0, 2);
}

// As write_root, for rows of at least `lanes` columns. Stores are aligned, but for the last one, which writes
// some columns again.
template <class Model, class Scalar>
PYDPMC_INLINE void write_long_root(const LookShape<Model>& shape, const Scalar* row, double factor,
                                   double* q) noexcept {
  const NativeF scaled = every<NativeF>(factor * unit_of<Scalar>);
  const auto write = [&](double* to, NativeF x) PYDPMC_LAMBDA {
    *reinterpret_cast<UnalignedF*>(to) = (scaled * x + rounding_magic) - rounding_magic;
  };
  int j = 0;
  if (shape.shift) {
    write(q, after_one(load_native(row)));
    q[0] = (factor + rounding_magic) - rounding_magic;
    j = native_lanes;
  }
  for (; j + native_lanes <= shape.dim; j += native_lanes) write(q + j, load_native(row + j - shape.shift));
  if (j < shape.dim) write(q + shape.dim - native_lanes, load_native(row + shape.columns - native_lanes));
}

// Sets q to the nearest integers of factor times ([1], x); it stays zero beyond the last column.
template <class Model, class Scalar>
PYDPMC_INLINE void write_root(const LookShape<Model>& shape, const Scalar* row, double factor,
                              double* q) noexcept {
  if (shape.columns >= lanes)
    write_long_root(shape, row, factor, q);
  else
    write_short_root(shape, row, factor, q);
}

template <class Model, class Scalar>
[[gnu::noinline]] void add_look(const ModelSpec& spec, const Table<Scalar>& table, const Records& records,
                                const Prepared& p, int64_t begin, int64_t end, const LookGrid& grid,
                                double* q, int64_t* sums, int64_t* products) noexcept {
  static_assert(most_block_records <= look_block);
  const LookShape<Model> shape(spec);
  const GradientShape<Model> of_gradient(spec, p);
  Block<Scalar> block(table);
  BlockFactors gradient;
  alignas(64) double root[most_block_records];
  const auto factors = choose_factors<Model>(records.weights, p, grid);
  int64_t added = 0;
  int filled = 0;
  const auto flush = [&] {
    add_outer_products(q, filled, shape.dim, shape.width, grid.tiles, products);
    filled = 0;
  };
  for (int64_t i = 0; i < look_block * shape.width; ++i) q[i] = 0.0;
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    square_block(block, of_gradient, records.squares, i, gradient.row2);
    const LookRecords seen{block.eta, block.y, gradient.row2, i, block.count, (block.count + 7) / 8 * 8};
    const uint64_t trusted = factors(seen, records.weights, p, grid, gradient.first, root);
    if (filled + block.count > look_block) flush();
    for (int r = 0; r < block.count; ++r)
      if (trusted >> r & 1) write_root(shape, block.row(r), root[r], q + filled++ * shape.width);
    const int here = __builtin_popcountll(trusted);
    added += here;
    if (here == block.count) {
      add_rows_of(block, of_gradient, gradient, sums);
    } else {
      for (int r = 0; r < block.count; ++r)
        if (trusted >> r & 1) of_gradient.add1(sums, block.row(r), gradient.first[r], 0.0);
    }
  }
  flush();
  remove_magic(sums, shape.dim, added);
}

PYDPMC_ISA_END

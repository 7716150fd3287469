// One look at all records: the sums of r x on the gradient's grid and of the outer products of
// nearest(sqrt(h) x / step), both in exact integers. A record whose terms are not finite adds nothing.
#pragma once

#include "kernels/curvature/outer_products.hpp"
#include "kernels/curvature/terms.hpp"
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

// The contributions of eight records: the scale that takes their gradients to the grid, the factor that takes
// x to the integers of the curvature, and which records count.
struct LookFactors {
  F8 scale, root;
  unsigned trusted;
};

// r2 is the squared norm of the factor (or factors, of several predictors) of x in the gradient.
PYDPMC_INLINE LookFactors look_factors(F8 r2, F8 h, F8 row2, const LookGrid& grid) noexcept {
  const F8 none = fill(-1.0), scale = clipped_scale(row2, r2, fill(0.0), grid.gradient);
  const F8 bounded = min(h, fill(grid.curvature_clip) / row2);  // no bound if the row is zero
  const F8 usable =
      select(row2 <= fill(grid.largest_square),
             select(fill(0.0) <= h, select(h <= fill(largest_square), scale, none), none), none);
  LookFactors factors;
  factors.scale = scale;
  factors.root = square_root(bounded) * grid.per_root;
  factors.trusted = bits_of(fill(0.0) <= usable);
  return factors;
}

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

// The weights of the records at i; one that is not a number voids its record.
PYDPMC_INLINE F8 look_weights(const RowWeights& weights, int64_t i, int here) noexcept {
  if (!weights) return fill(1.0);
  return gather([&](int k) PYDPMC_LAMBDA { return weights.of(i + (k < here ? k : 0)); });
}

// Sets q to the nearest integers of factor times ([1], x), and to zero beyond the last column. Rows of four
// or more columns are read in whole groups of four, which may spill over into the start of the next row of q:
// it is written later.
template <class Model, class Scalar>
PYDPMC_INLINE void write_root(const LookShape<Model>& shape, const Scalar* row, double factor,
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

// What takes the terms of a block of records to the grids.
struct LookBlock {
  BlockFactors gradient;
  alignas(64) double root[most_block_records];
};

// Bit r of the result is set if record r counts.
template <class Model, class Scalar>
PYDPMC_INLINE uint64_t look_block_factors(const Block<Scalar>& block, const Records& records, int64_t i,
                                          const Prepared& p, const LookGrid& grid, LookBlock& to) noexcept {
  uint64_t trusted = 0;
  for (int r = 0; r < block.count; r += lanes) {
    const Terms terms = terms_of(Model{}, load(block.eta + r), load(block.y + r), p, grid.limits);
    const F8 weight = look_weights(records.weights, i + r, rest_of(r, block.count));
    const F8 gradient = terms.r * weight, r2 = gradient * gradient;
    const LookFactors factors =
        look_factors(r2, grid.outer ? r2 : terms.h * weight, load(to.gradient.row2 + r), grid);
    store(to.gradient.first + r, gradient * factors.scale);
    store(to.root + r, factors.root);
    trusted |= uint64_t{factors.trusted} << r;
  }
  return trusted & ~uint64_t{0} >> (64 - block.count);
}

template <class Model, class Scalar>
[[gnu::noinline]] void add_look(const ModelSpec& spec, const Table<Scalar>& table, const Records& records,
                                const Prepared& p, int64_t begin, int64_t end, const LookGrid& grid,
                                double* q, int64_t* sums, int64_t* products) noexcept {
  static_assert(most_block_records <= look_block);
  const LookShape<Model> shape(spec);
  const GradientShape<Model> of_gradient(spec, p);
  Block<Scalar> block(table);
  LookBlock factors;
  int64_t added = 0;
  for (int64_t i = 0; i < look_block * shape.width; ++i) q[i] = 0.0;
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    square_block(block, of_gradient, records.squares, i, factors.gradient.row2);
    const uint64_t trusted = look_block_factors<Model>(block, records, i, p, grid, factors);
    const int here = __builtin_popcountll(trusted);
    added += here;
    if (here == block.count) {
      for (int r = 0; r < here; ++r) write_root(shape, block.row(r), factors.root[r], q + r * shape.width);
      add_rows_of(block, of_gradient, factors.gradient, sums);
    } else {
      double* next = q;
      for (int r = 0; r < block.count; ++r) {
        if (!(trusted >> r & 1)) continue;
        write_root(shape, block.row(r), factors.root[r], next);
        of_gradient.add1(sums, block.row(r), factors.gradient.first[r], 0.0);
        next += shape.width;
      }
    }
    add_outer_products(q, here, shape.dim, shape.width, grid.tiles, products);
  }
  remove_magic(sums, shape.dim, added);
}

PYDPMC_ISA_END

// One look at all records: the sums of r x on the gradient's grid and of the outer products of
// nearest(sqrt(h) x / step), both in exact integers. A record whose terms are not finite adds nothing.
#pragma once

#include "kernels/curvature/outer_products.hpp"
#include "kernels/curvature/terms.hpp"
#include "kernels/gradient/gradient_norm.hpp"
#include "kernels/gradient/gradient_sums.hpp"

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
  F8 scale;
  double root[lanes];
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
  store(factors.root, square_root(bounded) * grid.per_root);
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
PYDPMC_INLINE F8 look_weights(const double* weights, int64_t i, int here) noexcept {
  if (!weights) return fill(1.0);
  return gather([&](int k) PYDPMC_LAMBDA { return weights[i + (k < here ? k : 0)]; });
}

// Sets q to the nearest integers of factor times ([1], x), and to zero beyond the last column.
template <class Model, class Scalar>
PYDPMC_INLINE void write_root(const LookShape<Model>& shape, const Scalar* row, double factor,
                              double* q) noexcept {
  const auto nearest = [](auto x) PYDPMC_LAMBDA { return (x + rounding_magic) - rounding_magic; };
  if (shape.shift) q[0] = nearest(factor);
  double* to = q + shape.shift;
  const double scaled = factor * unit_of<Scalar>;
  int j = 0;
  for (; j + native_lanes <= shape.columns; j += native_lanes) {
    const NativeF whole = nearest(scaled * load_native(row + j));
    *reinterpret_cast<UnalignedF*>(to + j) = whole;
  }
  for (; j < shape.columns; ++j) to[j] = nearest(scaled * static_cast<double>(row[j]));
}

template <class Model, class Scalar>
[[gnu::noinline]] void add_look(const ModelSpec& spec, const Table<Scalar>& table, const Records& records,
                                const Prepared& p, int64_t begin, int64_t end, const LookGrid& grid,
                                double* q, int64_t* sums, int64_t* products) noexcept {
  const LookShape<Model> shape(spec);
  int64_t added = 0;
  for (int64_t i = 0; i < look_block * shape.width; ++i) q[i] = 0.0;
  for (int64_t first = begin; first < end; first += look_block) {
    const int64_t last = end - first < look_block ? end : first + look_block;
    int filled = 0;
    for (int64_t i = first; i < last; i += lanes) {
      const int here = rest_of(i, last);
      Rows<Scalar> row;
      consecutive_rows(table, i, here, row);
      const Terms terms = terms_of(Model{}, predict<Model>(row, table.columns, p),
                                   targets<Model>(row, table.columns), p, grid.limits);
      const F8 weight = look_weights(records.weights, i, here), r = terms.r * weight, r2 = r * r;
      const F8 row2 = look_squares(shape, row, i, here, records.squares);
      const LookFactors factors = look_factors(r2, grid.outer ? r2 : terms.h * weight, row2, grid);
      double gradient[lanes];
      store(gradient, r * factors.scale);
      const unsigned trusted = factors.trusted & ((1u << here) - 1);
      added += __builtin_popcount(trusted);
      for (int k = 0; k < lanes; ++k) {
        if (!(trusted >> k & 1)) continue;
        if (shape.shift) add_scalar(sums, gradient[k]);
        write_root(shape, row[k], factors.root[k], q + filled++ * shape.width);
      }
      if constexpr (Model::has_slopes) {
        if (trusted == 255) {
          add_rows(sums + shape.shift, row, nullptr, gradient, shape.columns, fetch_nothing);
        } else {
          for (int k = 0; k < lanes; ++k)
            if (trusted >> k & 1) add_row(sums + shape.shift, row[k], nullptr, gradient[k], shape.columns);
        }
      }
    }
    add_outer_products(q, filled, shape.dim, shape.width, grid.tiles, products);
  }
  remove_magic(sums, shape.dim, added);
}

PYDPMC_ISA_END

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
        width(static_cast<int64_t>(look_width(spec.dim))) {}
};

// The contributions of eight records: the factor of x in the gradient, the factor that takes x to the
// integers of the curvature, and which records count.
struct LookFactors {
  double gradient[lanes], root[lanes];
  unsigned trusted;
};

PYDPMC_INLINE LookFactors look_factors(const Terms& terms, F8 row2, const LookGrid& grid) noexcept {
  const F8 r2 = terms.r * terms.r, none = fill(-1.0);
  const F8 scale = clipped_scale(row2, r2, fill(0.0), grid.gradient);
  const F8 h = grid.outer ? r2 : terms.h;
  const F8 bounded = min(h, fill(grid.curvature_clip) / row2);  // no bound if the row is zero
  const F8 usable =
      select(row2 <= fill(grid.largest_square),
             select(fill(0.0) <= h, select(h <= fill(largest_square), scale, none), none), none);
  LookFactors factors;
  store(factors.gradient, terms.r * scale);
  store(factors.root, square_root(bounded) * grid.per_root);
  factors.trusted = bits_of(fill(0.0) <= usable);
  return factors;
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
[[gnu::noinline]] void add_look(const ModelSpec& spec, const Table<Scalar>& table, const RowSquares& squares,
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
      F8 row2 = fill(1.0);
      if constexpr (Model::has_slopes)
        row2 = gather([&](int k) PYDPMC_LAMBDA {
                 const int64_t id = i + (k < here ? k : 0);
                 return squares ? *squares.of(id) : squared_norm(row[k], nullptr, shape.columns);
               }) +
               shape.shift;
      const LookFactors factors = look_factors(terms, row2, grid);
      const unsigned trusted = factors.trusted & ((1u << here) - 1);
      added += __builtin_popcount(trusted);
      for (int k = 0; k < lanes; ++k) {
        if (!(trusted >> k & 1)) continue;
        if (shape.shift) add_scalar(sums, factors.gradient[k]);
        write_root(shape, row[k], factors.root[k], q + filled++ * shape.width);
      }
      if constexpr (Model::has_slopes) {
        if (trusted == 255) {
          add_rows(sums + shape.shift, row, nullptr, factors.gradient, shape.columns, fetch_nothing);
        } else {
          for (int k = 0; k < lanes; ++k)
            if (trusted >> k & 1)
              add_row(sums + shape.shift, row[k], nullptr, factors.gradient[k], shape.columns);
        }
      }
    }
    add_outer_products(q, filled, shape.dim, shape.width, grid.tiles, products);
  }
  remove_magic(sums, shape.dim, added);
}

inline void look_sums(const ModelSpec& spec, const Records& records, const double* theta, double* scratch,
                      int64_t begin, int64_t end, const LookGrid& grid, int64_t* sums,
                      int64_t* products) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (has_terms<Model>)
      add_look<Model>(spec, table, records.squares, Model::prepare(spec, theta, scratch), begin, end, grid,
                      scratch + prepared_size(spec), sums, products);
  });
}

PYDPMC_ISA_END

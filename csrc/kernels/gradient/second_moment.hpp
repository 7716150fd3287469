// Sums of clipped gradients and of their outer products on one integer grid: the loop over records of SGFS.
// Each record's gradient is written to one buffer and its outer product is added row by row, so there is no
// matrix of gradients. A record whose gradient has no finite norm adds nothing.
#pragma once

#include "kernels/gradient/group.hpp"
#include "kernels/gradient/second_moments.hpp"

PYDPMC_ISA_BEGIN

// The only function that reads stored numbers into a gradient.
template <class Scalar>
PYDPMC_INLINE double loaded(const Scalar* row, int j) noexcept {
  return static_cast<double>(row[j]) * unit_of<Scalar>;
}

template <class Model, class Scalar>
PYDPMC_INLINE void write_gradient(const ModelSpec& spec, const Scalar* row, const double* centre,
                                  double first, double second, double* gradient) noexcept {
  if constexpr (Model::has_slopes) {
    if (spec.intercept) *gradient++ = first;
    for (int j = 0; j < spec.columns; ++j)
      gradient[j] = first * (centre ? loaded(row, j) - centre[j] : loaded(row, j));
    if (spec.dim > spec.columns + (spec.intercept ? 1 : 0)) gradient[spec.columns] = second;
  } else {
    gradient[0] = first;
    if (spec.dim > 1) gradient[1] = second;
  }
}

PYDPMC_INLINE double norm_of(const double* x, int count) noexcept {
  double norm2 = 0.0;
  for (int j = 0; j < count; ++j) norm2 += x[j] * x[j];
  return __builtin_sqrt(norm2);
}

PYDPMC_INLINE void shrink(double* x, int count, double norm, double clip) noexcept {
  if (norm <= clip) return;
  const double factor = clip / norm;
  for (int j = 0; j < count; ++j) x[j] *= factor;
}

// sums[0 ..] += nearest(x x^T) on the grid, the upper triangle row by row.
PYDPMC_INLINE void add_outer(int64_t* sums, const double* x, int count, double per_unit) noexcept {
  constexpr double sqrt2 = 1.4142135623730951;
  for (int i = 0; i < count; ++i) {
    const double scaled = per_unit * x[i];
    const int rest = count - i - 1;
    add_scalar(sums, scaled * x[i]);
    add_row(sums + 1, x + i + 1, nullptr, sqrt2 * scaled, rest);
    sums += 1 + rest;
  }
}

// Adds a clipped gradient and its outer product; returns 1, or 0 if it has no finite norm. It shrinks
// `gradient`.
PYDPMC_INLINE int64_t add_gradient_and_moments(int dim, double* gradient, const GradientGrid& grid,
                                               const MomentGrid& moments, int64_t* sums) noexcept {
  const double norm = norm_of(gradient, dim);
  if (!(norm < __builtin_inf())) return 0;
  shrink(gradient, dim, norm, grid.clip);
  add_row(sums, gradient, nullptr, grid.per_unit, dim);
  shrink(gradient, dim, norm < grid.clip ? norm : grid.clip, moments.clip);
  add_outer(sums + dim, gradient, dim, moments.per_unit);
  return 1;
}

template <class Model, class Scalar>
inline void add_moments(const ModelSpec& spec, const Table<Scalar>& table, const RowWeights& weights,
                        const Prepared& p, const Batch& batch, const GradientGrid& grid,
                        const MomentGrid& moments, int64_t* sums) noexcept {
  const double* centre = Model::has_target || !Model::has_slopes ? nullptr : p.slopes;
  double gradient[most_moment_dim];
  int64_t added = 0;
  for (int64_t i = 0; i < batch.count; i += lanes) {
    const int here = rest_of(i, batch.count);
    Rows<Scalar> row;
    for (int k = 0; k < lanes; ++k) row[k] = table.row(batch.at(k < here ? i + k : i));
    const Score score =
        Model::score(predict<Model>(row, spec.columns, p), targets<Model>(row, spec.columns), p);
    double first[lanes], second[lanes];
    store(first, score.first);
    store(second, score.second);
    for (int k = 0; k < here; ++k) {
      const double weight = weights.of(batch.at(i + k));
      write_gradient<Model>(spec, row[k], centre, first[k] * weight, second[k] * weight, gradient);
      added += add_gradient_and_moments(spec.dim, gradient, grid, moments, sums);
    }
  }
  remove_magic(sums, spec.dim + spec.dim * (spec.dim + 1) / 2, added);
}

// A softmax has several predictors per record; callers refuse it earlier.
inline void moment_sums(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                        const Batch& batch, const GradientGrid& grid, const MomentGrid& moments,
                        int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (!Model::has_classes)
      add_moments<Model>(spec, table, records.weights, Model::prepare(spec, theta, slopes), batch, grid,
                         moments, sums);
  });
}

PYDPMC_ISA_END

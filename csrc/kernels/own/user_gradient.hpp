// Sums of the clipped gradients of a user's model, with their second moments if a sampler asks for them. What
// a unit adds is computed as in kernels/gradient/group.hpp: the norm of the gradient that the function wrote,
// the scaling to the clip, and the rounding to the grid. A gradient that is not finite adds nothing.
#pragma once

#include "kernels/gradient/gradient_kernels.hpp"
#include "kernels/gradient/second_moment.hpp"
#include "kernels/own/record_block.hpp"

PYDPMC_ISA_BEGIN

// Adds a clipped gradient to the integer sums; returns 1, or 0 if it is not finite.
PYDPMC_INLINE int64_t add_clipped(const double* gradient, int dim, const GradientGrid& grid,
                                  int64_t* sums) noexcept {
  const double norm2 = squared_norm(gradient, nullptr, dim);
  if (!(norm2 <= largest_group_square)) return 0;
  add_row(sums, gradient, nullptr, onto_grid(norm2, grid), dim);
  return 1;
}

PYDPMC_INLINE void multiply_by(double* gradient, int dim, double weight) noexcept {
  for (int j = 0; j < dim; ++j) gradient[j] *= weight;
}

template <class Scalar, class Use>
PYDPMC_INLINE void for_each_gradient(const ModelSpec& spec, const Records& records,
                                     const Table<Scalar>& table, const double* theta, double* scratch,
                                     const Batch& batch, const Use& use) noexcept {
  RecordBlock<Scalar> block(spec, records, table, scratch);
  const auto weighted_from = [&](int64_t i) PYDPMC_LAMBDA {
    return [&, i](int64_t k, double* gradient) PYDPMC_LAMBDA {
      if (records.weights) multiply_by(gradient, spec.dim, records.weights.of(batch.at(i + k)));
      use(k, gradient);
    };
  };
  if (block.room() == 1) {
    for (int64_t i = 0; i < batch.count; i += waiting_records)
      block.single_gradients([&](int64_t k) PYDPMC_LAMBDA { return batch.at_or_after(i + k); },
                             std::min(waiting_records, batch.count - i), theta, weighted_from(i));
    return;
  }
  for (int64_t i = 0; i < batch.count; i += block.room()) {
    const int64_t here = std::min(block.room(), batch.count - i);
    block.load([&](int64_t k) PYDPMC_LAMBDA { return batch.at_or_after(i + k); }, here);
    block.gradients(theta, weighted_from(i));
  }
}

// The gradients of a group's records are summed in the order of its rows; the sum is one gradient.
template <class Scalar>
inline int64_t add_user_groups(const ModelSpec& spec, const Records& records, const Table<Scalar>& table,
                               const double* theta, double* scratch, const Batch& batch,
                               const GradientGrid& grid, int64_t* sums) noexcept {
  RecordBlock<Scalar> block(spec, records, table, scratch);
  double* total = block.group();
  int64_t added = 0;
  for (int64_t i = 0; i < batch.count; ++i) {
    const int64_t begin = records.first_row(batch.at(i)), end = records.first_row(batch.at(i) + 1);
    std::fill_n(total, spec.dim, 0.0);
    for (int64_t row = begin; row < end; row += block.room()) {
      const int64_t here = std::min(block.room(), end - row);
      block.load([&](int64_t k) PYDPMC_LAMBDA { return std::min(row + k, end - 1); }, here);
      block.gradients(theta, [&](int64_t k, double* gradient) {
        if (records.weights) multiply_by(gradient, spec.dim, records.weights.of(row + k));
        if (squared_norm(gradient, nullptr, spec.dim) <= largest_group_square)
          for (int j = 0; j < spec.dim; ++j) total[j] += gradient[j];
      });
    }
    added += add_clipped(total, spec.dim, grid, sums);
  }
  return added;
}

inline void user_gradient_sums(const ModelSpec& spec, const Records& records, const double* theta,
                               double* scratch, const Batch& batch, const GradientGrid& grid,
                               int64_t* sums) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    int64_t added = 0;
    if (records.group_start)
      added = add_user_groups(spec, records, table, theta, scratch, batch, grid, sums);
    else
      for_each_gradient(spec, records, table, theta, scratch, batch,
                        [&](int64_t, const double* gradient)
                            PYDPMC_LAMBDA { added += add_clipped(gradient, spec.dim, grid, sums); });
    remove_magic(sums, spec.dim, added);
  });
}

inline void user_moment_sums(const ModelSpec& spec, const Records& records, const double* theta,
                             double* scratch, const Batch& batch, const GradientGrid& grid,
                             const MomentGrid& moments, int64_t* sums) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    double shrunk[most_moment_dim];
    int64_t added = 0;
    for_each_gradient(spec, records, table, theta, scratch, batch, [&](int64_t, const double* gradient) {
      copy(shrunk, gradient, spec.dim);
      added += add_gradient_and_moments(spec.dim, shrunk, grid, moments, sums);
    });
    remove_magic(sums, spec.dim + spec.dim * (spec.dim + 1) / 2, added);
  });
}

PYDPMC_ISA_END

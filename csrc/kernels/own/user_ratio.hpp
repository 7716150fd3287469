// Log-likelihood ratios of a user's model, clipped and rounded as those of kernels/ratio/, and its log
// density.
#pragma once

#include "kernels/own/record_block.hpp"
#include "kernels/ratio/group_ratio.hpp"

PYDPMC_ISA_BEGIN

inline void user_log_likelihoods(const ModelSpec& spec, const Records& records, const double* theta,
                                 double* scratch, int64_t begin, int64_t end, double* loglik) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    RecordBlock<Scalar> block(spec, records, table, scratch);
    for (int64_t i = begin; i < end; i += block.room()) {
      block.load([&](int64_t k) PYDPMC_LAMBDA { return std::min(i + k, end - 1); },
                 std::min(block.room(), end - i));
      block.logliks(theta, loglik + i);
    }
  });
}

// The sum of the clipped and rounded ratios that ratio_of(0) .. ratio_of(count-1) return; with their squares
// only for a minibatch, whose grid leaves room for them.
template <bool with_squares, class RatioOf>
inline RatioSum sum_of_clipped(const RatioOf& ratio_of, int64_t count, const Grid& grid) noexcept {
  I8 total = zero_i8(), squares = zero_i8(), clipped = zero_i8();
  for (int64_t i = 0; i < count; i += lanes) {
    double ratio[lanes] = {};
    for (int k = 0; k < rest_of(i, count); ++k) ratio[k] = ratio_of(i + k);
    const F8 r = clip(load(ratio), grid, clipped);
    total = total + quantise(r, grid);
    if constexpr (with_squares) squares = squares + quantised_squares(r, grid);
  }
  return RatioSum{sum(total), sum(squares), sum(clipped)};
}

inline RatioSum user_full_ratio(const ModelSpec& spec, const Records& records, const double* proposal,
                                double* scratch, int64_t begin, int64_t end, const double* current_loglik,
                                double* proposed_loglik, const Grid& grid) noexcept {
  user_log_likelihoods(spec, records, proposal, scratch, records.first_row(begin), records.first_row(end),
                       proposed_loglik);
  const auto ratio_of = [&](int64_t i) {
    const int64_t first = records.first_row(begin + i), rows = records.first_row(begin + i + 1) - first;
    return records.group_start ? sum_of_ratios(proposed_loglik + first, current_loglik + first, rows)
                               : proposed_loglik[first] - current_loglik[first];
  };
  return sum_of_clipped<false>(ratio_of, end - begin, grid);
}

inline RatioSum user_batch_ratio(const ModelSpec& spec, const Records& records, const double* current,
                                 const double* proposal, double* scratch, const Batch& batch,
                                 const Grid& grid) noexcept {
  return with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    RecordBlock<Scalar> block(spec, records, table, scratch);
    RatioSum total;
    for (int64_t i = 0; i < batch.count; i += block.room()) {
      const int64_t here = std::min(block.room(), batch.count - i);
      block.load([&](int64_t k) PYDPMC_LAMBDA { return batch.at_or_after(i + k); }, here);
      const double *now = block.first(), *next = block.second();
      block.logliks(current, block.first());
      block.logliks(proposal, block.second());
      total += sum_of_clipped<true>([&](int64_t k) { return next[k] - now[k]; }, here, grid);
    }
    return total;
  });
}

// out = {log-likelihood, gradient[dim]} of rows begin .. end-1, as kernels/ratio/density.hpp has it.
inline void user_log_density(const ModelSpec& spec, const Records& records, const double* theta,
                             double* scratch, int64_t begin, int64_t end, const LoglikRange& range,
                             double* out) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    RecordBlock<Scalar> block(spec, records, table, scratch);
    std::fill_n(out, spec.dim + 1, 0.0);
    for (int64_t i = begin; i < end; i += block.room()) {
      const int64_t here = std::min(block.room(), end - i);
      block.load([&](int64_t k) PYDPMC_LAMBDA { return std::min(i + k, end - 1); }, here);
      double* loglik = block.first();
      block.logliks(theta, loglik);
      for (int64_t k = 0; k < here; ++k)
        if (loglik[k] == loglik[k]) out[0] += std::clamp(loglik[k], range.low, range.high);
      block.gradients(theta, [&](int64_t k, const double* gradient) {
        if (!(range.low <= loglik[k] && loglik[k] <= range.high)) return;
        for (int j = 0; j < spec.dim; ++j) out[1 + j] += gradient[j];
      });
    }
  });
}

PYDPMC_ISA_END

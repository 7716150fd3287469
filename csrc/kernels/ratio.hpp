// The log-likelihood-ratio kernels: the only loops over records in the Barker test.
#pragma once

#include "kernels/predictor.hpp"
#include "kernels/quantise.hpp"
#include "models/all.hpp"

PYDPMC_ISA_BEGIN

template <class Model>
PYDPMC_INLINE F8 loglik8(const double* const (&row)[lanes], const Records& records, const Prepared& p) noexcept {
  return Model::loglik(predict<Model>(row, records.columns, p), targets(row, records), p);
}

// Rows i .. i+7; past the end the last row stands in, and its lanes are dropped by the caller.
PYDPMC_INLINE void consecutive_rows(const Records& records, int64_t i, const double* (&row)[lanes]) noexcept {
  for (int k = 0; k < lanes; ++k) {
    const int64_t r = i + k < records.n ? i + k : records.n - 1;
    row[k] = records.rows + r * records.stride;
  }
}

// Log-likelihoods of records begin .. end-1 into loglik.
inline void log_likelihoods(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                            int64_t begin, int64_t end, double* loglik) noexcept {
  with_model(spec.kind, [&](auto model) {
    using Model = decltype(model);
    const Prepared p = Model::prepare(spec, theta, slopes);
    for (int64_t i = begin; i < end; i += lanes) {
      const double* row[lanes];
      consecutive_rows(records, i, row);
      double ll[lanes];
      store(ll, loglik8<Model>(row, records, p));
      for (int64_t k = 0; k < lanes && i + k < end; ++k) loglik[i + k] = ll[k];
    }
  });
}

// Ratios of records begin .. end-1 against the kept log-likelihoods of the current state; those of the proposal
// are kept in turn, so that a step reads the data once.
inline RatioSum full_ratio(const ModelSpec& spec, const Records& records, const double* proposal, double* slopes,
                           int64_t begin, int64_t end, const double* current_loglik, double* proposed_loglik,
                           const Grid& grid) noexcept {
  return with_model(spec.kind, [&](auto model) {
    using Model = decltype(model);
    const Prepared p = Model::prepare(spec, proposal, slopes);
    I8 total = zero_i8(), clipped = zero_i8();
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      const double* row[lanes];
      consecutive_rows(records, i, row);
      const F8 ll = loglik8<Model>(row, records, p);
      store(proposed_loglik + i, ll);
      total = total + quantise(ll - load(current_loglik + i), grid, clipped);
    }
    if (i < end) {
      const int rest = static_cast<int>(end - i);
      const double* row[lanes];
      consecutive_rows(records, i, row);
      double now[lanes] = {}, next[lanes];
      std::memcpy(now, current_loglik + i, static_cast<size_t>(rest) * sizeof(double));
      const F8 ll = loglik8<Model>(row, records, p);
      store(next, ll);
      std::memcpy(proposed_loglik + i, next, static_cast<size_t>(rest) * sizeof(double));
      I8 clipped_here = zero_i8();
      total = total + first_lanes(quantise(ll - load(now), grid, clipped_here), rest);
      clipped = clipped + first_lanes(clipped_here, rest);
    }
    return RatioSum{sum(total), 0, sum(clipped)};
  });
}

// Ratios of the records named by index[0 .. count-1], and their squares.
inline RatioSum batch_ratio(const ModelSpec& spec, const Records& records, const double* current,
                            const double* proposal, double* slopes, const uint32_t* index, int64_t count,
                            const Grid& grid) noexcept {
  constexpr int64_t ahead = 32;
  return with_model(spec.kind, [&](auto model) {
    using Model = decltype(model);
    const Prepared now = Model::prepare(spec, current, slopes);
    const Prepared next = Model::prepare(spec, proposal, slopes + padded(spec.columns));
    RatioSum result;
    I8 total = zero_i8(), total_squares = zero_i8(), clipped = zero_i8();
    for (int64_t i = 0; i < count; i += lanes) {
      const int here = static_cast<int>(count - i < lanes ? count - i : lanes);
      const double* row[lanes];
      for (int k = 0; k < lanes; ++k) {
        row[k] = records.rows + static_cast<int64_t>(index[k < here ? i + k : i]) * records.stride;
        if (i + k + ahead < count)
          __builtin_prefetch(records.rows + static_cast<int64_t>(index[i + k + ahead]) * records.stride);
      }
      I8 clipped_here = zero_i8();
      const F8 y = targets(row, records);
      const F8 difference = Model::loglik(predict<Model>(row, records.columns, next), y, next) -
                            Model::loglik(predict<Model>(row, records.columns, now), y, now);
      I8 q = quantise(difference, grid, clipped_here);
      if (here < lanes) {
        q = first_lanes(q, here);
        clipped_here = first_lanes(clipped_here, here);
      }
      total = total + q;
      total_squares = total_squares + squares(q);
      clipped = clipped + clipped_here;
    }
    return RatioSum{sum(total), sum(total_squares), sum(clipped)};
  });
}

PYDPMC_ISA_END

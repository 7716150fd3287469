// The log-likelihood-ratio kernels: with group_ratio.hpp the only loops over records in the Barker test.
#pragma once

#include "kernels/predictor.hpp"
#include "kernels/ratio/quantise.hpp"
#include "kernels/rows.hpp"
#include "kernels/softmax.hpp"

PYDPMC_ISA_BEGIN

template <class Model, class Scalar>
PYDPMC_INLINE F8 loglik8(const Rows<Scalar>& row, int columns, const Prepared& p) noexcept {
  const F8 y = targets<Model>(row, columns);
  if constexpr (Model::has_classes)
    return softmax_loglik(row, columns, y, p);
  else
    return Model::loglik(predict<Model>(row, columns, p), y, p);
}

// log p(record | next) - log p(record | now), by the model's own formula if that is cheaper.
template <class Model, class Scalar>
PYDPMC_INLINE F8 log_ratio8(const Rows<Scalar>& row, int columns, const Prepared& next,
                            const Prepared& now) noexcept {
  if constexpr (requires(F8 x) { Model::log_ratio(x, x, x, next, now); })
    return Model::log_ratio(predict<Model>(row, columns, next), predict<Model>(row, columns, now),
                            targets<Model>(row, columns), next, now);
  else
    return loglik8<Model>(row, columns, next) - loglik8<Model>(row, columns, now);
}

inline void copy(double* to, const double* from, int count) noexcept {
  std::memcpy(to, from, static_cast<size_t>(count) * sizeof(double));
}

// Log-likelihoods of records begin .. end-1.
inline void log_likelihoods(const ModelSpec& spec, const Records& records, const double* theta,
                            double* slopes, int64_t begin, int64_t end, double* loglik) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    for (int64_t i = begin; i < end; i += lanes) {
      const int count = rest_of(i, end);
      Rows<Scalar> row;
      consecutive_rows(table, i, count, row);
      fetch_consecutive(table, i);
      double ll[lanes];
      store(ll, loglik8<Model>(row, table.columns, p));
      copy(loglik + i, ll, count);
    }
  });
}

// Ratios of records begin .. end-1 against the cached log-likelihoods of the current state. The
// log-likelihoods of the proposal are cached too, so that a step reads the data once.
inline RatioSum record_ratio(const ModelSpec& spec, const Records& records, const double* proposal,
                             double* slopes, int64_t begin, int64_t end, const double* current_loglik,
                             double* proposed_loglik, const Grid& grid) noexcept {
  return with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, proposal, slopes);
    I8 total = zero_i8(), clipped = zero_i8();
    Rows<Scalar> row;
    int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
      consecutive_rows(table, i, lanes, row);
      fetch_consecutive(table, i);
      const F8 ll = loglik8<Model>(row, table.columns, p);
      store(proposed_loglik + i, ll);
      total = total + quantise(clip(ll - load(current_loglik + i), grid, clipped), grid);
    }
    if (i < end) {
      const int rest = rest_of(i, end);
      consecutive_rows(table, i, rest, row);
      double now[lanes], next[lanes];
      store(next, loglik8<Model>(row, table.columns, p));
      store(now, load(next));  // the lanes beyond the end get ratio zero
      copy(now, current_loglik + i, rest);
      copy(proposed_loglik + i, next, rest);
      total = total + quantise(clip(load(next) - load(now), grid, clipped), grid);
    }
    return RatioSum{sum(total), 0, sum(clipped)};
  });
}

// Ratios of the records of a batch, and their squares.
inline RatioSum batch_ratio(const ModelSpec& spec, const Records& records, const double* current,
                            const double* proposal, double* slopes, const Batch& batch,
                            const Grid& grid) noexcept {
  constexpr int64_t ahead = 32;
  return with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared now = Model::prepare(spec, current, slopes);
    const Prepared next = Model::prepare(spec, proposal, slopes + prepared_size(spec));
    I8 total = zero_i8(), squares = zero_i8(), clipped = zero_i8();
    for (int64_t i = 0; i < batch.count; i += lanes) {
      const int here = rest_of(i, batch.count);
      Rows<Scalar> row;
      for (int k = 0; k < lanes; ++k) row[k] = table.row(batch.index[k < here ? i + k : i]);
      for (int k = 0; k < lanes; ++k) __builtin_prefetch(table.row(batch.at_or_after(i + ahead + k)));
      F8 ratio = log_ratio8<Model>(row, table.columns, next, now);
      if (here < lanes) {
        double kept[lanes];
        store(kept, ratio);
        for (int k = here; k < lanes; ++k) kept[k] = 0.0;
        ratio = load(kept);
      }
      const F8 r = clip(ratio, grid, clipped);
      total = total + quantise(r, grid);
      squares = squares + quantised_squares(r, grid);
    }
    return RatioSum{sum(total), sum(squares), sum(clipped)};
  });
}

PYDPMC_ISA_END

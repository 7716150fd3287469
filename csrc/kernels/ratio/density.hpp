// The log-likelihood of a block of records and its gradient in one pass over the rows: the only loop
// over records of NUTS. A record's log-likelihood is clamped to `range`, beyond which its slope is 0; a
// NaN adds nothing. Sums are of doubles in an order that the block alone fixes, whatever the instruction
// set.
#pragma once

#include "kernels/ratio/softmax_density.hpp"

PYDPMC_ISA_BEGIN

// By the model's own formula if it has one for both.
template <class Model>
PYDPMC_INLINE LoglikAndScore loglik_and_score(F8 eta, F8 y, const Prepared& p) noexcept {
  if constexpr (requires { Model::loglik_and_score(eta, y, p); })
    return Model::loglik_and_score(eta, y, p);
  else
    return {Model::loglik(eta, y, p), Model::score(eta, y, p)};
}

// out = {log-likelihood, gradient[dim]} of rows begin .. end-1; `sums` has room for padded(columns).
template <class Model, class Scalar>
inline void sum_density(const ModelSpec& spec, const Table<Scalar>& table, int64_t begin, int64_t end,
                        const Prepared& p, const LoglikRange& range, double* sums, double* out) noexcept {
  const int columns = table.columns, shift = spec.intercept ? 1 : 0;
  const double* centre = Model::has_target || !Model::has_slopes ? nullptr : p.slopes;
  F8 logliks = fill(0.0), firsts = fill(0.0), seconds = fill(0.0);
  for (int j = 0; j < padded(columns); ++j) sums[j] = 0.0;
  Block<Scalar> block(table);
  alignas(64) double weight[most_block_records];
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    for (int r = 0; r < block.count; r += lanes) {
      const F8 eta = load(block.eta + r), y = load(block.y + r);
      const auto [loglik, score] = loglik_and_score<Model>(eta, y, p);
      const F8 clamped = min(max(loglik, fill(range.low)), fill(range.high));
      const I8 free = clamped == loglik;
      const auto counted = [&](F8 x) PYDPMC_LAMBDA { return only_first(block.count - r, x); };
      const F8 slope = counted(select(free, score.first, fill(0.0)));
      logliks = logliks + counted(select(loglik == loglik, clamped, fill(0.0)));
      firsts = firsts + slope;
      seconds = seconds + counted(select(free, score.second, fill(0.0)));
      store(weight + r, slope * unit_of<Scalar>);
    }
    if constexpr (Model::has_slopes) add_weighted(block, weight, centre, sums);
  }
  out[0] = sum_lanes(logliks);
  if constexpr (Model::has_slopes) {
    if (shift) out[1] = sum_lanes(firsts);
    copy(out + 1 + shift, sums, columns);
    if (spec.dim > columns + shift) out[spec.dim] = sum_lanes(seconds);
  } else {
    out[1] = sum_lanes(firsts);
    if (spec.dim > 1) out[2] = sum_lanes(seconds);
  }
}

inline void log_density(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                        int64_t begin, int64_t end, const LoglikRange& range, double* out) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    double* sums = slopes + prepared_size(spec);
    if constexpr (Model::has_classes)
      sum_softmax_density<Model>(spec, table, begin, end, p, range, sums, out);
    else
      sum_density<Model>(spec, table, begin, end, p, range, sums, out);
  });
}

PYDPMC_ISA_END

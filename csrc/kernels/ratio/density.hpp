// The log-likelihood of a block of records and its gradient in one pass over the rows: the only loop
// over records of NUTS. A record's log-likelihood is clamped to `range`, beyond which its slope is 0; a
// NaN adds nothing. Sums are of doubles in an order that the block alone fixes, whatever the instruction
// set and whether rows or tiles are read.
#pragma once

#include "kernels/ratio/softmax_density.hpp"
#include "kernels/ratio/tile_density.hpp"

PYDPMC_ISA_BEGIN

// out = {log-likelihood, gradient[dim]} of rows begin .. end-1; `slopes` has room for padded(columns).
template <class Model, class Scalar>
inline void sum_density(const ModelSpec& spec, const Table<Scalar>& table, int64_t begin, int64_t end,
                        const Prepared& p, const LoglikRange& range, double* slopes, double* out) noexcept {
  const double* centre = Model::has_target || !Model::has_slopes ? nullptr : p.slopes;
  DensitySums sums;
  for (int j = 0; j < padded(table.columns); ++j) slopes[j] = 0.0;
  Block<Scalar> block(table);
  block.most = tile_records(table.columns);
  alignas(64) double weight[most_block_records];
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    add_terms<Model>(block.eta, block.y, block.count, p, range, sums, weight);
    if constexpr (unit_of<Scalar> != 1.0)
      for (int r = 0; r < block.count; r += lanes) store(weight + r, load(weight + r) * unit_of<Scalar>);
    if constexpr (Model::has_slopes) add_weighted(block, weight, centre, slopes);
  }
  double* gradient = finish_density<Model>(spec, sums, out);
  if constexpr (Model::has_slopes) copy(gradient, slopes, table.columns);
}

inline void log_density(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                        int64_t begin, int64_t end, const LoglikRange& range, double* out) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    double* sums = slopes + prepared_size(spec);
    if constexpr (Model::has_classes)
      return sum_softmax_density<Model>(spec, table, begin, end, p, range, sums, out);
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes)
      if (records.tiles && begin % tile_records(spec.columns) == 0)
        return sum_tile_density<Model>(spec, records.tiles, begin, end, p, range, sums, out);
    if constexpr (!Model::has_classes) sum_density<Model>(spec, table, begin, end, p, range, sums, out);
  });
}

PYDPMC_ISA_END

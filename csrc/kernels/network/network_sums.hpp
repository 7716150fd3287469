// Sums of clipped gradients over a batch, microbatch by microbatch.
#pragma once

#include "kernels/network/contribution.hpp"
#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

constexpr int most_layers = 256;

// Adds the outer products of a dense layer over all pairs of records. Columns are taken in whole groups;
// those beyond the last weight of a row are summed in `rest`.
[[gnu::noinline]] inline void add_dense(const Microbatch& batch, size_t l, int64_t* sums) noexcept {
  const Layer& layer = batch.net.layers[l];
  const int in = layer.patch(), out = layer.outputs(), pairs = (batch.count + 1) / 2;
  const size_t wide = whole_panels(in), narrow = whole_panels(out);
  const int32_t* inputs = reinterpret_cast<const int32_t*>(batch.at(batch.net.layout.input[l]));
  const int32_t* outputs = reinterpret_cast<const int32_t*>(batch.at(batch.net.layout.output[l]));
  const int whole = in / outer_columns * outer_columns;
  const int64_t one = static_cast<int64_t>(1.0 / layer.input_unit);
  for (int first = 0; first < whole; first += outer_columns)
    for (int j = 0; j < out; ++j)
      add_outer(outputs + j, narrow, inputs + first, wide, pairs,
                sums + layer.offset + static_cast<int64_t>(j) * in + first);
  for (int j = 0; j < out; ++j) {
    int64_t rest[outer_columns] = {}, bias = 0;
    if (whole < in) add_outer(outputs + j, narrow, inputs + whole, wide, pairs, rest);
    for (int k = whole; k < in; ++k) sums[layer.offset + static_cast<int64_t>(j) * in + k] += rest[k - whole];
    for (int p = 0; p < pairs; ++p) {
      const int32_t word = outputs[static_cast<size_t>(p) * narrow + static_cast<size_t>(j)];
      bias += static_cast<int16_t>(word & 0xffff) + (word >> 16);
    }
    sums[layer.offset + layer.weights() + j] += bias * one;
  }
}

// Copies the features of a record; returns its target.
template <class Scalar>
PYDPMC_INLINE double read_record(const Microbatch& batch, int r, const Scalar* row, int columns) noexcept {
  float* value = batch.value(0, r);
  for (int k = 0; k < columns; ++k)
    value[k] = static_cast<float>(static_cast<double>(row[k]) * unit_of<Scalar>);
  return target_of(row, columns);
}

// Calls call(microbatch, first index) for the microbatches of `count` records, their values being computed;
// target[r] are their targets.
template <class RowOf, class Call>
inline void for_each_microbatch(const NetworkModel& net, const Records& records, float* scratch,
                                int64_t count, const RowOf& row_of, double* target,
                                const Call& call) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    for (int64_t i = 0; i < count; i += net.microbatch) {
      const int here = static_cast<int>(count - i < net.microbatch ? count - i : net.microbatch);
      const Microbatch batch{net, scratch, here};
      for (int r = 0; r < here; ++r)
        target[r] = read_record(batch, r, table.row(row_of(i + r)), records.columns);
      run_forward(batch);
      call(batch, i);
    }
  });
}

inline void network_gradient_sums(const ModelSpec& spec, const Records& records, const double* theta,
                                  double* slopes, const Batch& rows, const GradientGrid& grid,
                                  int64_t* sums) noexcept {
  const NetworkModel& net = *static_cast<const NetworkModel*>(spec.own);
  float* scratch = reinterpret_cast<float*>(slopes);
  prepare_weights(net, theta, scratch);
  double target[most_records], squares[most_layers];
  const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return rows.at(i); };
  for_each_microbatch(net, records, scratch, rows.count, row_of, target,
                      [&](const Microbatch& batch, int64_t) {
                        for (int r = 0; r < batch.count; ++r)
                          output_slopes(batch, r, target[r], batch.slope(net.layers.size(), r));
                        run_backward(batch);
                        for (int r = 0; r < batch.count; ++r)
                          Contribution{batch, r, grid}.make(squares, sums);
                        if (batch.count % 2) Contribution{batch, batch.count, grid}.clear();
                        for (size_t l = 0; l < net.layers.size(); ++l)
                          if (net.layers[l].kind == LayerKind::dense) add_dense(batch, l, sums);
                      });
}

inline void network_log_likelihoods(const ModelSpec& spec, const Records& records, const double* theta,
                                    double* slopes, int64_t begin, int64_t end, double* loglik) noexcept {
  const NetworkModel& net = *static_cast<const NetworkModel*>(spec.own);
  float* scratch = reinterpret_cast<float*>(slopes);
  prepare_weights(net, theta, scratch);
  double target[most_records];
  const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return begin + i; };
  for_each_microbatch(net, records, scratch, end - begin, row_of, target,
                      [&](const Microbatch& batch, int64_t first) {
                        for (int r = 0; r < batch.count; ++r)
                          loglik[first + r] = output_slopes(batch, r, target[r], nullptr);
                      });
}

PYDPMC_ISA_END

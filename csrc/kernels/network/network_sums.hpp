// Sums of clipped gradients over a batch, microbatch by microbatch.
#pragma once

#include "kernels/network/contribution.hpp"
#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

constexpr int most_layers = 256;

// Rows of a layer's weights whose sums are kept in registers, and columns whose factors stay in the cache.
constexpr int outer_rows = 4, outer_block = 4 * outer_columns;

// Adds the outer products of columns first .. last - 1, whole groups of them, over all pairs of records.
PYDPMC_INLINE void add_columns(const WordsOf& outputs, int out, const WordsOf& inputs, int first, int last,
                               int pairs, int64_t* sums, size_t in) noexcept {
  const auto add = [&]<int rows>(int j) PYDPMC_LAMBDA {
    for (int k = first; k < last; k += outer_columns)
      add_outer<rows>({outputs.first + j, outputs.row}, {inputs.first + k, inputs.row}, pairs,
                      sums + static_cast<size_t>(j) * in + k, in);
  };
  int j = 0;
  for (; j + outer_rows <= out; j += outer_rows) add.template operator()<outer_rows>(j);
  for (; j < out; ++j) add.template operator()<1>(j);
}

// Adds the outer products of a dense layer over all pairs of records. Columns beyond the last whole group are
// summed in `rest`, because a group would reach into the next row.
[[gnu::noinline]] inline void add_dense(const Microbatch& batch, size_t l, int64_t* sums) noexcept {
  const Layer& layer = batch.net.layers[l];
  const int in = layer.patch(), out = layer.outputs(), pairs = (batch.count + 1) / 2;
  const auto words = [&](size_t place, int size) {
    return WordsOf{reinterpret_cast<const int32_t*>(batch.at(place)), whole_panels(size)};
  };
  const WordsOf inputs = words(batch.net.layout.input[l], in),
                outputs = words(batch.net.layout.output[l], out);
  const int whole = in / outer_columns * outer_columns;
  int64_t* weights = sums + layer.offset;
  for (int first = 0; first < whole; first += outer_block)
    add_columns(outputs, out, inputs, first, std::min(first + outer_block, whole), pairs, weights,
                static_cast<size_t>(in));
  for (int j = 0; j < out; ++j) {
    int64_t rest[outer_columns] = {}, bias = 0;
    if (whole < in)
      add_outer<1>({outputs.first + j, outputs.row}, {inputs.first + whole, inputs.row}, pairs, rest, 0);
    for (int k = whole; k < in; ++k) weights[static_cast<int64_t>(j) * in + k] += rest[k - whole];
    for (int p = 0; p < pairs; ++p) {
      const int32_t word = outputs.first[static_cast<size_t>(p) * outputs.row + static_cast<size_t>(j)];
      bias += static_cast<int16_t>(word & 0xffff) + (word >> 16);
    }
    weights[layer.weights() + j] += bias * static_cast<int64_t>(1.0 / layer.input_unit);
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

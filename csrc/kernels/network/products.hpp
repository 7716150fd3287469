// Products of a few rows with packed weights in single precision. Every output is one sum over the inputs in
// their order, with one rounding per operation: it depends on its row alone, and on no instruction set.
#pragma once

#include <cstddef>

#include "models/network.hpp"
#include "simd/narrow.hpp"

PYDPMC_ISA_BEGIN

#if defined(__AVX512F__)
constexpr int tile_rows = 16;
#elif defined(__AVX2__)
constexpr int tile_rows = 4;
#else
constexpr int tile_rows = 2;
#endif

// Packs weights, packed[p][k][16] for panel p of outputs, from weight_of(k, output). Outputs beyond the last
// have weights zero.
template <class WeightOf>
inline void pack_weights(float* packed, int inputs, int outputs, const WeightOf& weight_of) noexcept {
  for (int first = 0; first < outputs; first += panel)
    for (int k = 0; k < inputs; ++k)
      for (int j = first; j < first + panel; ++j) *packed++ = j < outputs ? weight_of(k, j) : 0.0f;
}

// The rows of a product: entry k of row r is first[r row + k step].
struct RowsOf {
  const float* first;
  size_t row, step;

  PYDPMC_INLINE RowsOf from(int r) const noexcept {
    return {first + static_cast<size_t>(r) * row, row, step};
  }
};

// Sixteen columns of the other factor: row k begins at first[k row].
struct ColumnsOf {
  const float* first;
  size_t row;
};

// What the sums of row r start from: first[r row ..], or zero if `first` is null.
struct StartOf {
  const float* first;
  size_t row;
};

// out[r][16] = start[r][16] + sum over k of in[r][k] weights[k][16], for `rows` rows.
template <int rows>
PYDPMC_INLINE void multiply_tile(const RowsOf& in, const ColumnsOf& weights, int inputs, const StartOf& start,
                                 float* out, size_t out_stride) noexcept {
  F16 total[rows];
  for (int r = 0; r < rows; ++r)
    total[r] = start.first ? load16(start.first + static_cast<size_t>(r) * start.row) : zero_f16();
  for (int k = 0; k < inputs; ++k) {
    const F16 w = load16(weights.first + static_cast<size_t>(k) * weights.row);
    const float* x = in.first + static_cast<size_t>(k) * in.step;
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const NarrowF factor = NarrowF{} + x[static_cast<size_t>(r) * in.row];
      for (int v = 0; v < narrow_parts; ++v) total[r].p[v] = total[r].p[v] + factor * w.p[v];
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < narrow_parts; ++v)
      __builtin_memcpy(out + static_cast<size_t>(r) * out_stride + v * narrow_native, &total[r].p[v],
                       sizeof(NarrowF));
}

// out[r][0 .. 15] for any number of rows.
PYDPMC_INLINE void multiply_panel(const RowsOf& in, int rows, const ColumnsOf& weights, int inputs,
                                  const StartOf& start, float* out, size_t out_stride) noexcept {
  int r = 0;
  const auto begin = [&](int row) PYDPMC_LAMBDA {
    return StartOf{start.first ? start.first + static_cast<size_t>(row) * start.row : nullptr, start.row};
  };
  const auto to = [&](int row) PYDPMC_LAMBDA { return out + static_cast<size_t>(row) * out_stride; };
  for (; r + tile_rows <= rows; r += tile_rows)
    multiply_tile<tile_rows>(in.from(r), weights, inputs, begin(r), to(r), out_stride);
  if constexpr (tile_rows > 4)
    for (; r + 4 <= rows; r += 4) multiply_tile<4>(in.from(r), weights, inputs, begin(r), to(r), out_stride);
  for (; r < rows; ++r) multiply_tile<1>(in.from(r), weights, inputs, begin(r), to(r), out_stride);
}

// out[r][..] = start[r][..] + in[r][..] times packed weights; `out` has whole panels of columns.
[[gnu::noinline]] inline void multiply(const RowsOf& in, int rows, const float* packed, int inputs,
                                       int outputs, const StartOf& start, float* out,
                                       size_t out_stride) noexcept {
  for (int first = 0; first < outputs; first += panel) {
    const StartOf begin{start.first ? start.first + first : nullptr, start.row};
    multiply_panel(in, rows, {packed, panel}, inputs, begin, out + first, out_stride);
    packed += static_cast<size_t>(inputs) * panel;
  }
}

PYDPMC_ISA_END

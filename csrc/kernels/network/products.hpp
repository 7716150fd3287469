// Products of a few rows with packed weights in single precision. Every output is one sum over the inputs in
// their order, with one rounding per operation: it depends on its row alone, and on no instruction set.
#pragma once

#include <cstddef>

#include "models/network.hpp"
#include "simd/narrow.hpp"

PYDPMC_ISA_BEGIN

// Rows and panels of outputs that are computed together, so that their sums fit into the registers.
#if defined(__AVX512F__)
constexpr int tile_rows = 8, tile_panels = 2;
#elif defined(__AVX2__)
constexpr int tile_rows = 4, tile_panels = 1;
#else
constexpr int tile_rows = 2, tile_panels = 1;
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

// Panels of sixteen columns of the other factor: row k of panel p begins at first[p panel + k row].
struct ColumnsOf {
  const float* first;
  size_t row, panel;
};

// What the sums of row r start from: first[r row ..], or zero if `first` is null.
struct StartOf {
  const float* first;
  size_t row;

  PYDPMC_INLINE StartOf from(int r) const noexcept {
    return {first ? first + static_cast<size_t>(r) * row : nullptr, row};
  }
};

// out[r][c] = start[r][c] + sum over k of in[r][k] weights[k][c], for `rows` rows and `panels` panels of
// columns.
template <int rows, int panels>
PYDPMC_INLINE void multiply_tile(const RowsOf& in, const ColumnsOf& weights, int inputs, const StartOf& start,
                                 float* out, size_t out_stride) noexcept {
  F16 total[rows][panels];
  for (int r = 0; r < rows; ++r)
    for (int p = 0; p < panels; ++p)
      total[r][p] = start.first ? load16(start.first + static_cast<size_t>(r) * start.row + p * narrow_lanes)
                                : zero_f16();
  for (int k = 0; k < inputs; ++k) {
    const float* x = in.first + static_cast<size_t>(k) * in.step;
    const float* from = weights.first + static_cast<size_t>(k) * weights.row;
    F16 w[panels];
    for (int p = 0; p < panels; ++p) w[p] = load16(from + static_cast<size_t>(p) * weights.panel);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const NarrowF factor = x[static_cast<size_t>(r) * in.row] - NarrowF{};  // exact, and no operation
      for (int p = 0; p < panels; ++p)
        for (int v = 0; v < narrow_parts; ++v) total[r][p].p[v] = total[r][p].p[v] + factor * w[p].p[v];
    }
  }
  for (int r = 0; r < rows; ++r)
    for (int p = 0; p < panels; ++p)
      for (int v = 0; v < narrow_parts; ++v)
        __builtin_memcpy(out + static_cast<size_t>(r) * out_stride + p * narrow_lanes + v * narrow_native,
                         &total[r][p].p[v], sizeof(NarrowF));
}

// The same for any number of rows.
template <int panels>
PYDPMC_INLINE void multiply_panels(const RowsOf& in, int rows, const ColumnsOf& weights, int inputs,
                                   const StartOf& start, float* out, size_t out_stride) noexcept {
  constexpr int together = tile_rows * tile_panels / panels;
  int r = 0;
  const auto to = [&](int row) PYDPMC_LAMBDA { return out + static_cast<size_t>(row) * out_stride; };
  for (; r + together <= rows; r += together)
    multiply_tile<together, panels>(in.from(r), weights, inputs, start.from(r), to(r), out_stride);
  if constexpr (together > 4)
    for (; r + 4 <= rows; r += 4)
      multiply_tile<4, panels>(in.from(r), weights, inputs, start.from(r), to(r), out_stride);
  for (; r < rows; ++r)
    multiply_tile<1, panels>(in.from(r), weights, inputs, start.from(r), to(r), out_stride);
}

// out[r][..] = start[r][..] + in[r][..] times weights; `out` has whole panels of columns.
[[gnu::noinline]] inline void multiply(const RowsOf& in, int rows, const ColumnsOf& weights, int inputs,
                                       int outputs, const StartOf& start, float* out,
                                       size_t out_stride) noexcept {
  const auto panels_from = [&]<int panels>(int first) PYDPMC_LAMBDA {
    const size_t skipped = static_cast<size_t>(first / panel) * weights.panel;
    multiply_panels<panels>(in, rows, {weights.first + skipped, weights.row, weights.panel}, inputs,
                            {start.first ? start.first + first : nullptr, start.row}, out + first,
                            out_stride);
  };
  int first = 0;
  if constexpr (tile_panels > 1)
    for (; first + (tile_panels - 1) * panel < outputs; first += tile_panels * panel)
      panels_from.template operator()<tile_panels>(first);
  for (; first < outputs; first += panel) panels_from.template operator()<1>(first);
}

// Weights as pack_weights packs them.
PYDPMC_INLINE ColumnsOf packed_weights(const float* packed, int inputs) noexcept {
  return {packed, panel, static_cast<size_t>(inputs) * panel};
}

PYDPMC_ISA_END

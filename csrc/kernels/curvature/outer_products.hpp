// Sums of outer products q q' of rows of integers. They are doubles that never round, so the order, the
// instruction set and fused multiply-adds make no difference.
#pragma once

#include "kernels/curvature/look_grid.hpp"
#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

constexpr int tile_rows = 4;
constexpr int tile_vectors = 2;
constexpr int tile_columns = tile_vectors * native_lanes;

PYDPMC_INLINE NativeF multiply_add(NativeF a, NativeF b, NativeF sum) noexcept {
#if defined(__AVX512F__)
  return (NativeF)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#else
  return a * b + sum;
#endif
}

// Adds entries (i .. i+3, j ..) of the sum over `rows` rows of `width` numbers.
template <int vectors>
PYDPMC_INLINE void add_tile(const double* q, int rows, int64_t width, int i, int j,
                            int64_t* products) noexcept {
  NativeF total[tile_rows][vectors] = {};
  for (int k = 0; k < rows; ++k, q += width) {
    NativeF right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = load_native(q + j + v * native_lanes);
#pragma GCC unroll 4
    for (int r = 0; r < tile_rows; ++r) {
      const NativeF left = NativeF{} + q[i + r];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) total[r][v] = multiply_add(left, right[v], total[r][v]);
    }
  }
  for (int r = 0; r < tile_rows; ++r)
    for (int v = 0; v < vectors; ++v) {
      int64_t* to = products + (i + r) * width + j + v * native_lanes;
      for (int lane = 0; lane < native_lanes; ++lane) to[lane] += static_cast<int64_t>(total[r][v][lane]);
    }
}

// Whether any entry (i .. i+3, j .. j+count-1) is wanted.
PYDPMC_INLINE bool wanted(const uint8_t* tiles, int64_t width, int i, int j, int count) noexcept {
  if (!tiles) return true;
  bool any = false;
  for (int k = j / 4; k <= (j + count - 1) / 4; ++k) any |= tiles[i / 4 * (width / 4) + k] != 0;
  return any;
}

// Adds all tiles that touch the upper triangle of the first `dim` columns.
inline void add_outer_products(const double* q, int rows, int dim, int64_t width, const uint8_t* tiles,
                               int64_t* products) noexcept {
  for (int i = 0; i < dim; i += tile_rows) {
    int j = i / native_lanes * native_lanes;
    for (; j + tile_columns <= width && j < dim; j += tile_columns)
      if (wanted(tiles, width, i, j, tile_columns)) add_tile<tile_vectors>(q, rows, width, i, j, products);
    for (; j + native_lanes <= width && j < dim; j += native_lanes)
      if (wanted(tiles, width, i, j, native_lanes)) add_tile<1>(q, rows, width, i, j, products);
  }
}

PYDPMC_ISA_END

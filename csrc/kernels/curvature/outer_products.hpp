// Sums of outer products q q' of rows of integers. They are doubles that never round, so the order, the
// instruction set and fused multiply-adds make no difference.
#pragma once

#include "kernels/curvature/look_grid.hpp"
#include "kernels/gradient/group.hpp"
#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

constexpr int product_rows = native_lanes == 8 ? 8 : 4;  // half of the registers hold sums
constexpr int product_vectors = 2;
constexpr int product_columns = product_vectors * native_lanes;

PYDPMC_INLINE NativeF multiply_add(NativeF a, NativeF b, NativeF sum) noexcept {
#if defined(__AVX512F__)
  return (NativeF)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)sum);
#else
  return a * b + sum;
#endif
}

// One number in all lanes. x - 0 is x and costs nothing, while x + 0 is not if x is -0.
PYDPMC_INLINE NativeF everywhere(double x) noexcept { return x - NativeF{}; }

// to[0 ..] += total, of integers below 2^51.
PYDPMC_INLINE void add_whole(NativeF total, int64_t* to) noexcept {
  const NativeU magic = (NativeU)(every<NativeF>(rounding_magic));
  UnalignedU* sums = reinterpret_cast<UnalignedU*>(to);
  *sums = *sums + ((NativeU)(total + rounding_magic) - magic);
}

// Adds entries (i .. i+height-1, j ..) of the sum over `rows` rows of `width` numbers.
template <int height, int vectors>
PYDPMC_INLINE void add_products(const double* q, int rows, int64_t width, int i, int j,
                                int64_t* products) noexcept {
  NativeF total[height][vectors] = {};
  for (int k = 0; k < rows; ++k, q += width) {
    NativeF right[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) right[v] = load_native(q + j + v * native_lanes);
#pragma GCC unroll 8
    for (int r = 0; r < height; ++r) {
      const NativeF left = everywhere(q[i + r]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) total[r][v] = multiply_add(left, right[v], total[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < height; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v)
      add_whole(total[r][v], products + (i + r) * width + j + v * native_lanes);
}

// Whether any entry (i .. i+height-1, j .. j+count-1) is wanted.
template <int height>
PYDPMC_INLINE bool wanted(const uint8_t* tiles, int64_t width, int i, int j, int count) noexcept {
  if (!tiles) return true;
  bool any = false;
  for (int l = i / 4; l < (i + height) / 4; ++l)
    for (int k = j / 4; k <= (j + count - 1) / 4; ++k) any |= tiles[l * (width / 4) + k] != 0;
  return any;
}

// Adds the tiles of rows i .. i+height-1 that touch the upper triangle.
template <int height>
PYDPMC_INLINE void add_products_of_rows(const double* q, int rows, int dim, int64_t width,
                                        const uint8_t* tiles, int i, int64_t* products) noexcept {
  int j = i / native_lanes * native_lanes;
  for (; j + product_columns <= width && j < dim; j += product_columns)
    if (wanted<height>(tiles, width, i, j, product_columns))
      add_products<height, product_vectors>(q, rows, width, i, j, products);
  for (; j + native_lanes <= width && j < dim; j += native_lanes)
    if (wanted<height>(tiles, width, i, j, native_lanes))
      add_products<height, 1>(q, rows, width, i, j, products);
}

// Adds all tiles that touch the upper triangle of the first `dim` columns; of the last rows, half as many at
// once if that is enough.
inline void add_outer_products(const double* q, int rows, int dim, int64_t width, const uint8_t* tiles,
                               int64_t* products) noexcept {
  int i = 0;
  for (; i + 4 < dim; i += product_rows)
    add_products_of_rows<product_rows>(q, rows, dim, width, tiles, i, products);
  if (i < dim) add_products_of_rows<4>(q, rows, dim, width, tiles, i, products);
}

PYDPMC_ISA_END

// Exact sums of outer products of sixteen-bit integers over pairs of records. A word holds the integers of
// two records, the first one in its low half.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

PYDPMC_INLINE int32_t pair_product(int32_t a, int32_t b) noexcept {
  return static_cast<int16_t>(a & 0xffff) * static_cast<int16_t>(b & 0xffff) + (a >> 16) * (b >> 16);
}

constexpr int outer_columns = 16;  // columns that are summed together

// sums[c] += sum over pairs of the products of row[p stride] with columns[p column_stride + c], c < 16. The
// sum over all pairs must fit into 32 bits.
PYDPMC_INLINE void add_outer(const int32_t* row, size_t stride, const int32_t* columns, size_t column_stride,
                             int pairs, int64_t* sums) noexcept {
#if defined(__AVX2__)
  __m256i low = _mm256_setzero_si256(), high = low;
  for (int p = 0; p < pairs; ++p) {
    const int32_t* from = columns + static_cast<size_t>(p) * column_stride;
    const __m256i factor = _mm256_set1_epi32(row[static_cast<size_t>(p) * stride]);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(unaligned<__m256i>(from), factor));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(unaligned<__m256i>(from + 8), factor));
  }
  const __m128i four[4] = {_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1),
                           _mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1)};
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    const __m256i total = _mm256_add_epi64(unaligned<__m256i>(sums + 4 * k), _mm256_cvtepi32_epi64(four[k]));
    __builtin_memcpy(sums + 4 * k, &total, sizeof total);
  }
#else
  int32_t total[outer_columns] = {};
  for (int p = 0; p < pairs; ++p) {
    const int32_t* from = columns + static_cast<size_t>(p) * column_stride;
    const int32_t factor = row[static_cast<size_t>(p) * stride];
#if defined(__SSE2__)
    for (int k = 0; k < outer_columns; k += 4) {
      const __m128i product = _mm_madd_epi16(unaligned<__m128i>(from + k), _mm_set1_epi32(factor));
      const __m128i sum = _mm_add_epi32(unaligned<__m128i>(total + k), product);
      __builtin_memcpy(total + k, &sum, sizeof sum);
    }
#else
    for (int k = 0; k < outer_columns; ++k) total[k] += pair_product(from[k], factor);
#endif
  }
  for (int k = 0; k < outer_columns; ++k) sums[k] += total[k];
#endif
}

PYDPMC_ISA_END

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

// A matrix of words, row p beginning at first[p row].
struct WordsOf {
  const int32_t* first;
  size_t row;
};

// sums[j sums_row + c] += sum over pairs p of the products of factors[p][j] with columns[p][c], for j < rows
// and c < 16. The sums over all pairs must fit into 32 bits.
template <int rows>
PYDPMC_INLINE void add_outer(const WordsOf& factors, const WordsOf& columns, int pairs, int64_t* sums,
                             size_t sums_row) noexcept {
#if defined(__AVX2__)
  __m256i low[rows], high[rows];
  for (int j = 0; j < rows; ++j) low[j] = high[j] = _mm256_setzero_si256();
  for (int p = 0; p < pairs; ++p) {
    const int32_t* from = columns.first + static_cast<size_t>(p) * columns.row;
    const int32_t* factor = factors.first + static_cast<size_t>(p) * factors.row;
    const __m256i first = unaligned<__m256i>(from), second = unaligned<__m256i>(from + 8);
#pragma GCC unroll 8
    for (int j = 0; j < rows; ++j) {
      const __m256i both = _mm256_set1_epi32(factor[j]);
      low[j] = _mm256_add_epi32(low[j], _mm256_madd_epi16(first, both));
      high[j] = _mm256_add_epi32(high[j], _mm256_madd_epi16(second, both));
    }
  }
#pragma GCC unroll 8
  for (int j = 0; j < rows; ++j) {
    const __m128i four[4] = {_mm256_castsi256_si128(low[j]), _mm256_extracti128_si256(low[j], 1),
                             _mm256_castsi256_si128(high[j]), _mm256_extracti128_si256(high[j], 1)};
    int64_t* to = sums + static_cast<size_t>(j) * sums_row;
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const __m256i total = _mm256_add_epi64(unaligned<__m256i>(to + 4 * k), _mm256_cvtepi32_epi64(four[k]));
      __builtin_memcpy(to + 4 * k, &total, sizeof total);
    }
  }
#else
  int32_t total[rows][outer_columns] = {};
  for (int p = 0; p < pairs; ++p) {
    const int32_t* from = columns.first + static_cast<size_t>(p) * columns.row;
    const int32_t* factor = factors.first + static_cast<size_t>(p) * factors.row;
    for (int j = 0; j < rows; ++j)
#if defined(__SSE2__)
      for (int k = 0; k < outer_columns; k += 4) {
        const __m128i product = _mm_madd_epi16(unaligned<__m128i>(from + k), _mm_set1_epi32(factor[j]));
        const __m128i sum = _mm_add_epi32(unaligned<__m128i>(total[j] + k), product);
        __builtin_memcpy(total[j] + k, &sum, sizeof sum);
      }
#else
      for (int k = 0; k < outer_columns; ++k) total[j][k] += pair_product(from[k], factor[j]);
#endif
  }
  for (int j = 0; j < rows; ++j)
    for (int k = 0; k < outer_columns; ++k) sums[static_cast<size_t>(j) * sums_row + k] += total[j][k];
#endif
}

PYDPMC_ISA_END

// Exact sums of products of sixteen-bit integers: eight rows of sixteen columns, each row times a factor.
#pragma once

#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

// Eight products of a factor up to this bound with any 16-bit number sum to less than 2^31 (columns beyond
// the last hold arbitrary bits, and their sums are dropped).
constexpr double largest_factor16 = 8191.0;

// The factors of two rows, interleaved for the multiply-add of pairs.
PYDPMC_INLINE int32_t factor_pair(int32_t even, int32_t odd) noexcept {
  return static_cast<int32_t>((static_cast<uint32_t>(even) & 0xffff) | static_cast<uint32_t>(odd) << 16);
}

#if defined(__AVX2__)

PYDPMC_INLINE void products16(const int16_t* const* row, int j, const int32_t (&pair)[4],
                              int64_t* sums) noexcept {
  __m256i low = _mm256_setzero_si256(), high = low;
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    const __m256i a = unaligned<__m256i>(row[2 * k] + j), b = unaligned<__m256i>(row[2 * k + 1] + j);
    const __m256i factors = _mm256_set1_epi32(pair[k]);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), factors));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), factors));
  }
  // Interleaving works within 128-bit halves: columns 0-3 and 8-11 are in `low`, the others in `high`.
  const __m128i four[4] = {_mm256_castsi256_si128(low), _mm256_castsi256_si128(high),
                           _mm256_extracti128_si256(low, 1), _mm256_extracti128_si256(high, 1)};
#pragma GCC unroll 4
  for (int k = 0; k < 4; ++k) {
    const __m256i total = _mm256_add_epi64(unaligned<__m256i>(sums + 4 * k), _mm256_cvtepi32_epi64(four[k]));
    __builtin_memcpy(sums + 4 * k, &total, sizeof total);
  }
}

#else

PYDPMC_INLINE void products16(const int16_t* const* row, int j, const int32_t (&pair)[4],
                              int64_t* sums) noexcept {
  int32_t total[16] = {};
#if defined(__SSE2__)
#pragma GCC unroll 2
  for (int half = 0; half < 16; half += 8) {
    __m128i low = _mm_setzero_si128(), high = low;
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const __m128i a = unaligned<__m128i>(row[2 * k] + j + half),
                    b = unaligned<__m128i>(row[2 * k + 1] + j + half);
      const __m128i factors = _mm_set1_epi32(pair[k]);
      low = _mm_add_epi32(low, _mm_madd_epi16(_mm_unpacklo_epi16(a, b), factors));
      high = _mm_add_epi32(high, _mm_madd_epi16(_mm_unpackhi_epi16(a, b), factors));
    }
    __builtin_memcpy(total + half, &low, sizeof low);
    __builtin_memcpy(total + half + 4, &high, sizeof high);
  }
#else
  for (int k = 0; k < 4; ++k) {
    const int32_t even = static_cast<int16_t>(pair[k] & 0xffff), odd = pair[k] >> 16;
    for (int c = 0; c < 16; ++c) total[c] += even * row[2 * k][j + c] + odd * row[2 * k + 1][j + c];
  }
#endif
  for (int c = 0; c < 16; ++c) sums[c] += total[c];
}

#endif

PYDPMC_ISA_END

// The larger and the smaller of two numbers, lane by lane: b if either is no number or both are zero. That is
// what one instruction of x86 does, which compilers do not find by themselves.
#pragma once

#include "simd/widen.hpp"

PYDPMC_ISA_BEGIN

template <class Vector>
PYDPMC_INLINE Vector larger(Vector a, Vector b) noexcept {
#if defined(__AVX512F__)
  if constexpr (sizeof a == 64) return (Vector)_mm512_maskz_max_pd(0xff, (__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
  if constexpr (sizeof a == 32) return (Vector)_mm256_max_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
  if constexpr (sizeof a == 16) return (Vector)_mm_max_pd((__m128d)a, (__m128d)b);
#endif
  return a > b ? a : b;
}

template <class Vector>
PYDPMC_INLINE Vector smaller(Vector a, Vector b) noexcept {
#if defined(__AVX512F__)
  if constexpr (sizeof a == 64) return (Vector)_mm512_maskz_min_pd(0xff, (__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
  if constexpr (sizeof a == 32) return (Vector)_mm256_min_pd((__m256d)a, (__m256d)b);
#elif defined(__SSE2__)
  if constexpr (sizeof a == 16) return (Vector)_mm_min_pd((__m128d)a, (__m128d)b);
#endif
  return a < b ? a : b;
}

PYDPMC_ISA_END

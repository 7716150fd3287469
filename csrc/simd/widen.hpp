// Converts stored numbers to a vector of doubles, exactly. Intrinsics are used where the compiler's own
// conversion would go through half vectors.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "simd/isa.hpp"

#define PYDPMC_INLINE [[gnu::always_inline]] inline
#define PYDPMC_LAMBDA __attribute__((always_inline))

PYDPMC_ISA_BEGIN

template <int width>
struct Wide {
  typedef double F __attribute__((vector_size(width * 8)));
  typedef uint64_t U __attribute__((vector_size(width * 8)));
  typedef float Floats __attribute__((vector_size(width * 4)));
};

// Loads one vector from an unaligned address. (A template argument loses the
// attributes of its type, so a pointer to an unaligned vector type would not be
// safe.)
template <class Vector>
PYDPMC_INLINE Vector unaligned(const void* from) noexcept {
  Vector v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// x in every lane. Nothing is computed: x - 0 is x, whereas 0 + x would be an addition because of -0.
template <class Vector, class Number>
PYDPMC_INLINE Vector every(Number x) noexcept {
  return x - Vector{};
}

template <int width>
PYDPMC_INLINE typename Wide<width>::F widen(const double* from) noexcept {
  return unaligned<typename Wide<width>::F>(from);
}

template <int width>
PYDPMC_INLINE typename Wide<width>::F widen(const float* from) noexcept {
#if defined(__AVX512F__)
  // _mm512_cvtps_pd is avoided because gcc 12 warns about its header.
  if constexpr (width == 8) return (typename Wide<8>::F)_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from));
#endif
#if defined(__AVX2__)
  if constexpr (width == 4) return (typename Wide<4>::F)_mm256_cvtps_pd(_mm_loadu_ps(from));
#endif
#if defined(__SSE2__)
  if constexpr (width == 2)
    return (typename Wide<2>::F)_mm_cvtps_pd(
        _mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
  return __builtin_convertvector(unaligned<typename Wide<width>::Floats>(from), typename Wide<width>::F);
}

// The integers themselves; the caller multiplies by their unit.
template <int width>
PYDPMC_INLINE typename Wide<width>::F widen(const int16_t* from) noexcept {
#if defined(__AVX512F__)
  if constexpr (width == 8)
    return (typename Wide<8>::F)_mm512_maskz_cvtepi32_pd(
        0xff, _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#endif
#if defined(__AVX2__)
  if constexpr (width == 4)
    return (typename Wide<4>::F)_mm256_cvtepi32_pd(
        _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#endif
#if defined(__SSE2__)
  if constexpr (width == 2) {
    const __m128i x = _mm_cvtsi32_si128(unaligned<int32_t>(from));
    return (typename Wide<2>::F)_mm_cvtepi32_pd(_mm_srai_epi32(_mm_unpacklo_epi16(x, x), 16));
  }
#endif
  typename Wide<width>::F x;
  for (int k = 0; k < width; ++k) x[k] = static_cast<double>(from[k]);
  return x;
}

#if defined(__AVX512F__)
// Four numbers, and zeros in the other lanes.
PYDPMC_INLINE Wide<8>::F load_half(const double* from) noexcept {
  return (Wide<8>::F)_mm512_maskz_loadu_pd(0x0f, from);
}

PYDPMC_INLINE Wide<8>::F load_half(const float* from) noexcept {
  return (Wide<8>::F)_mm512_maskz_cvtps_pd(0x0f, _mm256_zextps128_ps256(_mm_loadu_ps(from)));
}

PYDPMC_INLINE Wide<8>::F load_half(const int16_t* from) noexcept {
  const __m128i four = _mm_cvtepi16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  return (Wide<8>::F)_mm512_maskz_cvtepi32_pd(0x0f, _mm256_zextsi128_si256(four));
}
#endif

PYDPMC_ISA_END

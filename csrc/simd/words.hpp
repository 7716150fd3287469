// Eight 32-bit words at a time, on any CPU.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "simd/widen.hpp"

PYDPMC_ISA_BEGIN

typedef std::uint32_t Words8 __attribute__((vector_size(32)));

PYDPMC_INLINE Words8 load_words(const void* from) noexcept {
  Words8 v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

PYDPMC_INLINE void store_words(std::uint32_t* to, Words8 v) noexcept { std::memcpy(to, &v, sizeof v); }

PYDPMC_INLINE std::uint32_t word_at(const void* from, int k) noexcept {
  std::uint32_t word;
  std::memcpy(&word, static_cast<const char*>(from) + 4 * k, sizeof word);
  return word;
}

// Bit k is the highest bit of word k.
PYDPMC_INLINE unsigned sign_bits(Words8 v) noexcept {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)v));
#elif defined(__SSE2__)
  __m128 half[2];
  std::memcpy(half, &v, sizeof half);
  return static_cast<unsigned>(_mm_movemask_ps(half[0]) | _mm_movemask_ps(half[1]) << 4);
#else
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) bits |= v[k] >> 31 << k;
  return bits;
#endif
}

PYDPMC_ISA_END

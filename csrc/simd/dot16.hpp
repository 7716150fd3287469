// Exact dot products of sixteen-bit numbers with numbers of two digits, `dot16_columns` columns at a time.
#pragma once

#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

constexpr int digit_bits = 12;
constexpr int largest_digit = 1 << (digit_bits - 1);
// A lane adds two products per step, each at most 2^11 2^15, so that this many steps stay below 2^31.
constexpr int most_dot16_steps = 15;

#if defined(__AVX2__)
constexpr int dot16_columns = 16;
typedef int32_t Sums32 __attribute__((vector_size(32)));
typedef uint64_t Sums64 __attribute__((vector_size(32)));

PYDPMC_INLINE Sums32 pair_products(const int16_t* a, const int16_t* b) noexcept {
  return (Sums32)_mm256_madd_epi16(unaligned<__m256i>(a), unaligned<__m256i>(b));
}
#else
typedef int32_t Sums32 __attribute__((vector_size(16)));
typedef uint64_t Sums64 __attribute__((vector_size(16)));
#if defined(__SSE2__)
constexpr int dot16_columns = 8;

PYDPMC_INLINE Sums32 pair_products(const int16_t* a, const int16_t* b) noexcept {
  return (Sums32)_mm_madd_epi16(unaligned<__m128i>(a), unaligned<__m128i>(b));
}
#else
constexpr int dot16_columns = 4;

PYDPMC_INLINE Sums32 pair_products(const int16_t* a, const int16_t* b) noexcept {
  return Sums32{a[0] * b[0], a[1] * b[1], a[2] * b[2], a[3] * b[3]};
}
#endif
#endif

// Adds neighbours in 64 bits, as unsigned numbers, since not every CPU can extend signs.
PYDPMC_INLINE Sums64 widened(Sums32 x) noexcept {
  const Sums64 shifted = (Sums64)(x ^ INT32_MIN);
  return (shifted & 0xffffffffu) + (shifted >> 32) - (uint64_t{1} << 32);
}

PYDPMC_INLINE int64_t sum(Sums64 x) noexcept {
  uint64_t total = 0;
  for (size_t k = 0; k < sizeof x / 8; ++k) total += x[k];
  return static_cast<int64_t>(total);
}

PYDPMC_ISA_END

// Sixteen single-precision numbers at a time on any CPU. As in simd/lanes.hpp, every operation acts lane by
// lane with one rounding.
#pragma once

#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

constexpr int narrow_lanes = 16;
constexpr int narrow_native = 2 * native_lanes;
constexpr int narrow_parts = narrow_lanes / narrow_native;

typedef float NarrowF __attribute__((vector_size(narrow_native * 4)));
typedef uint32_t NarrowU __attribute__((vector_size(narrow_native * 4)));
typedef float FourFloats __attribute__((vector_size(16)));

struct F16 {
  NarrowF p[narrow_parts];
};

PYDPMC_INLINE F16 zero_f16() noexcept {
  F16 r;
  for (int k = 0; k < narrow_parts; ++k) r.p[k] = NarrowF{};
  return r;
}

PYDPMC_INLINE NarrowF load_narrow(const float* from) noexcept { return unaligned<NarrowF>(from); }

PYDPMC_INLINE F16 load16(const float* from) noexcept {
  F16 r;
  for (int k = 0; k < narrow_parts; ++k) r.p[k] = load_narrow(from + k * narrow_native);
  return r;
}

PYDPMC_INLINE void add_product(F16& total, const F16& a, const F16& b) noexcept {
  for (int k = 0; k < narrow_parts; ++k) total.p[k] = total.p[k] + a.p[k] * b.p[k];
}

// Adds the halves of a vector until four lanes are left.
template <class Vector>
PYDPMC_INLINE FourFloats fold(Vector x) noexcept {
  if constexpr (sizeof x == 64)
    return fold(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7) +
                __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  else if constexpr (sizeof x == 32)
    return __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
  else
    return x;
}

// Lane l of the result is (l + (l + 8)) + ((l + 4) + (l + 12)).
PYDPMC_INLINE FourFloats fold(const F16& x) noexcept {
  if constexpr (narrow_parts == 4)
    return fold((x.p[0] + x.p[2 % narrow_parts]) + (x.p[1 % narrow_parts] + x.p[3 % narrow_parts]));
  else if constexpr (narrow_parts == 2)
    return fold(x.p[0] + x.p[1 % narrow_parts]);
  else
    return fold(x.p[0]);
}

// The sums of four vectors, each computed as (0 + 2) + (1 + 3) from its fold.
PYDPMC_INLINE FourFloats sums_of(const F16* x) noexcept {
  const FourFloats a = fold(x[0]), b = fold(x[1]), c = fold(x[2]), d = fold(x[3]);
  const FourFloats ab = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const FourFloats cd = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

// Adding 1.5 * 2^23 rounds |x| < 2^22 to the nearest integer and leaves it in the low bits.
constexpr float narrow_magic = 12582912.0f;
constexpr uint32_t narrow_magic_bits = 0x4b400000;

PYDPMC_ISA_END

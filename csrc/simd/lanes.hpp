// Eight doubles at a time on any CPU. Every operation acts lane by lane with one rounding, so that a record's
// value is the same on every instruction set and in every lane.
#pragma once

#include <cstdint>
#include <cstring>

#include "simd/extremes.hpp"
#include "simd/widen.hpp"

PYDPMC_ISA_BEGIN

#if defined(__AVX512F__)
constexpr int native_lanes = 8;
#elif defined(__AVX2__)
constexpr int native_lanes = 4;
#else
constexpr int native_lanes = 2;
#endif

constexpr int lanes = 8;
constexpr int parts = lanes / native_lanes;

typedef double NativeF __attribute__((vector_size(native_lanes * 8)));
typedef int64_t NativeI __attribute__((vector_size(native_lanes * 8)));

struct F8 {
  NativeF p[parts];
};

struct I8 {
  NativeI p[parts];
};

PYDPMC_INLINE F8 fill(double x) noexcept {
  F8 r;
  for (int k = 0; k < parts; ++k) r.p[k] = every<NativeF>(x);
  return r;
}

PYDPMC_INLINE I8 zero_i8() noexcept {
  I8 r;
  for (int k = 0; k < parts; ++k) r.p[k] = NativeI{};
  return r;
}

// Loads and stores each part separately: a memcpy of the whole struct would go through the stack.
typedef double UnalignedF __attribute__((vector_size(native_lanes * 8), aligned(8), may_alias));

template <class Scalar>
PYDPMC_INLINE NativeF load_native(const Scalar* from) noexcept {
  return widen<native_lanes>(from);
}

template <class Scalar>
PYDPMC_INLINE F8 load(const Scalar* from) noexcept {
  F8 r;
  for (int k = 0; k < parts; ++k) r.p[k] = load_native(from + k * native_lanes);
  return r;
}

PYDPMC_INLINE void store(double* to, F8 x) noexcept {
  for (int k = 0; k < parts; ++k) *reinterpret_cast<UnalignedF*>(to + k * native_lanes) = x.p[k];
}

#define PYDPMC_LANEWISE(op)                                                      \
  PYDPMC_INLINE F8 operator op(F8 a, F8 b) noexcept {                            \
    for (int k = 0; k < parts; ++k) a.p[k] = a.p[k] op b.p[k];                   \
    return a;                                                                    \
  }                                                                              \
  PYDPMC_INLINE F8 operator op(F8 a, double b) noexcept { return a op fill(b); } \
  PYDPMC_INLINE F8 operator op(double a, F8 b) noexcept { return fill(a) op b; }
PYDPMC_LANEWISE(+)
PYDPMC_LANEWISE(-)
PYDPMC_LANEWISE(*)
PYDPMC_LANEWISE(/)
#undef PYDPMC_LANEWISE

#define PYDPMC_COMPARE(op)                                                   \
  PYDPMC_INLINE I8 operator op(F8 a, F8 b) noexcept {                        \
    I8 mask;                                                                 \
    for (int k = 0; k < parts; ++k) mask.p[k] = (NativeI)(a.p[k] op b.p[k]); \
    return mask;                                                             \
  }
PYDPMC_COMPARE(<)
PYDPMC_COMPARE(>)
PYDPMC_COMPARE(<=)
PYDPMC_COMPARE(==)
#undef PYDPMC_COMPARE

PYDPMC_INLINE F8 select(I8 mask, F8 yes, F8 no) noexcept {
  for (int k = 0; k < parts; ++k) no.p[k] = mask.p[k] ? yes.p[k] : no.p[k];
  return no;
}

// Bit k is lane k of the mask.
PYDPMC_INLINE unsigned bits_of(I8 mask) noexcept {
  unsigned bits = 0;
  for (int k = 0; k < parts; ++k) {
#if defined(__AVX512F__)
    bits |= _mm512_cmplt_epi64_mask((__m512i)mask.p[k], _mm512_setzero_si512());
#elif defined(__AVX2__)
    bits |= static_cast<unsigned>(_mm256_movemask_pd((__m256d)mask.p[k])) << (4 * k);
#elif defined(__SSE2__)
    bits |= static_cast<unsigned>(_mm_movemask_pd((__m128d)mask.p[k])) << (2 * k);
#else
    for (int i = 0; i < native_lanes; ++i) bits |= (mask.p[k][i] ? 1u : 0u) << (native_lanes * k + i);
#endif
  }
  return bits;
}

PYDPMC_INLINE F8 max(F8 a, F8 b) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = larger(a.p[k], b.p[k]);
  return a;
}

PYDPMC_INLINE F8 min(F8 a, F8 b) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = smaller(a.p[k], b.p[k]);
  return a;
}

PYDPMC_INLINE F8 abs(F8 a) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = (NativeF)((NativeI)a.p[k] & (NativeI{} + INT64_MAX));
  return a;
}

PYDPMC_INLINE F8 minus_abs(F8 a) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = (NativeF)((NativeI)a.p[k] | (NativeI{} + INT64_MIN));
  return a;
}

PYDPMC_INLINE I8 operator+(I8 a, I8 b) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = a.p[k] + b.p[k];
  return a;
}

PYDPMC_INLINE I8 operator-(I8 a, I8 b) noexcept {
  for (int k = 0; k < parts; ++k) a.p[k] = a.p[k] - b.p[k];
  return a;
}

PYDPMC_INLINE int64_t sum(I8 a) noexcept {
  int64_t lane[lanes], total = 0;
  std::memcpy(lane, &a, sizeof a);
  for (int64_t v : lane) total += v;
  return total;
}

// Adding 1.5 * 2^52 rounds |x| < 2^51 to the nearest integer (ties to even: an odd function) and leaves it in
// the low bits.
constexpr double rounding_magic = 6755399441055744.0;

PYDPMC_INLINE I8 nearest_integer(F8 x) noexcept {
  const F8 magic = fill(rounding_magic);
  const F8 shifted = x + magic;
  I8 r;
  for (int k = 0; k < parts; ++k) r.p[k] = (NativeI)shifted.p[k] - (NativeI)magic.p[k];
  return r;
}

PYDPMC_ISA_END

// exp and softplus without libm. Polynomials are minimax fits; the stated errors are those of the fit, and a
// few roundings (below 8e-16 relative) come on top.
#pragma once

#include "simd/lanes.hpp"

PYDPMC_ISA_BEGIN

// Evaluates pairs of coefficients, then pairs of pairs, and so on: the shortest dependency chain.
template <int n>
PYDPMC_INLINE F8 polynomial(F8 x, const double (&c)[n]) noexcept {
  static_assert(n % 2 == 0 && n <= 16);
  F8 term[n / 2];
#pragma GCC unroll 8
  for (int k = 0; k < n / 2; ++k) term[k] = x * c[2 * k + 1] + c[2 * k];
#pragma GCC unroll 4
  for (int count = n / 2; count > 1; count = (count + 1) / 2) {
    x = x * x;
#pragma GCC unroll 4
    for (int k = 0; k < count / 2; ++k) term[k] = term[2 * k + 1] * x + term[2 * k];
    if (count % 2) term[count / 2] = term[count - 1];
  }
  return term[0];
}

constexpr double log2e = 1.4426950408889634;
constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;

// x = r + whole log(2), |r| <= log(2)/2; the low bits of `shifted` hold the integer `whole`.
struct Reduced {
  F8 r, shifted;
};

PYDPMC_INLINE Reduced reduced(F8 x) noexcept {
  const F8 shifted = x * log2e + rounding_magic;
  const F8 whole = shifted - rounding_magic;
  return {(x - whole * ln2_high) - whole * ln2_low, shifted};
}

// exp(x) for x in [-708, 709]; relative error of the fit 3.2e-18.
PYDPMC_INLINE F8 exp_in_range(F8 x) noexcept {
  constexpr double coefficients[] = {1.0,
                                     1.0,
                                     0.5000000000000019,
                                     0.1666666666666668,
                                     0.0416666666664881,
                                     0.008333333333319601,
                                     0.0013888888952314775,
                                     0.00019841269890047113,
                                     2.4801485482328494e-05,
                                     2.755724091857897e-06,
                                     2.763263963904103e-07,
                                     2.5110037605963777e-08};
  const auto [r, shifted] = reduced(x);
  F8 e = polynomial(r, coefficients);
  for (int k = 0; k < parts; ++k) e.p[k] = (NativeF)((NativeI)e.p[k] + ((NativeI)shifted.p[k] << 52));
  return e;
}

// exp(x), x clamped to [-708, 709].
PYDPMC_INLINE F8 exp(F8 x) noexcept { return exp_in_range(min(max(x, fill(-708.0)), fill(709.0))); }

// exp(x) for x <= 0; NaN stays NaN.
PYDPMC_INLINE F8 exp_below_zero(F8 x) noexcept {
  return select(x == x, exp_in_range(max(x, fill(-708.0))), x);
}

// 2 atanh(s) = log((1 + s) / (1 - s)) for |s| <= 1/3, odd; relative error of the fit 5e-17.
PYDPMC_INLINE F8 twice_atanh(F8 s) noexcept {
  constexpr double coefficients[] = {2.0 * 1.0,
                                     2.0 * 0.33333333333341286,
                                     2.0 * 0.199999999976438,
                                     2.0 * 0.1428571455582858,
                                     2.0 * 0.11111095430673142,
                                     2.0 * 0.09091429900236955,
                                     2.0 * 0.07681838124445817,
                                     2.0 * 0.06795652742789947,
                                     2.0 * 0.04940394524382393,
                                     2.0 * 0.08890381913056651};
  return s * polynomial(s * s, coefficients);
}

// log(1 + u) for u in [0, 1].
PYDPMC_INLINE F8 log1p_unit(F8 u) noexcept { return twice_atanh(u / (u + 2.0)); }

// log(x) for finite x >= 1; NaN stays NaN.
PYDPMC_INLINE F8 log_from_one(F8 x) noexcept {
  typedef uint64_t Bits __attribute__((vector_size(native_lanes * 8)));
  F8 exponent, mantissa;
  for (int k = 0; k < parts; ++k) {
    const Bits bits = (Bits)x.p[k], magic = (Bits)(every<NativeF>(rounding_magic));
    exponent.p[k] = (NativeF)((bits >> 52) - 1023 + magic) - rounding_magic;
    mantissa.p[k] = (NativeF)((bits & 0x000fffffffffffff) | 0x3ff0000000000000);  // in [1, 2)
  }
  const F8 tail = exponent * ln2_low + log1p_unit(mantissa - 1.0);
  return select(x == x, exponent * ln2_high + tail, x);
}

// A quotient that is not computed: a sigmoid or a logarithm of it divides once. If x is NaN, `below` is.
struct Quotient {
  F8 above, below;
};

// 2^whole (1 + t) / (1 - t) with t = tanh(r/2) for the base e, |r| <= log(2)/2, and t = tanh(r log(2)/2) for
// the base 2, |r| <= 1/2: an odd polynomial over an even one. The low bits of `shifted` hold `whole`.
PYDPMC_INLINE Quotient scaled_power(F8 r, F8 shifted, const double (&odd)[3],
                                    const double (&even)[2]) noexcept {
  const F8 square = r * r;
  const F8 a = (square * even[1] + even[0]) * square + 1.0;
  const F8 b = ((square * odd[2] + odd[1]) * square + odd[0]) * r;
  Quotient q{a + b, a - b};
  for (int k = 0; k < parts; ++k)
    q.above.p[k] = (NativeF)((NativeI)q.above.p[k] + ((NativeI)shifted.p[k] << 52));
  return q;
}

// exp(-|x|), |x| clamped at 708; relative error of the fit 3.2e-18.
PYDPMC_INLINE Quotient exp_minus_abs(F8 x) noexcept {
  constexpr double odd[] = {0.5, 0.013887385130557116, 3.3043739219373426e-05};
  constexpr double even[] = {0.11110810359444556, 0.0009917627781100642};
  const auto [r, shifted] = reduced(max(fill(-708.0), minus_abs(x)));
  return scaled_power(r, shifted, odd, even);
}

// The same, clamped at 693, with three operations fewer: the product |x| log2(e), rounded once, makes an
// error of |x| 2^-53 relative to exp(-|x|), so at most 2^-54 in itself. The error of the fit is 1.2e-17.
PYDPMC_INLINE Quotient exp_minus_abs_nearly(F8 x) noexcept {
  constexpr double odd[] = {0.34657359027997264, 0.004624841600140018, 5.287087419083203e-06};
  constexpr double even[] = {0.05338222324268712, 0.00022893365865606942};
  const F8 power = max(fill(-1000.0), minus_abs(x) * log2e);
  const F8 shifted = power + rounding_magic;
  return scaled_power(power - (shifted - rounding_magic), shifted, odd, even);
}

// e.below where x > 0, e.above where x < 0; at zero they are equal, and if x is NaN either will do.
PYDPMC_INLINE F8 by_sign(F8 x, const Quotient& e) noexcept {
#if defined(__AVX2__) && !defined(__AVX512F__)
  F8 found;  // by the sign bit, which saves a comparison
  for (int k = 0; k < parts; ++k)
    found.p[k] = (NativeF)_mm256_blendv_pd((__m256d)e.below.p[k], (__m256d)e.above.p[k], (__m256d)x.p[k]);
  return found;
#else
  return select(x > fill(0.0), e.below, e.above);
#endif
}

// 1 / (1 + exp(-x)) to 4e-16, from e = exp_minus_abs_nearly(x); NaN stays NaN.
PYDPMC_INLINE F8 logistic(F8 x, const Quotient& e) noexcept { return by_sign(x, e) / (e.above + e.below); }

PYDPMC_INLINE F8 logistic(F8 x) noexcept { return logistic(x, exp_minus_abs_nearly(x)); }

// log(1 + exp(-|x|)) from exp(-|x|).
PYDPMC_INLINE F8 log_one_plus(const Quotient& e) noexcept {
  return twice_atanh(e.above / (e.above + 2.0 * e.below));
}

// log(1 + exp(x)), without overflow; NaN stays NaN.
PYDPMC_INLINE F8 softplus(F8 x) noexcept { return max(fill(0.0), x) + log_one_plus(exp_minus_abs(x)); }

// softplus(x) - softplus(y) with one logarithm; exchanging x and y changes exactly the sign.
PYDPMC_INLINE F8 softplus_difference(F8 x, F8 y) noexcept {
  const Quotient u = exp_minus_abs(x), v = exp_minus_abs(y);
  const F8 first = u.above * v.below, second = v.above * u.below;
  return (max(fill(0.0), x) - max(fill(0.0), y)) +
         twice_atanh((first - second) / ((first + second) + 2.0 * (u.below * v.below)));
}

PYDPMC_ISA_END

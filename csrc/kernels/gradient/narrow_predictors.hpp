// Linear predictors of eight rows stored in single precision or in sixteen bits, sixteen columns at a time.
// They do not depend on the instruction set.
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/predictor.hpp"
#include "simd/dot16.hpp"
#include "simd/narrow.hpp"

PYDPMC_ISA_BEGIN

// Converting a double beyond the largest float is undefined behaviour.
PYDPMC_INLINE float nearest_float(double x) noexcept {
  constexpr double largest = 0x1.fffffep127;
  return static_cast<float>(x > largest ? largest : x < -largest ? -largest : x);
}

// Predictors in single precision.
class FloatSlopes {
 public:
  FloatSlopes(const double* slopes, int columns, int width, float* scratch) noexcept
      : slopes_(scratch), width_(width) {
    for (int j = 0; j < width; ++j) scratch[j] = j < columns ? nearest_float(slopes[j]) : 0.0f;
  }

  template <class Fetch>
  PYDPMC_INLINE F8 predictors(const Rows<float>& row, const Fetch& fetch) const noexcept {
    return fetch.comes_by_itself ? dots_of_long(row) : dots<4>(row, fetch);
  }

 private:
  [[gnu::noinline]] F8 dots_of_long(const Rows<float>& row) const noexcept {
    return dots<8>(row, fetch_nothing);
  }

  template <int at_once, class Fetch>
  PYDPMC_INLINE F8 dots(const Rows<float>& row, const Fetch& fetch) const noexcept {
    float eta[lanes];
#pragma GCC unroll 2
    for (int first = 0; first < lanes; first += at_once) {
      F16 total[at_once];
      for (F16& t : total) t = zero_f16();
      for (int j = 0; j < width_; j += narrow_lanes) {
        const F16 slope = load16(slopes_ + j);
        fetch(first / 2, j);
#pragma GCC unroll 8
        for (int r = 0; r < at_once; ++r) add_product(total[r], load16(row[first + r] + j), slope);
      }
#pragma GCC unroll 2
      for (int r = 0; r < at_once; r += 4) {
        const FourFloats sums = sums_of(total + r);
        __builtin_memcpy(eta + first + r, &sums, sizeof sums);
      }
    }
    return load(eta);
  }

  const float* slopes_;
  int width_;
};

// Exact predictors from slopes rounded to 24 bits relative to the largest, far finer than the rows' grid.
class DigitSlopes {
 public:
  DigitSlopes(const double* slopes, int columns, int width, float* scratch) noexcept
      : high_(reinterpret_cast<int16_t*>(scratch)), low_(high_ + width), width_(width) {
    constexpr int bits = 2 * digit_bits - 2;
    double most = 0x1p-900;
    bool finite = true;
    for (int j = 0; j < columns; ++j) {
      finite &= std::isfinite(slopes[j]);
      most = std::max(most, std::fabs(slopes[j]));
    }
    const int exponent = finite ? std::ilogb(most) : 0;
    const double scale = std::ldexp(1.0, bits - exponent);
    unit_ = finite ? fixed16_step / scale : std::nan("");
    for (int j = 0; j < width; ++j) {
      const double shifted = (finite && j < columns ? slopes[j] * scale : 0.0) + rounding_magic;
      int64_t whole;
      std::memcpy(&whole, &shifted, sizeof whole);
      const int32_t low_bits = static_cast<int32_t>(whole) + largest_digit;  // low bits of the constant: 0
      high_[j] = static_cast<int16_t>(low_bits >> digit_bits);
      low_[j] = static_cast<int16_t>((low_bits & (2 * largest_digit - 1)) - largest_digit);
    }
  }

  template <class Fetch>
  PYDPMC_INLINE F8 predictors(const Rows<int16_t>& row, const Fetch& fetch) const noexcept {
    double eta[lanes];
#pragma GCC unroll 2
    for (int half = 0; half < lanes; half += 4) {
      Sums64 total[4] = {};
      for (int begin = 0, end; begin < width_; begin = end) {
        end = std::min(begin + most_dot16_steps * dot16_columns, width_);
        Sums32 high[4] = {}, low[4] = {};
        for (int j = begin; j < end; j += dot16_columns) {
          fetch(half / 2, j);
#pragma GCC unroll 4
          for (int r = 0; r < 4; ++r) {
            high[r] += pair_products(row[half + r] + j, high_ + j);
            low[r] += pair_products(row[half + r] + j, low_ + j);
          }
        }
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) total[r] += (widened(high[r]) << digit_bits) + widened(low[r]);
      }
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) eta[half + r] = static_cast<double>(sum(total[r]));
    }
    return load(eta) * unit_;
  }

 private:
  int16_t *high_, *low_;
  int width_;
  double unit_;
};

PYDPMC_ISA_END

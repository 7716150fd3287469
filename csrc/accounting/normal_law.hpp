// The normal distribution function and the scaled complementary error function, to a few ulps.
#pragma once
#include <cmath>
#include <numbers>

namespace pydpmc::accounting {

// Rounding t / sqrt 2 costs t^2 ulps in the lower tail; std::erfc costs a few.
inline double normal_cdf(double t) { return 0.5 * std::erfc(-t * (0.5 * std::numbers::sqrt2)); }

// exp(x^2) erfc(x) for x >= 0. Below `series_start`, x^2 is split into two parts, so that exp does not
// magnify its rounding, and erfc does not underflow. Above it the asymptotic series alternates, so its error
// is less than the first omitted term, 4e-19.
inline double erfcx(double x) {
  constexpr double series_start = 25.0;
  if (x < series_start) {
    const double square = x * x, rest = std::fma(x, x, -square);
    return std::exp(square) * (1.0 + rest) * std::erfc(x);
  }
  const double half = 0.5 / x / x;
  double series = 1.0;
  for (int k = 7; k > 0; --k) series = 1.0 - (2 * k - 1) * half * series;
  return std::numbers::inv_sqrtpi / x * series;
}

}  // namespace pydpmc::accounting

// N(0, 1) variates for what does not depend on data (proposals, starting points). Not for privacy noise: the
// low bits of a double reveal what was added to it (docs/privacy/randomness.md).
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

#include "random/stream.hpp"

namespace pydpmc {

namespace normal_detail {

struct Polar {
  double radius, angle;
};

// Box and Muller (1958). A radius from 64 bits reaches sqrt(130 log 2) = 9.49, where two tails hold 2e-21.
inline Polar polar(std::uint64_t radius_word, std::uint64_t angle_word) noexcept {
  const double u = (static_cast<double>(radius_word) + 0.5) * 0x1p-64;
  return {std::sqrt(-2.0 * std::log(u)),
          static_cast<double>(angle_word >> 11) * (std::numbers::pi * 0x1p-52)};
}

}  // namespace normal_detail

inline double normal(Stream& stream) noexcept {
  const std::uint64_t radius_word = stream.next64();
  const auto [radius, angle] = normal_detail::polar(radius_word, stream.next64());
  return radius * std::cos(angle);
}

// Two variates for every two words; an odd last one is normal().
inline void fill_normal(Stream& stream, double* out, std::size_t n) noexcept {
  std::size_t i = 0;
  for (; i + 2 <= n; i += 2) {
    const std::uint64_t radius_word = stream.next64();
    const auto [radius, angle] = normal_detail::polar(radius_word, stream.next64());
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
  if (i < n) out[i] = normal(stream);
}

}  // namespace pydpmc

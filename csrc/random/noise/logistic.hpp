// Logistic(0, 1) variates by inversion.
#pragma once

#include <cmath>
#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

// Takes one word: the lowest bit is the sign, the rest a uniform u in (0, 1/2), so each tail ends at 65 log 2
// = 45.
inline double logistic(Stream& stream) noexcept {
  const std::uint64_t word = stream.next64();
  const double u = (static_cast<double>(word >> 1) + 0.5) * 0x1p-64;
  const double magnitude = std::log1p(-u) - std::log(u);
  return word & 1 ? -magnitude : magnitude;
}

}  // namespace pydpmc

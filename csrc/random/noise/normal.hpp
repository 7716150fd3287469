// N(0, 1) variates for what does not depend on data (proposals, starting points). Not for privacy noise: the
// low bits of a double reveal what was added to it (docs/privacy/randomness.md).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "random/noise/ziggurat.hpp"
#include "random/stream.hpp"
#include "random/uniform.hpp"

namespace pydpmc {

namespace normal_detail {

// The tail beyond `start`, by Marsaglia's rejection from an exponential; it ends at start + 8.5.
inline double tail(Stream& stream, double start) noexcept {
  for (;;) {
    const double beyond = -std::log(open_unit(stream)) / start;
    if (-2.0 * std::log(open_unit(stream)) > beyond * beyond) return start + beyond;
  }
}

}  // namespace normal_detail

inline double normal(Stream& stream) noexcept {
  for (;;) {
    const std::uint64_t word = stream.next64();
    const std::size_t layer = word % Ziggurat::layers;
    // Uses 53 other bits of the word: an odd multiple of 2^-53 in (-1, 1).
    const double u = (static_cast<double>(static_cast<std::int64_t>(word) >> 11) + 0.5) * 0x1p-52;
    const double x = u * ziggurat.edge[layer];
    if (std::fabs(x) < ziggurat.edge[layer + 1]) return x;
    if (layer == 0) return std::copysign(normal_detail::tail(stream, ziggurat.edge[1]), u);
    const double bottom = ziggurat.height[layer], top = ziggurat.height[layer + 1];
    if (bottom + open_unit(stream) * (top - bottom) < std::exp(-0.5 * x * x)) return x;
  }
}

// Gives the same values as n calls of normal().
inline void fill_normal(Stream& stream, double* out, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) out[i] = normal(stream);
}

}  // namespace pydpmc

// Pieces of a trajectory, and the test whether two of them together have turned back.
#pragma once

#include <algorithm>
#include <cmath>

#include "samplers/nuts/leapfrog.hpp"

namespace pydpmc {

// A piece of a trajectory in the order of travel: its ends, the sum of its momenta, the total weight of its
// states, and the state that was chosen from it.
struct Piece {
  Vector first_momentum, first_velocity, last_momentum, last_velocity, momentum_sum;
  double log_weight = 0.0;
  Point chosen;

  explicit Piece(size_t dim)
      : first_momentum(dim),
        first_velocity(dim),
        last_momentum(dim),
        last_velocity(dim),
        momentum_sum(dim),
        chosen(dim) {}
};

inline double log_add(double a, double b) noexcept {
  const double high = std::max(a, b);
  return std::isinf(high) ? high : high + std::log1p(std::exp(std::min(a, b) - high));
}

// Whether a piece with these end velocities, whose momenta sum to a + b, still moves apart.
inline bool goes_on(const Vector& start, const Vector& end, const Vector& a, const Vector& b) noexcept {
  double at_start = 0.0, at_end = 0.0;
  for (size_t j = 0; j < a.size(); ++j) {
    at_start += start[j] * (a[j] + b[j]);
    at_end += end[j] * (a[j] + b[j]);
  }
  return at_start > 0.0 && at_end > 0.0;
}

// Tests the whole, and each half together with the nearest state of the other half.
inline bool both_go_on(const Piece& a, const Piece& b) noexcept {
  return goes_on(a.first_velocity, b.last_velocity, a.momentum_sum, b.momentum_sum) &&
         goes_on(a.first_velocity, b.first_velocity, a.momentum_sum, b.first_momentum) &&
         goes_on(a.last_velocity, b.last_velocity, a.last_momentum, b.momentum_sum);
}

}  // namespace pydpmc

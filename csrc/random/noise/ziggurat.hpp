// The tables of Marsaglia and Tsang's ziggurat (2000) for the half normal density f(x) = exp(-x^2/2).
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>

namespace pydpmc {

// Layers of equal area: layer i >= 1 is the rectangle [0, edge[i]] x [height[i], height[i + 1]]. Layer 0 is
// the rectangle [0, edge[1]] x [0, height[1]] plus the tail; a rectangle of its area has the width edge[0].
struct Ziggurat {
  static constexpr std::size_t layers = 128;
  double edge[layers + 1];
  double height[layers + 1];

  // The tail begins where the stack of layers just reaches the top of f; bisection finds this point.
  Ziggurat() noexcept {
    double low = 3.0, high = 4.0;
    for (int i = 0; i < 64; ++i) {
      const double middle = 0.5 * (low + high);
      (stack_overshoots(middle) ? low : high) = middle;
    }
    stack_overshoots(high);
    edge[layers] = 0.0;
    height[layers] = 1.0;
  }

 private:
  static double density(double x) noexcept { return std::exp(-0.5 * x * x); }

  // Fills the tables for a tail that begins at `tail`; returns true if the layers are so large that they
  // exceed the top.
  bool stack_overshoots(double tail) noexcept {
    const double area =
        tail * density(tail) + std::sqrt(std::numbers::pi / 2) * std::erfc(tail / std::numbers::sqrt2);
    edge[0] = area / density(tail);
    height[0] = 0.0;
    edge[1] = tail;
    for (std::size_t i = 1; i < layers; ++i) {
      height[i] = density(edge[i]);
      const double next = height[i] + area / edge[i];
      if (next >= 1.0) return i + 1 < layers || next > 1.0;
      edge[i + 1] = std::sqrt(-2.0 * std::log(next));
    }
    return false;
  }
};

inline const Ziggurat ziggurat;

}  // namespace pydpmc

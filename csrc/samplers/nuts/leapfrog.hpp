// A point of phase space, and one step of Hamiltonian dynamics with a diagonal mass matrix.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "random/noise/normal.hpp"

namespace pydpmc {

using Vector = std::vector<double>;

struct Point {
  Vector theta, momentum, gradient;  // gradient of the log density
  double log_density = 0.0;

  explicit Point(size_t dim = 0) : theta(dim), momentum(dim), gradient(dim) {}
};

template <class Density>
void leapfrog(Point& z, double step_size, const Vector& inverse_mass, Density& density) noexcept {
  for (size_t j = 0; j < z.theta.size(); ++j) {
    z.momentum[j] += 0.5 * step_size * z.gradient[j];
    z.theta[j] += step_size * inverse_mass[j] * z.momentum[j];
  }
  z.log_density = density(z.theta, z.gradient);
  for (size_t j = 0; j < z.theta.size(); ++j) z.momentum[j] += 0.5 * step_size * z.gradient[j];
}

// Infinite where the density is NaN.
inline double energy(const Point& z, const Vector& inverse_mass) noexcept {
  double kinetic = 0.0;
  for (size_t j = 0; j < z.momentum.size(); ++j) kinetic += inverse_mass[j] * z.momentum[j] * z.momentum[j];
  const double total = 0.5 * kinetic - z.log_density;
  return total == total ? total : std::numeric_limits<double>::infinity();
}

inline void draw_momentum(Point& z, const Vector& inverse_mass, Stream& stream) noexcept {
  for (size_t j = 0; j < z.momentum.size(); ++j) z.momentum[j] = normal(stream) / std::sqrt(inverse_mass[j]);
}

}  // namespace pydpmc

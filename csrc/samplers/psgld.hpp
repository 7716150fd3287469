// SGLD with a diagonal preconditioner built only from released gradients: theta' = theta - h P g + sqrt(2hP)
// xi. The noise of the query, sqrt(2/h) in units of g, becomes sqrt(2h) P; what is missing to sqrt(2hP),
// namely sqrt(2h P (1 - P)), is added here and does not look at the data. P <= 1 is what makes the query's
// noise enough. P falls where released gradients are larger than their own noise explains; its drift term is
// left out, as it vanishes with the averaging rate.
#pragma once

#include <cmath>
#include <tuple>
#include <vector>

#include "random/normal.hpp"

namespace pydpmc {

struct Psgld {
  double scale;           // of a gradient that halves the step of its coordinate
  std::vector<double> v;  // running mean of g^2

  static constexpr double averaging = 0.01;

  auto state() { return std::tie(v); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream& diffusion) noexcept {
    const double noise = 2.0 / h;
    for (size_t j = 0; j < theta.size(); ++j) {
      const double signal = v[j] > noise ? std::sqrt(v[j] - noise) : 0.0;
      const double p = 1.0 / (1.0 + signal / scale);
      theta[j] += std::sqrt(2.0 * h * p * (1.0 - p)) * normal(diffusion) - h * p * g[j];
      v[j] += averaging * (g[j] * g[j] - v[j]);
    }
  }
};

}  // namespace pydpmc

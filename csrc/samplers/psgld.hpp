// SGLD with a diagonal preconditioner built only from released gradients: theta' = theta - h P g + sqrt(2hP)
// xi. The noise of the query, sqrt(2/h) in units of g, becomes sqrt(2h) P; what is missing to sqrt(2hP),
// namely sqrt(2h P (1 - P)), is added here and looks at no record. P <= 1 is what makes the query's noise
// enough. P = 1 / (1 + h v / c), v the running mean of what g^2 exceeds its noise by: at rest that is the
// curvature plus the variance of g from the choice of the batch, so that a step is at most c in units of
// either.
#pragma once

#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/noise/normal.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct Psgld {
  static constexpr std::string_view name = "psgld";

  double largest_curvature;  // v starts here and never exceeds it: public
  double stability;          // c
  double heat;               // of the noise in g

  std::vector<double> excess{};
  double seen = 0.0;

  static constexpr double start_counts = 10.0;  // steps that the start of v is worth

  explicit Psgld(const Parameters& given)
      : largest_curvature(given.one("largest_curvature")),
        stability(given.one("stability")),
        heat(given.one("heat")) {}

  void start(std::size_t dim) { excess.assign(dim, largest_curvature); }

  auto state() { return std::tie(excess, seen); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream& diffusion) noexcept {
    const double noise = heat * heat * 2.0 / h;
    const double rate = 2.0 / (seen + start_counts);  // falls to zero, and with it the drift term of P
    for (size_t j = 0; j < theta.size(); ++j) {
      const double p = 1.0 / (1.0 + h * std::fmax(excess[j], 0.0) / stability);
      theta[j] += heat * std::sqrt(2.0 * h * p * (1.0 - p)) * normal(diffusion) - h * p * g[j];
      excess[j] = std::fmin(excess[j] + rate * (g[j] * g[j] - noise - excess[j]), largest_curvature);
    }
    seen += 1.0;
  }
};

}  // namespace pydpmc

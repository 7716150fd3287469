// SGLD with a diagonal preconditioner P computed from released gradients alone: theta' = theta - h P
// g + sqrt(2hP) xi. The noise of the query, sqrt(2/h) in units of g, contributes sqrt(2h) P. Since P
// <= 1 this is at most sqrt(2hP), and the missing sqrt(2h P (1 - P)) is added here; it reads no
// record. P = 1 / (1 + h v / c), where v is the running mean of g^2 minus the variance of its noise.
// In equilibrium v is the curvature plus the variance of g due to batch sampling, so h P v is at most
// c.
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
  double stability;          // c, the largest h P v
  double heat;               // temperature of the noise in g

  std::vector<double> excess{};
  double seen = 0.0;

  static constexpr double start_counts = 10.0;  // weight of the starting value of v, in steps

  explicit Psgld(const Parameters& given)
      : largest_curvature(given.one("largest_curvature")),
        stability(given.one("stability")),
        heat(given.one("heat")) {}

  void start(std::size_t dim) { excess.assign(dim, largest_curvature); }

  auto state() { return std::tie(excess, seen); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream& diffusion) noexcept {
    const double noise = heat * heat * 2.0 / h;
    const double rate = 2.0 / (seen + start_counts);  // tends to zero, and so does the drift term of P
    for (size_t j = 0; j < theta.size(); ++j) {
      const double p = 1.0 / (1.0 + h * std::fmax(excess[j], 0.0) / stability);
      theta[j] += heat * std::sqrt(2.0 * h * p * (1.0 - p)) * normal(diffusion) - h * p * g[j];
      excess[j] = std::fmin(excess[j] + rate * (g[j] * g[j] - noise - excess[j]), largest_curvature);
    }
    seen += 1.0;
  }
};

}  // namespace pydpmc

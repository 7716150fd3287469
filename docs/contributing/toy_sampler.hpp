// SGHMC whose theta moves by the mean of the old and the new velocity: v' = v - eta g - a v + N(0, 2 a eta),
// theta' = theta + (v + v') / 2. g already contains the noise, with standard deviation sqrt(2 a / eta).
// A template: CONTRIBUTING.md, "Add a gradient sampler".
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/stream.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct ToySampler {
  static constexpr std::string_view name = "toy_sampler";  // core_name in Python

  double friction;
  std::vector<double> v{};

  // Reads public numbers, the core_parameters of the settings in Python.
  explicit ToySampler(const Parameters& given) : friction(given.one("friction")) {}

  // Called before the first step; allocates everything.
  void start(std::size_t dim) { v.assign(dim, 0.0); }

  // Returns what a checkpoint must hold besides theta.
  auto state() { return std::tie(v); }

  // `g` is a function of released sums. Any other randomness must come from the last argument, a stream.
  void step(std::vector<double>& theta, const std::vector<double>& g, double eta, Stream&) noexcept {
    for (std::size_t j = 0; j < theta.size(); ++j) {
      const double before = v[j];
      v[j] -= eta * g[j] + friction * v[j];
      theta[j] += 0.5 * (before + v[j]);
    }
  }
};

}  // namespace pydpmc

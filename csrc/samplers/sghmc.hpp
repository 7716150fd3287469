// SGHMC (Wang et al. 2015): v' = v - eta g - a v + N(0, 2 a eta), theta' = theta + v'. g already contains the
// noise, with standard deviation sqrt(2a/eta). Deviation from the paper: theta moves by the new v, not by the
// old one.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/stream.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct Sghmc {
  static constexpr std::string_view name = "sghmc";

  double friction;
  std::vector<double> v{};

  explicit Sghmc(const Parameters& given) : friction(given.one("friction")) {}

  void start(std::size_t dim) { v.assign(dim, 0.0); }

  auto state() { return std::tie(v); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double eta, Stream&) noexcept {
    for (size_t j = 0; j < theta.size(); ++j) {
      v[j] -= eta * g[j] + friction * v[j];
      theta[j] += v[j];
    }
  }
};

}  // namespace pydpmc

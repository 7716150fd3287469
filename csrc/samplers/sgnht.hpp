// SGNHT (Wang et al. 2015): v' = v - alpha v - eta g + N(0, 2 a eta), theta' = theta + v',
// alpha' = alpha + v'.v'/d - eta/(1 - alpha/2). g already contains the noise, with standard deviation
// sqrt(2a/eta). Deviation from the paper: eta/(1 - alpha/2) in place of eta, with which the variance of
// theta would be low by alpha/2.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/stream.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct Sgnht {
  static constexpr std::string_view name = "sgnht";

  double alpha;
  std::vector<double> v{};

  explicit Sgnht(const Parameters& given) : alpha(given.one("friction")) {}

  void start(std::size_t dim) { v.assign(dim, 0.0); }

  auto state() { return std::tie(alpha, v); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double eta, Stream&) noexcept {
    double energy = 0.0;
    for (size_t j = 0; j < theta.size(); ++j) {
      v[j] -= alpha * v[j] + eta * g[j];
      theta[j] += v[j];
      energy += v[j] * v[j];
    }
    alpha += energy / static_cast<double>(theta.size()) - eta / (1.0 - 0.5 * alpha);
  }
};

}  // namespace pydpmc

// SGHMC (papers/001): v' = v - eta g - a v + N(0, 2 a eta), theta' = theta + v'. The noise is already in g,
// with standard deviation sqrt(2a/eta). Deviation from the paper: theta moves by the new v, not the old one.
#pragma once

#include <tuple>
#include <vector>

#include "random/stream.hpp"

namespace pydpmc {

struct Sghmc {
  double friction;
  std::vector<double> v;

  auto state() { return std::tie(v); }

  void step(std::vector<double>& theta, const std::vector<double>& g, double eta, Stream&) noexcept {
    for (size_t j = 0; j < theta.size(); ++j) {
      v[j] -= eta * g[j] + friction * v[j];
      theta[j] += v[j];
    }
  }
};

}  // namespace pydpmc

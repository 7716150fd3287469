// SGLD (Wang et al. 2015, Li et al. 2019): theta' = theta - h g + sqrt(2h) xi. g already contains the noise
// sqrt(2h) xi: it is the noise of the private gradient query, with standard deviation sqrt(2/h) in units of
// g.
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/stream.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct Sgld {
  static constexpr std::string_view name = "sgld";

  explicit Sgld(const Parameters&) {}

  void start(std::size_t) {}
  auto state() { return std::tie(); }

  static void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream&) noexcept {
    for (size_t j = 0; j < theta.size(); ++j) theta[j] -= h * g[j];
  }
};

}  // namespace pydpmc

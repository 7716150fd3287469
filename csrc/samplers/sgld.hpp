// SGLD (papers/001, 003): theta' = theta - h g + sqrt(2h) xi. The noise sqrt(2h) xi is already in g: it is
// the noise of the private gradient query, with standard deviation sqrt(2/h) in units of g.
#pragma once

#include <vector>

#include "random/stream.hpp"

namespace pydpmc {

struct Sgld {
  static void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream&) noexcept {
    for (size_t j = 0; j < theta.size(); ++j) theta[j] -= h * g[j];
  }
};

}  // namespace pydpmc

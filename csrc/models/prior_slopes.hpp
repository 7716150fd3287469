// Slopes of the log prior in all coordinates at once. Normal priors, the most common, take no division and no
// branch.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "models/prior.hpp"

namespace pydpmc {

class PriorSlopes {
 public:
  explicit PriorSlopes(const Prior& prior)
      : location_(prior.size()), precision_(prior.size()), prior_(prior) {
    for (std::size_t j = 0; j < prior.size(); ++j) {
      const double precision = 1.0 / prior[j].scale / prior[j].scale;
      if (prior[j].kind == PriorKind::normal && !prior[j].of_log && std::isnormal(precision)) {
        location_[j] = prior[j].location;
        precision_[j] = precision;
      } else {
        others_.push_back({j, prior[j]});
      }
    }
  }

  // `scratch` has room for all coordinates.
  void operator()(const double* theta, double* out, double* scratch) const noexcept {
    for (std::size_t j = 0; j < location_.size(); ++j) out[j] = (location_[j] - theta[j]) * precision_[j];
    for (const Other& other : others_) out[other.index] = log_prior_slope(other.term, theta[other.index]);
    add_own_slopes(prior_, theta, scratch, out);
  }

 private:
  struct Other {
    std::size_t index;
    PriorTerm term;
  };

  std::vector<double> location_, precision_;
  std::vector<Other> others_;
  Prior prior_;
};

}  // namespace pydpmc

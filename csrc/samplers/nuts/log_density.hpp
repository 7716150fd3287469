// The log density of a tempered posterior and its gradient. Records are summed in blocks of fixed size and
// the blocks in order, so that every bit is the same for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "isa/dispatch.hpp"
#include "models/target.hpp"
#include "threads/team.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

constexpr int64_t density_block = 1024;

// The target: prior^prior_weight times likelihood^weight, each record's log-likelihood clamped to a range.
struct Tempering {
  double weight, prior_weight;
  LoglikRange range;
};

class LogDensity {
 public:
  LogDensity(const Target& target, const Tempering& tempering)
      : target_(target),
        tempering_(tempering),
        stride_(static_cast<size_t>(target.model.dim) + 1),
        blocks_(static_cast<size_t>((target.records.n + density_block - 1) / density_block)),
        partial_(stride_ * blocks_),
        scratch_(stride_) {}

  static size_t workspace(const Target& target) { return slopes_size(target.model); }

  // Returns the log density up to a constant. `slopes` holds a workspace for each thread of the team, whose
  // blocks have density_block records.
  double operator()(const std::vector<double>& theta, std::vector<double>& gradient, Team& team,
                    double* slopes) noexcept {
    return tempered(theta, sums(theta.data(), team, slopes), gradient);
  }

  // The sums over all records: of log-likelihoods, then of the coordinates of their gradients.
  const double* sums(const double* theta, Team& team, double* slopes) noexcept {
    team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
      double* own = slopes + static_cast<size_t>(thread) * workspace(target_);
      kernels_of(target_.model)
          .log_density(target_.model, target_.records, theta, own, begin, end, tempering_.range,
                       partial_.data() + static_cast<size_t>(begin / density_block) * stride_);
      return RatioSum{};
    });
    for (size_t k = 1; k < blocks_; ++k)
      for (size_t j = 0; j < stride_; ++j) partial_[j] += partial_[k * stride_ + j];
    return partial_.data();
  }

  // The log density and its gradient from such sums, wherever they were taken.
  double tempered(const std::vector<double>& theta, const double* sums,
                  std::vector<double>& gradient) noexcept {
    for (size_t j = 0; j < theta.size(); ++j) gradient[j] = log_prior_slope(target_.prior[j], theta[j]);
    add_own_slopes(target_.prior, theta.data(), scratch_.data(), gradient.data());
    for (size_t j = 0; j < theta.size(); ++j)
      gradient[j] = tempering_.prior_weight * gradient[j] + tempering_.weight * sums[j + 1];
    return tempering_.prior_weight * log_prior(target_.prior, theta.data()) + tempering_.weight * sums[0];
  }

 private:
  const Target& target_;
  Tempering tempering_;
  size_t stride_, blocks_;
  std::vector<double> partial_, scratch_;
};

}  // namespace pydpmc

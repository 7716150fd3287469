// The log density of a tempered posterior and its gradient. Records are summed in blocks of fixed size, at
// places that the table alone decides, and the blocks without rounding: every bit is the same for any number
// of threads, and for records in several places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "isa/dispatch.hpp"
#include "models/target.hpp"
#include "samplers/nuts/exact_sums.hpp"
#include "threads/team.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

constexpr int64_t density_block = 1024;

// The target: prior^prior_weight times likelihood^weight, each record's log-likelihood clamped to a range.
struct Tempering {
  double weight, prior_weight;
  LoglikRange range;
};

// What a thread needs to sum blocks of records.
struct alignas(64) DensityWorkspace {
  std::vector<double> slopes, block;
  ExactSums sums;

  explicit DensityWorkspace(const ModelSpec& model)
      : slopes(slopes_size(model)),
        block(static_cast<size_t>(model.dim) + 1),
        sums(static_cast<size_t>(model.dim) + 1) {}
};

class LogDensity {
 public:
  LogDensity(const Target& target, const Tempering& tempering)
      : target_(target), tempering_(tempering), scratch_(static_cast<size_t>(target.model.dim) + 1) {}

  // Returns the log density up to a constant. `own` holds a workspace for each thread of the team, whose
  // blocks have density_block records.
  double operator()(const std::vector<double>& theta, std::vector<double>& gradient, Team& team,
                    DensityWorkspace* own) noexcept {
    if (target_.records.n <= density_block)  // one block is its own sum
      sum_block(theta.data(), 0, target_.records.n, own[0]);
    else
      sums(theta.data(), team, own).round(own[0].block.data());
    return tempered(theta, own[0].block.data(), gradient);
  }

  // The sums over all records: of log-likelihoods, then of the coordinates of their gradients.
  const ExactSums& sums(const double* theta, Team& team, DensityWorkspace* own) const noexcept {
    for (int k = 0; k < team.threads(); ++k) own[k].sums.clear();
    team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
      sum_block(theta, begin, end, own[thread]);
      own[thread].sums.add(own[thread].block.data());
      return RatioSum{};
    });
    for (int k = 1; k < team.threads(); ++k) own[0].sums.add(own[k].sums);
    return own[0].sums;
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
  // As exact sums have it, what is not finite becomes NaN, and -0 becomes 0.
  void sum_block(const double* theta, int64_t begin, int64_t end, DensityWorkspace& own) const noexcept {
    kernels_of(target_.model)
        .log_density(target_.model, target_.records, theta, own.slopes.data(), begin, end, tempering_.range,
                     own.block.data());
    for (double& x : own.block) x = x - x == 0.0 ? x + 0.0 : std::numeric_limits<double>::quiet_NaN();
  }

  const Target& target_;
  Tempering tempering_;
  std::vector<double> scratch_;
};

}  // namespace pydpmc

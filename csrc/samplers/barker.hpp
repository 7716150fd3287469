// Barker DP-MCMC (Heikkilä et al. 2019). One bit per step leaves: accept or reject.
//
//   full data   D  = w sum_i r_i + log prior ratio,               accept with probability logistic(D)
//   minibatch   D* = (w N / b) sum_{i in S} r_i + log prior ratio, v = kappa popvar_S(w N r),
//               accept with probability P(D* + N(0, C - v) + V_cor > 0)
//
// r_i is the log-likelihood ratio, clipped to [-B, B] on the integer grid. Deviations from the paper: the
// exact full-data test needs no normal noise; kappa = (1 - b/N)/(b - 1) has the finite-population factor; the
// probability of the accept bit is computed, so that its tails are those that are accounted.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "concepts.hpp"
#include "random/bernoulli.hpp"
#include "random/sampling/bernoulli_process.hpp"

namespace pydpmc {

struct Barker {
  double scale;  // full data: w B / 2^bits. Minibatch: w N B / (b 2^bits)
  Grid grid;
  int64_t batch;   // 0: full data
  double v_scale;  // kappa (w N B)^2 / 4^bits
  double v_max;
  double c;                               // C
  double x_max;                           // |D*| is clamped to this
  std::vector<double> atoms, weights;     // V_cor
  std::shared_ptr<const GapTables> gaps;  // minibatch
  int64_t most;                           // capacity of a sample before units are dropped
};

// The prior ratio is public, so clamping it costs nothing; it keeps the rounding error of D below the charge.
constexpr double largest_prior_ratio = 65536.0;

inline double log_ratio(const Barker& barker, const RatioSum& ratios, double prior_ratio) noexcept {
  const double prior = std::isnan(prior_ratio)
                           ? -largest_prior_ratio
                           : std::clamp(prior_ratio, -largest_prior_ratio, largest_prior_ratio);
  return barker.scale * static_cast<double>(ratios.sum) + prior;
}

inline double batch_variance(const Barker& barker, const RatioSum& ratios) noexcept {
  const __int128 b = barker.batch, s = ratios.sum;
  const __int128 scaled = b * ratios.sum_squares - s * s;  // b^2 times the population variance, exactly
  const double bd = static_cast<double>(barker.batch);
  return std::clamp(barker.v_scale * (static_cast<double>(scaled) / (bd * bd)), 0.0, barker.v_max);
}

inline Probability minibatch_probability(const Barker& barker, double d_star, double v) noexcept {
  const double x = std::clamp(d_star, -barker.x_max, barker.x_max);
  const double sharpness = 1.0 / std::sqrt(2.0 * (barker.c - v));
  double accept = 0.0, reject = 0.0;
  for (size_t j = 0; j < barker.atoms.size(); ++j) {
    const double z = (x - barker.atoms[j]) * sharpness;
    accept += barker.weights[j] * 0.5 * std::erfc(-z);
    reject += barker.weights[j] * 0.5 * std::erfc(z);
  }
  return probability_from_pair(accept, reject);
}

inline bool accepts(const Barker& barker, const RatioSum& ratios, double prior_ratio,
                    Stream& stream) noexcept {
  const double d = log_ratio(barker, ratios, prior_ratio);
  const Probability p = barker.batch == 0 ? probability_from_logit(d)
                                          : minibatch_probability(barker, d, batch_variance(barker, ratios));
  return bernoulli(stream, p);
}

}  // namespace pydpmc

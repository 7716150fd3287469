// Langevin with a hidden state: theta' = theta - h grad U(theta) + sqrt(2h) xi. theta lives on the grid of
// the noise, (state + 1/2) unit with unit = sqrt(2h) / 2^32, so that state + nearest(-h grad U / unit +
// 1/2) + floor(2^32 xi) is the floor of the same sum with continuous noise. The last step is half a step with
// half the noise, theta' = theta - h/2 grad U + sqrt(h/2) xi, which undoes the widening of a quadratic U by
// the steps before it. Proof: docs/privacy/langevin.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/prior.hpp"
#include "random/noise/rounded_normal.hpp"

namespace pydpmc {

// The public box in which theta stays, in grid steps.
struct Box {
  std::vector<int64_t> low, high;
};

class Langevin {
 public:
  // `weight` is w; `gradient_unit` is the value of one integer step in a sum of gradients.
  Langevin(double step_size, double weight, double gradient_unit, Box box)
      : unit_(grid_unit(step_size)),
        steps_per_slope_(step_size / unit_),
        weight_(weight * gradient_unit),
        box_(std::move(box)) {}

  static double grid_unit(double step_size) {
    return std::ldexp(std::sqrt(2.0 * step_size), -rounded_normal_bits);
  }

  int64_t nearest_state(double theta, size_t j) const noexcept {
    const double low = static_cast<double>(box_.low[j]), high = static_cast<double>(box_.high[j]);
    return within_box(static_cast<int64_t>(std::floor(std::clamp(theta / unit_, low, high))), j);
  }

  double theta(int64_t state) const noexcept { return (static_cast<double>(state) + 0.5) * unit_; }

  // Of a state after last_step, which is on a grid twice as fine.
  double released(int64_t state) const noexcept { return (static_cast<double>(state) + 0.5) * (0.5 * unit_); }

  // sums: of the records' gradients of log p at theta(state). noise: floor(2^32 xi).
  void step(std::vector<int64_t>& state, const Prior& prior, const int64_t* sums,
            const int64_t* noise) const noexcept {
    for (size_t j = 0; j < state.size(); ++j) {
      // floor() lowers the noise by half a grid step on average.
      const int64_t drift = std::llrint(steps_per_slope_ * uphill(state[j], prior[j], sums[j]) + 0.5);
      state[j] = within_box(state[j] + drift + noise[j], j);
    }
  }

  // The half step: (h/2) / (unit/2) = h / unit, and theta is (2 state + 1) (unit/2).
  void last_step(std::vector<int64_t>& state, const Prior& prior, const int64_t* sums,
                 const int64_t* noise) const noexcept {
    for (size_t j = 0; j < state.size(); ++j) {
      const int64_t drift = std::llrint(steps_per_slope_ * uphill(state[j], prior[j], sums[j]) + 1.0);
      state[j] = std::clamp(2 * state[j] + drift + noise[j], 2 * box_.low[j], 2 * box_.high[j] + 1);
    }
  }

 private:
  double uphill(int64_t state, const PriorTerm& prior, int64_t sum) const noexcept {
    return log_prior_slope(prior, theta(state)) + weight_ * static_cast<double>(sum);
  }

  int64_t within_box(int64_t state, size_t j) const noexcept {
    return std::clamp(state, box_.low[j], box_.high[j]);
  }

  double unit_, steps_per_slope_, weight_;
  Box box_;
};

}  // namespace pydpmc

// What NUTS adapts before its first draw: the step size by dual averaging (Nesterov 2009; Hoffman, Gelman
// 2014), and the diagonal of the mass matrix over windows that double in length. The variance of a coordinate
// is estimated as sqrt(var(theta) / var(gradient)), which is exact for independent normals.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "samplers/nuts/leapfrog.hpp"

namespace pydpmc {

class StepSize {
 public:
  explicit StepSize(double target_accept) : target_(target_accept) {}

  void restart(double guess) noexcept {
    shrink_towards_ = std::log(10.0 * guess);
    log_now_ = log_mean_ = std::log(guess);
    error_ = 0.0;
    count_ = 0;
  }

  void learn(double accept) noexcept {
    ++count_;
    const double t = static_cast<double>(count_);
    error_ += (target_ - accept - error_) / (t + 10.0);
    log_now_ = shrink_towards_ - std::sqrt(t) / 0.05 * error_;
    log_mean_ += std::pow(t, -0.75) * (log_now_ - log_mean_);
  }

  double exploring() const noexcept { return std::exp(log_now_); }
  double settled() const noexcept { return std::exp(log_mean_); }

 private:
  double target_, shrink_towards_ = 0.0, log_now_ = 0.0, log_mean_ = 0.0, error_ = 0.0;
  int64_t count_ = 0;
};

// Mean and variance of each coordinate, updated one vector at a time.
class RunningVariance {
 public:
  explicit RunningVariance(size_t dim) : mean_(dim), squares_(dim) {}

  void clear() noexcept {
    std::fill(mean_.begin(), mean_.end(), 0.0);
    std::fill(squares_.begin(), squares_.end(), 0.0);
    count_ = 0.0;
  }

  void add(const Vector& x) noexcept {
    count_ += 1.0;
    for (size_t j = 0; j < x.size(); ++j) {
      const double before = x[j] - mean_[j];
      mean_[j] += before / count_;
      squares_[j] += before * (x[j] - mean_[j]);
    }
  }

  double sum_of_squares(size_t j) const noexcept { return squares_[j]; }
  double count() const noexcept { return count_; }

 private:
  Vector mean_, squares_;
  double count_ = 0.0;
};

// The ends of the windows: an opening for the step size alone; windows of 10, 20, 40, ... steps, of which the
// last is extended to the closing (they start short, because gradients show the scale of a coordinate before
// the chain has converged); and a closing for the step size.
class Windows {
 public:
  explicit Windows(int64_t warmup) {
    const int64_t opening = std::min<int64_t>(15, warmup * 15 / 100), closing = warmup * 15 / 100;
    first_ = begin_ = opening;
    last_ = warmup - closing;
    end_ = opening + std::min<int64_t>(10, last_ - opening);
  }

  bool holds(int64_t step) const noexcept { return step >= first_ && step < last_; }

  // Whether `step` is the last of its window; if so, moves on to the next window.
  bool closes(int64_t step) noexcept {
    if (!holds(step) || step + 1 != end_) return false;
    const int64_t length = 2 * (end_ - begin_);
    begin_ = end_;
    end_ = begin_ + 3 * length > last_ ? last_ : begin_ + length;
    return true;
  }

 private:
  int64_t first_, last_, begin_, end_;
};

// Sets variances from the states and gradients of a window; keeps those that it does not determine.
inline void learn_mass(const RunningVariance& theta, const RunningVariance& gradient,
                       Vector& inverse_mass) noexcept {
  constexpr double fewest = 5.0;
  if (theta.count() < fewest) return;
  for (size_t j = 0; j < inverse_mass.size(); ++j) {
    const double variance = std::sqrt(theta.sum_of_squares(j) / gradient.sum_of_squares(j));
    if (variance > 1e-100 && variance < 1e100) inverse_mass[j] = variance;
  }
}

}  // namespace pydpmc

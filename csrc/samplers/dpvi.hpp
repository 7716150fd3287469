// DPVI (Jälkö, Dikmen, Honkela 2017): q = N(m, diag s^2) is fitted by noised gradients of the evidence lower
// bound. Records are read at theta = m + s xi only, so g gives both of its gradients: g for m, and s g xi - 1
// for log s. Steps of m are those of Adam (Kingma, Ba 2015); those of log s shrink with the variance of their
// slope, so that noise leaves s at its public start. Draws come from the running mean of q, widened by the
// variance of that mean: E g^2 over (curvature^2 times the steps in the mean), with the curvature 1 / s^2 of
// q.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <vector>

#include "random/noise/normal.hpp"
#include "samplers/parameters.hpp"

namespace pydpmc {

struct Dpvi {
  static constexpr std::string_view name = "dpvi";
  static constexpr double forget_mean = 0.9, forget_square = 0.99, tiny = 1e-300;
  // The running mean weights step t by about t^3: its variance is that of a plain mean of 7/16 of the steps.
  static constexpr double recent = 3.0, averaged = 7.0 / 16.0;

  double reach;                 // step sizes of log s are those of m over this length
  std::vector<double> start_s;  // s at the start, and its largest value: public
  std::vector<double> widest;

  std::vector<double> m{}, log_s{}, xi{}, mean_m{}, square_m{}, mean_s{}, square_s{}, average_m{},
      average_log_s{};
  double seen = 0.0;

  explicit Dpvi(const Parameters& given)
      : reach(given.one("reach")), start_s(given.list("start_s")), widest(given.list("widest")) {}

  void start(std::size_t dim) {
    for (std::vector<double>* v :
         {&m, &xi, &mean_m, &square_m, &mean_s, &square_s, &average_m, &average_log_s})
      v->assign(dim, 0.0);
    log_s.resize(dim);
    for (std::size_t j = 0; j < dim; ++j) log_s[j] = std::log(start_s[j]);
  }

  auto state() {
    return std::tie(m, log_s, xi, mean_m, square_m, mean_s, square_s, average_m, average_log_s, seen);
  }

  void step(std::vector<double>& theta, const std::vector<double>& g, double h, Stream& diffusion) noexcept {
    if (seen == 0.0) m = theta;  // xi is 0
    seen += 1.0;
    for (std::size_t j = 0; j < theta.size(); ++j) {
      const double s = std::exp(log_s[j]);
      const Moments of_m = moments(mean_m[j], square_m[j], g[j]);
      const Moments of_s = moments(mean_s[j], square_s[j], s * g[j] * xi[j] - 1.0);
      m[j] -= h * of_m.mean / (std::sqrt(of_m.square) + tiny);
      log_s[j] -= h / reach * of_s.mean / std::fmax(1.0, of_s.square);
      log_s[j] = std::clamp(log_s[j], std::log(start_s[j]) - most_shrink, std::log(widest[j]));
      const double share = (recent + 1.0) / (seen + recent);
      average_m[j] += share * (m[j] - average_m[j]);
      average_log_s[j] += share * (log_s[j] - average_log_s[j]);
      xi[j] = normal(diffusion);
      theta[j] = m[j] + std::exp(log_s[j]) * xi[j];
    }
  }

  void draw(double* theta, Stream& stream) const noexcept {
    for (std::size_t j = 0; j < m.size(); ++j) {
      const double variance = std::exp(2.0 * average_log_s[j]);
      const double noise = variance * variance * square_m[j] / (averaged * seen);
      const double sd = std::sqrt(variance + std::fmin(noise, widest[j] * widest[j]));
      theta[j] = average_m[j] + sd * normal(stream);
    }
  }

 private:
  static constexpr double most_shrink = 20.0;

  struct Moments {
    double mean, square;
  };

  // Running moments, without the pull of their start at zero.
  Moments moments(double& mean, double& square, double slope) const noexcept {
    mean += (1.0 - forget_mean) * (slope - mean);
    square += (1.0 - forget_square) * (slope * slope - square);
    return {mean / (1.0 - std::pow(forget_mean, seen)), square / (1.0 - std::pow(forget_square, seen))};
  }
};

}  // namespace pydpmc

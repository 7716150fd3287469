// The law of N(0, variance) + V_cor, V_cor atomic: its distribution function, derivatives, and proven bounds
// of them.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "accounting/normal_law.hpp"

namespace pydpmc {

using accounting::normal_cdf;

struct Interval {
  double lo, hi;
  double middle() const { return lo + 0.5 * (hi - lo); }
  double half_width() const { return 0.5 * (hi - lo); }
};

// F, F', F'' in x at a given variance. By the heat equation, dF/dvariance = F''/2.
struct Jet {
  double cdf, pdf, slope;
};

// [k] bounds |k-th derivative of F in x|, k = 2..6, over a rectangle of (x, variance).
using DerivativeBounds = std::array<double, 7>;

class MixtureLaw {
 public:
  MixtureLaw(std::vector<double> atoms, std::vector<double> weights)
      : atoms_(std::move(atoms)), weights_(std::move(weights)) {}

  Jet jet(double x, double variance) const {
    const double inverse = 1.0 / std::sqrt(variance);
    Jet sum{0.0, 0.0, 0.0};
    for (std::size_t j = 0; j < atoms_.size(); ++j) {
      const double t = (x - atoms_[j]) * inverse;
      const double density = weights_[j] * gauss(t) * inverse;
      sum.cdf += weights_[j] * normal_cdf(t);
      sum.pdf += density;
      sum.slope -= density * t * inverse;
    }
    return sum;
  }

  // Range of F(x) over an interval of variances, term by term: each normal term is monotone in the variance.
  Interval cdf_range(double x, Interval variance) const {
    const double widest = 1.0 / std::sqrt(variance.lo), narrowest = 1.0 / std::sqrt(variance.hi);
    Interval sum{0.0, 0.0};
    for (std::size_t j = 0; j < atoms_.size(); ++j) {
      const double u = x - atoms_[j], one = normal_cdf(u * widest), other = normal_cdf(u * narrowest);
      sum.lo += weights_[j] * std::min(one, other);
      sum.hi += weights_[j] * std::max(one, other);
    }
    return sum;
  }

  DerivativeBounds bounds(Interval x, Interval variance) const {
    const double widest = 1.0 / std::sqrt(variance.lo), narrowest = 1.0 / std::sqrt(variance.hi);
    DerivativeBounds sum{};
    for (std::size_t j = 0; j < atoms_.size(); ++j) {
      const double left = x.lo - atoms_[j], right = x.hi - atoms_[j];
      const double nearest = std::max({left, -right, 0.0}) * narrowest;
      const double farthest = std::max(-left, right) * widest;
      const auto hermite = hermite_bounds(nearest, farthest);
      double scale = weights_[j] * gauss(nearest) * widest;
      for (std::size_t k = 2; k < sum.size(); ++k) {
        scale *= widest;
        sum[k] += scale * hermite[k - 1];
      }
    }
    return sum;
  }

 private:
  static double gauss(double t) {
    return std::exp(-0.5 * t * t) * 0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2;
  }

  // [m] bounds |He_m(t)| for nearest <= |t| <= farthest, m = 1..5, from the forms
  // He_2 = t^2 - 1, He_3 = t (t^2 - 3), He_4 = (t^2 - 3)^2 - 6, He_5 = t ((t^2 - 5)^2 - 10).
  static std::array<double, 6> hermite_bounds(double nearest, double farthest) {
    const Interval t2{nearest * nearest, farthest * farthest};
    const auto largest = [](Interval i, double c) {
      return std::max(std::abs(i.lo - c), std::abs(i.hi - c));
    };
    const auto squared = [&](double c) {
      const double inside = std::max({t2.lo - c, c - t2.hi, 0.0}), outside = largest(t2, c);
      return Interval{inside * inside, outside * outside};
    };
    return {1.0,
            farthest,
            largest(t2, 1.0),
            farthest * largest(t2, 3.0),
            largest(squared(3.0), 6.0),
            farthest * largest(squared(5.0), 10.0)};
  }

  std::vector<double> atoms_, weights_;
};

}  // namespace pydpmc

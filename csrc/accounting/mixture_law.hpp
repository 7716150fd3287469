// The law of N(0, variance) + V_cor with a discrete V_cor: its distribution function, the derivatives of
// that, and proven bounds on both.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>
#include <vector>

#include "accounting/normal_law.hpp"
#include "simd/functions.hpp"

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
  using F8 = baseline::F8;

 public:
  // Padded to whole vectors with atoms of weight zero.
  MixtureLaw(std::vector<double> atoms, std::vector<double> weights)
      : atoms_(std::move(atoms)), weights_(std::move(weights)) {
    const std::size_t whole = (atoms_.size() + baseline::lanes - 1) / baseline::lanes * baseline::lanes;
    atoms_.resize(whole, 0.0);
    weights_.resize(whole, 0.0);
  }

  Jet jet(double x, double variance) const {
    const double inverse = 1.0 / std::sqrt(variance);
    double cdf = 0.0;
    F8 pdf = baseline::fill(0.0), slope = pdf;
    for (std::size_t j = 0; j < atoms_.size(); j += baseline::lanes) {
      const F8 t = (x - baseline::load(&atoms_[j])) * inverse;
      const F8 density = baseline::load(&weights_[j]) * gauss(t) * inverse;
      pdf = pdf + density;
      slope = slope - density * t * inverse;
      double each[baseline::lanes];
      baseline::store(each, t);
      for (int k = 0; k < baseline::lanes; ++k) cdf += weights_[j + k] * normal_cdf(each[k]);
    }
    return {cdf, total(pdf), total(slope)};
  }

  // The range of F(x) over an interval of variances, by terms: each normal term is monotone in the variance.
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
    std::array<F8, 7> sum;
    sum.fill(baseline::fill(0.0));
    for (std::size_t j = 0; j < atoms_.size(); j += baseline::lanes) {
      const F8 atoms = baseline::load(&atoms_[j]), left = x.lo - atoms, right = x.hi - atoms;
      const F8 nearest = max(max(left, 0.0 - right), baseline::fill(0.0)) * narrowest;
      const F8 farthest = max(0.0 - left, right) * widest;
      const auto hermite = hermite_bounds(nearest, farthest);
      F8 scale = baseline::load(&weights_[j]) * gauss(nearest) * widest;
      for (std::size_t k = 2; k < sum.size(); ++k) {
        scale = scale * widest;
        sum[k] = sum[k] + scale * hermite[k - 1];
      }
    }
    DerivativeBounds found{};
    for (std::size_t k = 2; k < sum.size(); ++k) found[k] = total(sum[k]);
    return found;
  }

 private:
  static double total(F8 x) {
    double each[baseline::lanes], sum = 0.0;
    baseline::store(each, x);
    for (const double value : each) sum += value;
    return sum;
  }

  // An upper bound: in the far tail it stays at 1e-308.
  PYDPMC_INLINE static F8 gauss(F8 t) {
    return baseline::exp_below_zero(-0.5 * t * t) * (0.5 * std::numbers::inv_sqrtpi * std::numbers::sqrt2);
  }

  // [m] bounds |He_m(t)| for nearest <= |t| <= farthest, m = 1..5, from the forms
  // He_2 = t^2 - 1, He_3 = t (t^2 - 3), He_4 = (t^2 - 3)^2 - 6, He_5 = t ((t^2 - 5)^2 - 10).
  PYDPMC_INLINE static std::array<F8, 6> hermite_bounds(F8 nearest, F8 farthest) {
    const F8 low = nearest * nearest, high = farthest * farthest;
    const auto largest = [](F8 lo, F8 hi, double c) PYDPMC_LAMBDA { return max(abs(lo - c), abs(hi - c)); };
    const auto squared = [&](double c, double d) PYDPMC_LAMBDA {
      const F8 inside = max(max(low - c, c - high), baseline::fill(0.0)), outside = largest(low, high, c);
      return largest(inside * inside, outside * outside, d);
    };
    return {baseline::fill(1.0),     farthest,
            largest(low, high, 1.0), farthest * largest(low, high, 3.0),
            squared(3.0, 6.0),       farthest * squared(5.0, 10.0)};
  }

  std::vector<double> atoms_, weights_;
};

}  // namespace pydpmc

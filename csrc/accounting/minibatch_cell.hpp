// One cell of the branch and bound of minibatch_profile.hpp: a box of (x, v, tau) and a proven bound of
// g(x, v, tau; a) = F_{v+tau}(x + shift) - a F_v(x) over its part with 0 <= v + tau <= v_max.
// Notation and proof: docs/privacy/minibatch_accept_bit.md.
#pragma once
#include <cstddef>
#include <limits>

#include "accounting/mixture_law.hpp"

namespace pydpmc {

struct AcceptBit {
  MixtureLaw law;
  double c, v_max, shift, change, x_max;
};

struct Cell {
  Interval x, v, tau;
  std::size_t first, last;  // the nodes for which it may still hold the maximum
};

// The smallest box around the part of the cell with 0 <= v + tau <= v_max; lo > hi where there is none.
inline Cell contracted(Cell cell, double v_max) {
  cell.v = {std::max(cell.v.lo, -cell.tau.hi), std::min(cell.v.hi, v_max - cell.tau.lo)};
  cell.tau = {std::max(cell.tau.lo, -cell.v.hi), std::min(cell.tau.hi, v_max - cell.v.lo)};
  return cell;
}

class CellBound {
 public:
  // `nodes` holds the values of a for which the bound is wanted.
  CellBound(const AcceptBit& bit, const Cell& cell, Interval nodes) {
    const Interval moved{std::max(0.0, cell.v.lo + cell.tau.lo),
                         std::min(bit.v_max, cell.v.hi + cell.tau.hi)};
    if (cell.v.lo > cell.v.hi || cell.tau.lo > cell.tau.hi || moved.lo > moved.hi) return;
    const double x0 = cell.x.middle(), v0 = cell.v.middle();
    const double tau0 = std::clamp(cell.tau.middle(), -v0, bit.v_max - v0), moved0 = v0 + tau0;
    to_ = bit.law.jet(x0 + bit.shift, bit.c - moved0);
    from_ = bit.law.jet(x0, bit.c - v0);
    dx_ = cell.x.half_width();
    dv_ = cell.v.half_width();
    collect_corners({cell.tau.lo - tau0, cell.tau.hi - tau0}, {moved.lo - moved0, moved.hi - moved0});
    bound_curvature(bit, cell, moved, tau0);
    if (monotone_may_help(nodes.lo) || monotone_may_help(nodes.hi)) {
      largest_to_ = bit.law.cdf_range(cell.x.hi + bit.shift, {bit.c - moved.hi, bit.c - moved.lo}).hi;
      least_from_ = bit.law.cdf_range(cell.x.lo, {bit.c - cell.v.hi, bit.c - cell.v.lo}).lo;
    }
  }

  bool empty() const { return corners_ == 0; }
  double from() const { return from_.cdf; }

  // Returns the largest value over the cell of the first-order Taylor polynomial at its centre. A point of
  // the domain attains it.
  double linear(double a) const {
    const double slope_v = -0.5 * (to_.slope - a * from_.slope);
    double corner = corner_[0].offset + slope_v * corner_[0].u;
    for (std::size_t i = 1; i < corners_; ++i)
      corner = std::max(corner, corner_[i].offset + slope_v * corner_[i].u);
    return (to_.cdf - a * from_.cdf) + dx_ * std::abs(to_.pdf - a * from_.pdf) + corner;
  }

  double curvature(double a) const {
    return joint_is_better(a) ? joint_.total() + std::abs(a - 1.0) * from_curvature_.total()
                              : to_curvature_.total() + a * from_curvature_.total();
  }

  double remainder(double a) const { return curvature(a) + kRounding * (to_.cdf + a * from_.cdf); }

  double upper(double a) const {
    const double monotone = largest_to_ * (1.0 + kRounding) - a * least_from_ * (1.0 - kRounding);
    const double bound = std::min(linear(a) + remainder(a), monotone);
    return bound == bound ? bound : std::numeric_limits<double>::infinity();
  }

  enum class Axis { x, v, tau };
  Axis widest_axis(double a) const {
    const bool joint = joint_is_better(a);
    const double share = joint ? std::abs(a - 1.0) : a;
    const auto& to = joint ? joint_ : to_curvature_;
    const double x = to.x + share * from_curvature_.x, v = to.v + share * from_curvature_.v;
    if (x >= v && x >= to.tau) return Axis::x;
    return v >= to.tau ? Axis::v : Axis::tau;
  }

 private:
  static constexpr double kRounding = 1e-12;  // relative error of F as computed, with a wide margin

  // A heuristic: the monotone bound is costly, and in a small cell the polynomial is always the better bound.
  bool monotone_may_help(double a) const {
    const double guess = to_.cdf + dx_ * to_.pdf - a * (from_.cdf - dx_ * from_.pdf);
    return guess < linear(a) + remainder(a);
  }

  bool joint_is_better(double a) const {
    return joint_.total() + std::abs(a - 1.0) * from_curvature_.total() <
           to_curvature_.total() + a * from_curvature_.total();
  }

  struct Corner {
    double u, offset;
  };
  struct Curvature {
    double x = 0, v = 0, tau = 0, mixed = 0;
    double total() const { return x + v + tau + mixed; }
  };

  // The maximum over tau is concave and piecewise linear in u = v - v0: it is attained at a break point.
  void collect_corners(Interval t, Interval sum) {
    const double slope_tau = -0.5 * to_.slope;
    for (const double u : {-dv_, dv_, sum.lo - t.lo, sum.lo - t.hi, sum.hi - t.lo, sum.hi - t.hi}) {
      const Interval feasible{std::max(t.lo, sum.lo - u), std::min(t.hi, sum.hi - u)};
      constexpr double slack = 1e-15;  // rounding of a break point
      if (std::abs(u) > dv_ || feasible.lo > feasible.hi + slack) continue;
      corner_[corners_++] = {u, std::max(slope_tau * feasible.lo, slope_tau * feasible.hi)};
    }
    dt_ = std::max(std::abs(t.lo), std::abs(t.hi));
  }

  void bound_curvature(const AcceptBit& bit, const Cell& cell, Interval moved, double tau0) {
    const double s = bit.shift, dm = dv_ + dt_, change = 0.5 * (std::abs(tau0) + dt_);
    const Interval target{cell.x.lo + s, cell.x.hi + s};
    const auto variance = [&](Interval v) { return Interval{bit.c - v.hi, bit.c - v.lo}; };
    const auto to = bit.law.bounds(target, variance(moved)), from = bit.law.bounds(cell.x, variance(cell.v));
    from_curvature_ = {0.5 * dx_ * dx_ * from[2], 0.125 * dv_ * dv_ * from[4], 0.0,
                       0.5 * dx_ * dv_ * from[3]};
    const double v_share = 0.125 * dm * dm * to[4] * dv_ / (dm > 0 ? dm : 1.0);
    to_curvature_ = {0.5 * dx_ * dx_ * to[2], v_share, 0.125 * dm * dm * to[4] - v_share,
                     0.5 * dx_ * dm * to[3]};
    const Interval both{std::min(moved.lo, cell.v.lo), std::max(moved.hi, cell.v.hi)};
    const auto hull = bit.law.bounds({cell.x.lo, target.hi}, variance(both));
    const auto drift = [&](std::size_t k) { return s * hull[k + 1] + change * hull[k + 2]; };
    joint_ = {0.5 * dx_ * dx_ * drift(2), 0.125 * dv_ * dv_ * drift(4), 0.125 * dt_ * dt_ * to[4],
              0.5 * dx_ * dv_ * drift(3) + 0.5 * dx_ * dt_ * to[3] + 0.25 * dv_ * dt_ * to[4]};
  }

  Jet to_{}, from_{};
  double dx_ = 0, dv_ = 0, dt_ = 0;
  double largest_to_ = std::numeric_limits<double>::infinity(), least_from_ = 0;
  std::array<Corner, 6> corner_{};
  std::size_t corners_ = 0;
  Curvature to_curvature_, from_curvature_, joint_;
};

}  // namespace pydpmc

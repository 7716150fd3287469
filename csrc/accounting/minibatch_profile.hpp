// Proven upper bounds of h(a) = sup g(x, v, tau; a) of the minibatch accept bit, at all nodes a at once.
#pragma once
#include "accounting/minibatch_cell.hpp"

namespace pydpmc {

// A cell is settled at a node if its bound is within `slack` of an attained value, or if its curvature is no
// larger than the effect of changing a by `slack * (a - 1 + 1e-9)` (1e-9 is the arithmetic error that is
// charged anyway). Both rules affect only how tight the bound is, not its validity.
struct Refinement {
  double slack = 1e-3;
  std::size_t max_cells = 400'000;
};

class ProfileSearch {
 public:
  ProfileSearch(const AcceptBit& bit, const std::vector<double>& nodes, Refinement refinement)
      : bit_(bit),
        nodes_(nodes),
        refinement_(refinement),
        upper_(nodes.size(), 0.0),
        attained_(nodes.size(), 0.0) {}

  std::vector<double> run() {
    auto generation = initial_cells();
    while (!generation.empty()) {
      evaluated_ += generation.size();
      generation = refine(generation, evaluated_ < refinement_.max_cells);
    }
    return upper_;
  }

  std::size_t cells() const { return evaluated_; }
  const std::vector<double>& attained() const { return attained_; }

 private:
  std::vector<Cell> initial_cells() const {
    constexpr double width = 0.5;
    const double end = std::max(-bit_.x_max, bit_.x_max - bit_.shift);
    const int count = static_cast<int>(std::ceil((end + bit_.x_max) / width)) + 1;
    std::vector<Cell> cells;
    double left = -bit_.x_max;
    for (int i = 1; i <= count; ++i) {
      const double right = i == count ? end : -bit_.x_max + (end + bit_.x_max) * i / count;
      cells.push_back({{left, right}, {0.0, bit_.v_max}, {-bit_.change, bit_.change}, 0, nodes_.size() - 1});
      left = right;
    }
    return cells;
  }

  std::vector<Cell> refine(const std::vector<Cell>& cells, bool may_split) {
    std::vector<CellBound> bounds;
    bounds.reserve(cells.size());
    for (const auto& cell : cells) {
      bounds.emplace_back(bit_, cell, Interval{nodes_[cell.first], nodes_[cell.last]});
      if (!bounds.back().empty()) raise_attained(cell, bounds.back());
    }
    std::vector<Cell> children;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (bounds[i].empty()) continue;
      const Cell rest = settle(cells[i], bounds[i], may_split);
      if (rest.first <= rest.last) split(rest, bounds[i].widest_axis(nodes_[rest.first]), children);
    }
    return children;
  }

  void raise_attained(const Cell& cell, const CellBound& bound) {
    for (std::size_t n = cell.first; n <= cell.last; ++n)
      attained_[n] = std::max(attained_[n], bound.linear(nodes_[n]) - bound.remainder(nodes_[n]));
  }

  // Records the bound at the settled nodes outside the hull of the open ones, and returns that hull.
  Cell settle(const Cell& cell, const CellBound& bound, bool may_split) {
    Cell open = cell;
    open.first = cell.last + 1;
    open.last = cell.last;
    std::size_t last_open = 0;
    for (std::size_t n = cell.first; may_split && n <= cell.last; ++n) {
      if (is_settled(n, bound)) continue;
      if (open.first > cell.last) open.first = n;
      last_open = n;
    }
    if (open.first <= cell.last) open.last = last_open;
    for (std::size_t n = cell.first; n <= cell.last; ++n) {
      if (n >= open.first && n <= open.last) continue;
      upper_[n] = std::max(upper_[n], bound.upper(nodes_[n]));
    }
    return open;
  }

  bool is_settled(std::size_t n, const CellBound& bound) const {
    const double a = nodes_[n];
    return bound.upper(a) <= (1.0 + refinement_.slack) * attained_[n] ||
           bound.curvature(a) <= refinement_.slack * (std::abs(a - 1.0) + 1e-9) * bound.from();
  }

  void split(const Cell& cell, CellBound::Axis axis, std::vector<Cell>& children) const {
    const auto halve = [&](Interval Cell::* side) {
      Cell low = cell, high = cell;
      (low.*side).hi = (high.*side).lo = (cell.*side).middle();
      children.push_back(contracted(low, bit_.v_max));
      children.push_back(contracted(high, bit_.v_max));
    };
    halve(axis == CellBound::Axis::x ? &Cell::x : axis == CellBound::Axis::v ? &Cell::v : &Cell::tau);
  }

  const AcceptBit& bit_;
  const std::vector<double>& nodes_;
  Refinement refinement_;
  std::vector<double> upper_, attained_;
  std::size_t evaluated_ = 0;
};

}  // namespace pydpmc

// The No-U-Turn sampler (Hoffman, Gelman 2014) with multinomial choice of states and the U-turn criterion of
// Betancourt (2017), which is also checked across neighbouring subtrees. A trajectory doubles, forwards or
// backwards in time, until it turns back, diverges or has 2^max_depth steps.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "random/uniform.hpp"
#include "samplers/nuts/leapfrog.hpp"
#include "samplers/nuts/trajectory.hpp"

namespace pydpmc {

constexpr double divergence_threshold = 1000.0;  // on the error of the energy

struct Transition {
  double accept = 0.0;  // mean acceptance probability of the states visited
  int depth = 0;
  int64_t leapfrogs = 0;
  bool diverged = false;
};

// The workspace of one chain; everything is allocated here.
class Nuts {
 public:
  Nuts(size_t dim, int max_depth)
      : inverse_mass(dim, 1.0), max_depth_(max_depth), whole_(dim), moving_(dim), front_(dim), back_(dim) {
    for (int k = 0; k < 2 * max_depth - 1; ++k) pieces_.emplace_back(dim);
  }

  Vector inverse_mass;
  double step_size = 1.0;

  // Moves `state`, whose log density and gradient must be set.
  template <class Density>
  Transition transition(Point& state, Stream& stream, Density& density) noexcept {
    Transition result;
    draw_momentum(state, inverse_mass, stream);
    start_energy_ = energy(state, inverse_mass);
    front_ = back_ = state;
    become_single(whole_, state, 0.0);
    while (result.depth < max_depth_) {
      const bool forwards = (stream.next64() >> 63) != 0;
      Point& edge = forwards ? front_ : back_;
      direction_ = forwards ? 1.0 : -1.0;
      Piece& added = pieces_.back();
      std::swap(moving_, edge);
      const bool intact = extend(result.depth, added, result, stream, density);
      std::swap(moving_, edge);
      if (!intact) break;
      ++result.depth;
      // Biased towards the new half, which moves farther than choosing by weight alone.
      if (std::log(open_unit(stream)) < added.log_weight - whole_.log_weight)
        std::swap(whole_.chosen, added.chosen);
      if (!forwards) turn_round(whole_);
      const bool on = both_go_on(whole_, added);
      join(whole_, added);
      if (!forwards) turn_round(whole_);
      if (!on) break;
    }
    result.accept /= static_cast<double>(std::max<int64_t>(result.leapfrogs, 1));
    std::swap(state, whole_.chosen);
    return result;
  }

 private:
  // Travels 2^depth steps from moving_; returns false if this piece diverges or turns back within itself.
  template <class Density>
  bool extend(int depth, Piece& out, Transition& result, Stream& stream, Density& density) noexcept {
    if (depth == 0) {
      leapfrog(moving_, direction_ * step_size, inverse_mass, density);
      const double gain = start_energy_ - energy(moving_, inverse_mass);
      ++result.leapfrogs;
      result.accept += std::exp(std::min(0.0, gain));
      become_single(out, moving_, gain);
      result.diverged = !(gain > -divergence_threshold);
      return !result.diverged;
    }
    Piece& next = pieces_[static_cast<size_t>(2 * depth - 1)];
    Piece& before = pieces_[static_cast<size_t>(2 * depth - 2)];
    if (!extend(depth - 1, before, result, stream, density)) return false;
    if (!extend(depth - 1, next, result, stream, density)) return false;
    const bool on = both_go_on(before, next);
    std::swap(out, before);
    if (std::log(open_unit(stream)) < next.log_weight - log_add(out.log_weight, next.log_weight))
      std::swap(out.chosen, next.chosen);
    join(out, next);
    return on;
  }

  void become_single(Piece& piece, const Point& z, double log_weight) const noexcept {
    piece.first_momentum = piece.last_momentum = piece.momentum_sum = z.momentum;
    for (size_t j = 0; j < z.momentum.size(); ++j) piece.first_velocity[j] = inverse_mass[j] * z.momentum[j];
    piece.last_velocity = piece.first_velocity;
    piece.log_weight = log_weight;
    piece.chosen = z;
  }

  // Appends `next`, except for its chosen state.
  static void join(Piece& piece, const Piece& next) noexcept {
    for (size_t j = 0; j < piece.momentum_sum.size(); ++j) piece.momentum_sum[j] += next.momentum_sum[j];
    piece.last_momentum = next.last_momentum;
    piece.last_velocity = next.last_velocity;
    piece.log_weight = log_add(piece.log_weight, next.log_weight);
  }

  static void turn_round(Piece& piece) noexcept {
    std::swap(piece.first_momentum, piece.last_momentum);
    std::swap(piece.first_velocity, piece.last_velocity);
  }

  int max_depth_;
  double start_energy_ = 0.0, direction_ = 1.0;
  Piece whole_;
  Point moving_, front_, back_;
  std::vector<Piece> pieces_;  // two for each depth, and the half under construction
};

}  // namespace pydpmc

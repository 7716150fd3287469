// The best adaptive attack on T accept bits, by backward induction over the likelihood ratio.
//
// W_n(x) = sup E_Q[(x R_n - 1)+], R_n the likelihood ratio of n bits, satisfies W_0(x) = (x - 1)+ and
//   W_{n+1}(x) = max_t p_t W_n(x e^t) + (1 - p_t) W_n(x e^{t-s}),  p_t = (u - e^-s)/(1 - e^-s), u = e^-t.
// It is convex, increasing, and W(x) = x - 1 + x W(1/x), so l = log x <= 0 is enough. Nodes are d = s/cells
// apart and hold upper bounds V. Between nodes W lies below the chord of V, and along a chord the bracket
// above is c0 + c1 u - c2/u: on one cell of t it is bounded by its end values and its curvature ("sag").
// Proof: docs/privacy/accounting.md, theorem 5.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define PYDPMC_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PYDPMC_VECTOR_CLONES
#endif

namespace pydpmc::accounting {

// best[i] = max over t in cell j, where entry k = i + j of the tables belongs to the pair (V[k], V[k -
// cells]).
PYDPMC_VECTOR_CLONES
static void raise_to_cell_maximum(double* best, std::size_t n, const double* lower, const double* jump,
                                  const double* sag, const double* quarter_inverse_sag, double p_here,
                                  double p_next) {
  for (std::size_t i = 0; i < n; ++i) {
    const double here = lower[i] + p_here * jump[i];
    const double next = lower[i + 1] + p_next * jump[i + 1];
    const double lift = sag[i] + (next - here);
    const double positive = lift < 0.0 ? 0.0 : lift;
    const double climb = positive < 2.0 * sag[i] ? positive : 2.0 * sag[i];
    const double inside = here + climb * (climb * quarter_inverse_sag[i]);
    const double cell = inside < next ? next : inside;
    best[i] = best[i] < cell ? cell : best[i];
  }
}

constexpr double least_sag = 1e-290;  // smaller ones are dropped, and paid for in values()

class BitInduction {
 public:
  // Nodes at 0, -d, ..., -depth d; `padding` more on either side.
  BitInduction(double shift, int cells, std::size_t depth)
      : padding_(static_cast<std::size_t>(cells)),
        depth_(depth),
        node_(shift / cells),
        shift_(shift),
        value_(depth + 2 * padding_ + 1, 0.0),
        lower_(value_.size()),
        jump_(value_.size()),
        sag_(value_.size()),
        quarter_inverse_sag_(value_.size()),
        best_(value_.size()),
        accept_(padding_ + 1) {
    for (std::size_t j = 0; j <= padding_; ++j)
      accept_[j] = std::expm1(-node_ * static_cast<double>(padding_ - j)) *
                   std::exp(-node_ * static_cast<double>(j)) / std::expm1(-shift_);
    first_ = padding_ + depth_;
  }

  // One more bit. Nodes deeper than `active` are not computed: there V(-active d) is an upper bound.
  void step(std::size_t active) {
    const std::size_t zero = padding_ + depth_;
    const std::size_t first = zero - std::min(active, depth_);
    extend(first, zero);
    tabulate(first, zero);
    const std::size_t n = zero - first + 1;
    double* best = best_.data() + first;
    std::copy_n(value_.data() + first, n, best);  // t = 0
    for (std::size_t j = 0; j < padding_; ++j) {
      const std::size_t k = first + j;
      raise_to_cell_maximum(best, n, &lower_[k], &jump_[k], &sag_[k], &quarter_inverse_sag_[k], accept_[j],
                            accept_[j + 1]);
    }
    std::copy_n(best, n, value_.data() + first);
    first_ = first;
  }

  // V(-i d) for i = 0..depth, raised by the rounding of `steps` steps (all terms are non-negative), by the
  // sags below `least_sag` and by what underflowed.
  std::vector<double> values(std::size_t steps) {
    const std::size_t zero = padding_ + depth_;
    extend(padding_, zero);
    const double count = static_cast<double>(steps + 1);
    const double rounding = 1.0 + 16.0 * std::numeric_limits<double>::epsilon() * count;
    std::vector<double> out(depth_ + 1);
    for (std::size_t i = 0; i <= depth_; ++i) out[i] = value_[zero - i] * rounding + 2.0 * least_sag * count;
    return out;
  }

 private:
  // Below the nodes V of the lowest; above zero the symmetry of the game.
  void extend(std::size_t first, std::size_t zero) {
    std::fill(value_.begin() + static_cast<std::ptrdiff_t>(first - padding_),
              value_.begin() + static_cast<std::ptrdiff_t>(std::max(first_, first)),
              value_[std::max(first_, first)]);
    for (std::size_t k = 1; k <= padding_; ++k) {
      const double l = node_ * static_cast<double>(k);
      value_[zero + k] = std::expm1(l) + std::exp(l) * value_[zero - k];
    }
  }

  void tabulate(std::size_t first, std::size_t zero) {
    const double growth = std::expm1(node_);
    const double fall = -std::expm1(-node_);
    const double scale = std::exp(3 * node_) * fall * fall / -std::expm1(-shift_) / growth;
    const double shrink = std::exp(-shift_);
    for (std::size_t k = first; k <= zero + padding_; ++k) {
      lower_[k] = value_[k - padding_];
      jump_[k] = value_[k] - value_[k - padding_];
    }
    for (std::size_t k = first; k < zero + padding_; ++k) {
      const double upper_rise = value_[k + 1] - value_[k];
      const double lower_rise = value_[k + 1 - padding_] - value_[k - padding_];
      const double bend = scale * (upper_rise * shrink - lower_rise);
      sag_[k] = bend > least_sag ? bend : 0.0;
      quarter_inverse_sag_[k] = bend > least_sag ? 0.25 / bend : 0.0;
    }
  }

  std::size_t padding_, depth_;
  double node_, shift_;
  std::vector<double> value_, lower_, jump_, sag_, quarter_inverse_sag_, best_, accept_;
  std::size_t first_;  // lowest node computed so far
};

}  // namespace pydpmc::accounting

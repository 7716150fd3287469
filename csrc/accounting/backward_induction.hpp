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

constexpr double least_sag = 1e-290;        // so that its inverse is a number
constexpr std::size_t nodes_at_once = 256;  // so that their tables stay in the first cache

// Pairs of nodes one shift apart: rises[k] = upper[k] - lower[k], and the sag over the cell from k to k + 1.
PYDPMC_VECTOR_CLONES
static void tabulate_pairs(const double* __restrict upper, const double* __restrict lower, std::size_t n,
                           double scale, double shrink, double* __restrict rises, double* __restrict sags,
                           double* __restrict quarter_inverse_sags) {
  for (std::size_t k = 0; k < n; ++k) {
    const double bend = scale * ((upper[k + 1] - upper[k]) * shrink - (lower[k + 1] - lower[k]));
    rises[k] = upper[k] - lower[k];
    sags[k] = bend < least_sag ? least_sag : bend;
  }
  for (std::size_t k = 0; k < n; ++k) quarter_inverse_sags[k] = 0.25 / sags[k];
}

// Bounds the bracket on one cell of t, except at the cell's end.
static inline double cell_maximum(double here, double next, double sag, double quarter_inverse_sag) {
  const double lift = sag + (next - here);
  const double positive = lift < 0.0 ? 0.0 : lift;
  const double climb = positive < 2.0 * sag ? positive : 2.0 * sag;
  return here + climb * (climb * quarter_inverse_sag);
}

// Raises best[i] to the maximum over two cells of t. here[i] holds the bracket at their start, and afterwards
// at their end, where the next two cells start. (The last end, t = s, is the value that best started with.)
PYDPMC_VECTOR_CLONES
static void raise_to_maximum_of_two(double* __restrict best, double* __restrict here, std::size_t n,
                                    const double* __restrict lower, const double* __restrict rises,
                                    const double* __restrict sags,
                                    const double* __restrict quarter_inverse_sags, double p_middle,
                                    double p_end) {
  for (std::size_t i = 0; i < n; ++i) {
    const double middle = lower[i + 1] + p_middle * rises[i + 1];
    const double end = lower[i + 2] + p_end * rises[i + 2];
    const double one = cell_maximum(here[i], middle, sags[i], quarter_inverse_sags[i]);
    const double other = cell_maximum(middle, end, sags[i + 1], quarter_inverse_sags[i + 1]);
    const double both = one < other ? other : one;
    best[i] = best[i] < both ? both : best[i];
    here[i] = end;
  }
}

class BitInduction {
 public:
  // Nodes at 0, -d, ..., -depth d; `padding` more on either side. The number of cells is even.
  BitInduction(double shift, int cells, std::size_t depth)
      : padding_(static_cast<std::size_t>(cells)),
        depth_(depth),
        node_(shift / cells),
        shift_(shift),
        shrink_(std::exp(-shift)),
        value_(depth + 2 * padding_ + 1, 0.0),
        best_(value_.size()),
        rise_(nodes_at_once + padding_ + 1),
        sag_(rise_.size()),
        quarter_inverse_sag_(rise_.size()),
        here_(nodes_at_once),
        accept_(padding_ + 1),  // p_t
        growth_(padding_ + 1) {
    for (std::size_t j = 0; j <= padding_; ++j) {
      const double l = node_ * static_cast<double>(j);
      accept_[j] =
          std::expm1(-node_ * static_cast<double>(padding_ - j)) * std::exp(-l) / std::expm1(-shift_);
      growth_[j] = std::expm1(l);
    }
    const double fall = -std::expm1(-node_);
    bend_scale_ = std::exp(3 * node_) * fall * fall / -std::expm1(-shift_) / std::expm1(node_);
    first_ = padding_ + depth_;
  }

  // One more bit. Nodes deeper than `active` are not computed: there V(-active d) is an upper bound.
  void step(std::size_t active) {
    const std::size_t zero = padding_ + depth_;
    const std::size_t first = zero - std::min(active, depth_);
    extend(first, zero);
    for (std::size_t i = first; i <= zero; i += nodes_at_once)
      raise(i, std::min(nodes_at_once, zero + 1 - i));
    value_.swap(best_);
    first_ = first;
  }

  // V(-i d) for i = 0..depth, raised by the rounding errors of `steps` steps (all terms are non-negative) and
  // by the underflow.
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
  // Fills nodes below the lowest one with its value, and nodes above zero by the symmetry of W.
  void extend(std::size_t first, std::size_t zero) {
    const std::size_t lowest = std::max(first_, first);
    std::fill(&value_[first - padding_], &value_[lowest], value_[lowest]);
    for (std::size_t k = 1; k <= padding_; ++k)
      value_[zero + k] = growth_[k] + (1.0 + growth_[k]) * value_[zero - k];
  }

  // Computes the n nodes from `first` on. Cell j of node i uses the pair of nodes i + j - cells and i + j.
  void raise(std::size_t first, std::size_t n) {
    const double* upper = &value_[first];
    const double* lower = upper - padding_;
    const std::size_t pairs = n + padding_ - 1;
    tabulate_pairs(upper, lower, pairs, bend_scale_, shrink_, rise_.data(), sag_.data(),
                   quarter_inverse_sag_.data());
    rise_[pairs] = upper[pairs] - lower[pairs];
    std::copy_n(upper, n, here_.begin());  // t = 0
    std::copy_n(upper, n, &best_[first]);  // and t = s
    for (std::size_t j = 0; j < padding_; j += 2)
      raise_to_maximum_of_two(&best_[first], here_.data(), n, lower + j, &rise_[j], &sag_[j],
                              &quarter_inverse_sag_[j], accept_[j + 1], accept_[j + 2]);
  }

  std::size_t padding_, depth_;
  double node_, shift_, shrink_, bend_scale_;
  std::vector<double> value_, best_, rise_, sag_, quarter_inverse_sag_, here_, accept_, growth_;
  std::size_t first_;  // lowest node computed so far
};

}  // namespace pydpmc::accounting

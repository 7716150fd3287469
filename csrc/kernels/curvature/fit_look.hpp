// A look at residuals by predicted value: a record adds r and r^2 to the group of its predictor, both in
// exact integers. It is a look at outer products of the gradients r e, e the indicator of the group
// (docs/privacy/newton.md, lemma 12).
#pragma once

#include "kernels/curvature/look.hpp"

PYDPMC_ISA_BEGIN

// The group of a predictor: how many edges lie below it.
PYDPMC_INLINE int64_t group_of(double eta, const LookGrid& grid) noexcept {
  int64_t group = 0;
  for (int k = 0; k < grid.edge_count; ++k) group += grid.edges[k] < eta;
  return group;
}

PYDPMC_INLINE int64_t nearest_integer(double x) noexcept {
  return static_cast<int64_t>((x + rounding_magic) - rounding_magic);
}

template <class Model, class Scalar>
[[gnu::noinline]] void add_fit_look(const Table<Scalar>& table, const Records& records, const Prepared& p,
                                    int64_t begin, int64_t end, const LookGrid& grid, int64_t* sums,
                                    int64_t* products) noexcept {
  const int64_t width = static_cast<int64_t>(look_width(grid.edge_count + 1));
  const double most = grid.gradient.clip;
  Block<Scalar> block(table);
  alignas(64) double r[lanes], h[lanes];
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    for (int first = 0; first < block.count; first += lanes) {
      const int here = rest_of(first, block.count);
      const Terms terms = terms_of(Model{}, load(block.eta + first), load(block.y + first), p, grid.limits);
      store(r, terms.r * look_weights(records.weights, i + first, here));
      store(h, terms.h);
      for (int k = 0; k < here; ++k) {
        if (!(r[k] - r[k] == 0.0) || !(h[k] >= 0.0)) continue;  // not finite: the record adds nothing
        const double clipped = r[k] < -most ? -most : (r[k] > most ? most : r[k]);
        const int64_t group = group_of(block.eta[first + k], grid);
        const int64_t root = nearest_integer(clipped * grid.per_root);
        sums[group] += nearest_integer(clipped * grid.gradient.per_unit);
        products[group * width + group] += root * root;
      }
    }
  }
}

PYDPMC_ISA_END

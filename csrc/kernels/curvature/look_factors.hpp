// What takes the terms of records to the grids of a look.
#pragma once

#include "kernels/curvature/terms.hpp"
#include "kernels/gradient/gradient_norm.hpp"
#include "kernels/odds.hpp"

PYDPMC_ISA_BEGIN

// The contributions of eight records: the scale that takes their gradients to the grid, the factor that takes
// x to the integers of the curvature, and which records count.
struct LookFactors {
  F8 scale, root;
  I8 trusted;
};

PYDPMC_INLINE I8 trusted_terms(F8 scale, F8 h, F8 row2, const LookGrid& grid) noexcept {
  const F8 none = fill(-1.0);
  return fill(0.0) <= select(row2 <= fill(grid.largest_square),
                             select(fill(0.0) <= h, select(h <= fill(largest_square), scale, none), none),
                             none);
}

// r2 is the squared norm of the factor (or factors, of several predictors) of x in the gradient.
PYDPMC_INLINE LookFactors look_factors(F8 r2, F8 h, F8 row2, const LookGrid& grid) noexcept {
  const F8 scale = clipped_scale(row2, r2, fill(0.0), grid.gradient);
  const F8 bounded = min(h, fill(grid.curvature_clip) / row2);  // no bound if the row is zero
  return {scale, square_root(bounded) * grid.per_root, trusted_terms(scale, h, row2, grid)};
}

// Whether terms within these bounds need no clip, because rows that are not too long keep within it up to
// what docs/privacy/newton.md, lemma 1, allows for rounding. Public numbers alone decide.
inline bool need_no_clip(const TermBounds& bounds, const LookGrid& grid) noexcept {
  constexpr double allowed = 1.0 + 3e-12;
  const double r2 = bounds.r * bounds.r, h = grid.outer ? r2 : bounds.h;
  return r2 * grid.largest_square <= grid.gradient.clip * grid.gradient.clip * allowed &&
         h * grid.largest_square <= grid.curvature_clip * allowed;
}

// The weights of the records at i; one that is not a number voids its record.
PYDPMC_INLINE F8 look_weights(const RowWeights& weights, int64_t i, int here) noexcept {
  if (!weights || here <= 0) return fill(1.0);
  if (here >= lanes) return load(weights.first + i);
  return gather([&](int k) PYDPMC_LAMBDA { return weights.of(i + (k < here ? k : 0)); });
}

// What is known of some records in a row, of which the first is record i.
struct LookRecords {
  const double *eta, *y, *row2;
  int64_t i;
  int count, places;  // places: of the arrays, whole groups of eight
};

// Writes the factors of x in the gradient and in the roots of the curvature, both zero for a record that does
// not count; bit r of the result is set if record r does.
template <bool clips, class Model>
[[gnu::noinline]] uint64_t record_factors(const LookRecords& of, const RowWeights& weights, const Prepared& p,
                                          const LookGrid& grid, double* first, double* root) noexcept {
  const TermBounds most = bounds_of(Model{}, p, grid.limits);
  uint64_t trusted = 0;
  const Odds<Model> odds(of.eta, of.places);
  for (int r = 0; r < of.places; r += lanes) {
    const F8 eta = load(of.eta + r), y = load(of.y + r);
    Terms terms;
    if constexpr (has_odds<Model>)
      terms = terms_of(Model{}, eta, y, odds.at(r));
    else
      terms = terms_of(Model{}, eta, y, p, grid.limits);
    const F8 row2 = load(of.row2 + r), zero = fill(0.0);
    F8 gradient = terms.r;
    LookFactors factors;
    if constexpr (clips) {
      const F8 weight = look_weights(weights, of.i + r, of.count - r);
      gradient = gradient * weight;
      const F8 r2 = gradient * gradient;
      factors = look_factors(r2, grid.outer ? r2 : terms.h * weight, row2, grid);
    } else {
      const F8 usable = select(gradient * gradient <= fill(largest_square), zero, fill(-1.0));
      gradient = clamp(gradient, most.r);
      const F8 bounded = grid.outer ? gradient * gradient : min(terms.h, fill(most.h));
      factors = {fill(grid.gradient.per_unit), square_root(bounded) * grid.per_root,
                 trusted_terms(usable, terms.h, row2, grid)};
    }
    store(first + r, select(factors.trusted, gradient * factors.scale, zero));
    store(root + r, select(factors.trusted, factors.root, zero));
    trusted |= uint64_t{bits_of(factors.trusted)} << r;
  }
  const uint64_t counted = of.count > 0 ? ~uint64_t{0} >> (64 - of.count) : 0;
  for (int r = of.count; r < of.places; ++r) first[r] = root[r] = 0.0;
  return trusted & counted;
}

template <class Model>
PYDPMC_INLINE auto choose_factors(const RowWeights& weights, const Prepared& p,
                                  const LookGrid& grid) noexcept {
  const bool clips = weights || !need_no_clip(bounds_of(Model{}, p, grid.limits), grid);
  return clips ? record_factors<true, Model> : record_factors<false, Model>;
}

PYDPMC_ISA_END

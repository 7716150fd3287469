// What a look at gradient and curvature sums, and on which grid. Public numbers alone decide.
#pragma once

#include <cstddef>
#include <cstdint>

#include "concepts.hpp"

namespace pydpmc {

// Public limits of a model's terms, see kernels/curvature/terms.hpp. The table has a row of three numbers at
// each of cells + 1 predictors, from `first` on, per_unit of them in a unit.
struct TermLimits {
  double of[2] = {};
  const double* table = nullptr;
  int64_t cells = 0;
  double first = 0, per_unit = 0;

  double operator[](int k) const noexcept { return of[k]; }
};

// A record adds w r x to the gradient and w h x x' to the curvature, w its weight (1 if there are
// none), x with a leading 1 if there is an intercept.
struct LookGrid {
  GradientGrid gradient;  // clip of |w r x|, and integers per unit of gradient
  double curvature_clip;  // B: w h |x|^2 is at most this
  double per_root;        // integers per unit of sqrt(h) x
  double largest_square;  // a row with a larger |x|^2 adds nothing
  TermLimits limits;
  bool outer = false;              // h is r^2 in place of the model's curvature
  const uint8_t* tiles = nullptr;  // which 4 x 4 tiles of the curvature are wanted, row by row
  const double* edges = nullptr;   // of the groups of predictors, ascending: a look at residuals by group
  int edge_count = 0;
};

// The number of records whose outer products are added in doubles before they move to 64-bit integers. The
// norm of a record's integers is below 2^22.5, so these sums stay below 2^51 and every operation is exact.
constexpr int look_block = 64;
constexpr double longest_root = 0x1p22;

// Rows of integers are padded to a multiple of this.
constexpr int look_padding = 16;
inline size_t look_width(int dim) noexcept {
  return static_cast<size_t>((dim + look_padding - 1) / look_padding * look_padding);
}

// The curvature is in the coefficients of one predictor; a softmax has several, all of the same rows.
inline int curvature_dim(const ModelSpec& spec) noexcept { return spec.dim / spec.predictors; }

// Rows of so few columns are looked at by tiles, with a sum in every lane for each pair of columns.
constexpr int longest_look_tile = 24;
inline size_t lane_sums(const ModelSpec& spec) noexcept {
  if (spec.columns > longest_look_tile) return 0;
  return 8 * static_cast<size_t>(spec.columns) + 8 * look_width(spec.dim) * look_width(spec.dim);
}

// The number of doubles of scratch memory, for a prepared theta and a block of rows from a cache line on.
inline size_t look_scratch(const ModelSpec& spec) noexcept {
  return prepared_size(spec) + look_block * look_width(curvature_dim(spec)) + lane_sums(spec) + 16;
}

inline double* from_cache_line(double* scratch) noexcept {
  constexpr uintptr_t line = 64;
  return reinterpret_cast<double*>((reinterpret_cast<uintptr_t>(scratch) + line - 1) / line * line);
}

// The loops over records of one instruction set. Adds to sums[0 .. dim-1] the gradients, and to
// products[i * look_width + j], i <= j, the outer products of the records begin .. end-1.
struct LookKernels {
  void (*look_sums)(const ModelSpec&, const Records&, const double* theta, double* scratch, int64_t begin,
                    int64_t end, const LookGrid&, int64_t* sums, int64_t* products) noexcept;
};

// The loops of the instruction set in use.
const LookKernels& look_kernels() noexcept;

}  // namespace pydpmc

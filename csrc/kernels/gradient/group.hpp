// Sums of clipped gradients on the integer grid, one record at a time; the faster loops of this folder give
// the same integers or have a lemma of their own. A record's gradient is scaled down to norm at most `clip`,
// each coordinate is rounded to the nearest multiple of the grid step, and the integers are summed, so that
// order and threads do not matter. If a gradient is not finite or has a factor beyond 2^250, it adds nothing.
#pragma once

#include "kernels/gradient/float_sum.hpp"
#include "kernels/ratio/ratio.hpp"

PYDPMC_ISA_BEGIN

// The sums contain the bits of the rounding constant, once for every row that was added; this subtracts them
// for `rows` rows.
inline void remove_magic(int64_t* sums, int count, int64_t rows) noexcept {
  int64_t bits;
  std::memcpy(&bits, &rounding_magic, sizeof bits);
  for (int j = 0; j < count; ++j)
    sums[j] = static_cast<int64_t>(static_cast<uint64_t>(sums[j]) -
                                   static_cast<uint64_t>(bits) * static_cast<uint64_t>(rows));
}

typedef uint64_t NativeU __attribute__((vector_size(native_lanes * 8)));
typedef uint64_t UnalignedU __attribute__((vector_size(native_lanes * 8), aligned(8), may_alias));

PYDPMC_INLINE void add_native(int64_t* sums, NativeF value) noexcept {
  UnalignedU* to = reinterpret_cast<UnalignedU*>(sums);
  *to = *to + (NativeU)(value + rounding_magic);
}

// sums[j] += nearest(scale * (row[j] - centre[j])); a null `centre` means zero.
template <class Scalar>
PYDPMC_INLINE void add_row(int64_t* sums, const Scalar* row, const double* centre, double scale,
                           int columns) noexcept {
  scale *= unit_of<Scalar>;
  const NativeF a = every<NativeF>(scale);
  int j = 0;
  for (; j + native_lanes <= columns; j += native_lanes) {
    const NativeF x = load_native(row + j);
    add_native(sums + j, a * (centre ? x - load_native(centre + j) : x));
  }
  for (; j < columns; ++j) {
    const double x = static_cast<double>(row[j]);
    const double value = scale * (centre ? x - centre[j] : x) + rounding_magic;
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    sums[j] = static_cast<int64_t>(static_cast<uint64_t>(sums[j]) + static_cast<uint64_t>(bits));
  }
}

PYDPMC_INLINE void add_scalar(int64_t* sum, double value) noexcept {
  const double shifted = value + rounding_magic;
  int64_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + static_cast<uint64_t>(bits));
}

template <class Scalar>
PYDPMC_INLINE double squared_norm(const Scalar* row, const double* centre, int columns) noexcept {
  F8 total = fill(0.0);
  int j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const F8 x = centre ? load(row + j) - load(centre + j) : load(row + j);
    total = total + x * x;
  }
  double rest = 0.0;
  for (; j < columns; ++j) {
    const double x = static_cast<double>(row[j]) - (centre ? centre[j] : 0.0);
    rest += x * x;
  }
  return (sum_lanes(total) + rest) * (unit_of<Scalar> * unit_of<Scalar>);
}

// Products of squares up to this bound neither overflow nor lose the norm to underflow.
constexpr double largest_square = 0x1p500;

// The squared norm of a gradient from the squares of its factors; infinite if a factor is too large.
PYDPMC_INLINE double gradient_norm2(double row2, double first2, double second2) noexcept {
  const bool trusted = row2 <= largest_square && first2 <= largest_square && second2 <= largest_square;
  return trusted ? first2 * row2 + second2 : __builtin_inf();
}

// The factor from a gradient to the grid, clipping included.
PYDPMC_INLINE double onto_grid(double norm2, const GradientGrid& grid) noexcept {
  const double norm = __builtin_sqrt(norm2);
  return (norm > grid.clip ? grid.clip / norm : 1.0) * grid.per_unit;
}

// Adds factor_of(norm^2) times the gradients of row_of(0) .. row_of(count-1), each times weight_of its place,
// to sums[0 .. dim-1]; returns how many had a finite norm and were added.
template <class Model, class Scalar, class RowOf, class WeightOf, class FactorOf, class Sum>
inline int64_t add_gradients(const ModelSpec& spec, const Table<Scalar>& table, const Prepared& p,
                             const RowOf& row_of, const WeightOf& weight_of, int64_t count,
                             const FactorOf& factor_of, Sum* sums) noexcept {
  const int columns = table.columns, shift = spec.intercept ? 1 : 0;
  const double* centre = Model::has_target || !Model::has_slopes ? nullptr : p.slopes;
  const bool extra = Model::has_slopes && spec.dim > columns + shift;
  int64_t added = 0;
  for (int64_t i = 0; i < count; i += lanes) {
    const int here = rest_of(i, count);
    Rows<Scalar> row;
    for (int k = 0; k < lanes; ++k) row[k] = row_of(k < here ? i + k : i);
    const Score score = Model::score(predict<Model>(row, columns, p), targets<Model>(row, columns), p);
    double first[lanes], second[lanes];
    store(first, score.first);
    store(second, score.second);
    for (int k = 0; k < here; ++k) {
      first[k] *= weight_of(i + k);
      second[k] *= weight_of(i + k);
      const bool uses_second = !Model::has_slopes || extra;
      const double row2 = Model::has_slopes ? squared_norm(row[k], centre, columns) + shift : 1.0;
      const double second2 = uses_second ? second[k] * second[k] : 0.0;
      const double norm2 = gradient_norm2(row2, first[k] * first[k], second2);
      if (norm2 == __builtin_inf()) continue;
      const double factor = factor_of(norm2);
      if constexpr (Model::has_slopes) {
        add_row(sums + shift, row[k], centre, first[k] * factor, columns);
        if (shift) add_scalar(sums, first[k] * factor);
        if (extra) add_scalar(sums + spec.dim - 1, second[k] * factor);
      } else {
        add_scalar(sums, first[k] * factor);
        if (spec.dim > 1) add_scalar(sums + 1, second[k] * factor);
      }
      ++added;
    }
  }
  return added;
}

PYDPMC_ISA_END

// The gradient sums as the dispatcher calls them: of a range of units, or of those in a batch. A unit is a
// record or, if there are groups, a group: then it is the sum of its records' gradients, in the order of its
// rows, that is clipped and rounded. A group of one record counts exactly as the record would.
#pragma once

#include "kernels/softmax_gradient.hpp"

PYDPMC_ISA_BEGIN

template <class Model, class Scalar, class RowOf, class FactorOf, class Sum>
PYDPMC_INLINE int64_t add_any_gradients(const ModelSpec& spec, const Table<Scalar>& table, const Prepared& p,
                                        const RowOf& row_of, int64_t count, const FactorOf& factor_of,
                                        Sum* sums) noexcept {
  if constexpr (Model::has_classes)
    return add_softmax_gradients<Model>(spec, table, p, row_of, count, factor_of, sums);
  else
    return add_gradients<Model>(spec, table, p, row_of, count, factor_of, sums);
}

// A sum of gradients beyond this adds nothing; its square is far from overflow.
constexpr double largest_group_square = 0x1p1000;

// Adds the clipped gradient of a group to the integer sums; returns 1, or 0 if there is nothing to add.
template <class Model, class Scalar, class FactorOf>
inline int64_t add_group(const ModelSpec& spec, const Records& records, const Table<Scalar>& table,
                         const Prepared& p, int64_t group, const FactorOf& factor_of, double* total,
                         int64_t* sums) noexcept {
  const int64_t begin = records.first_row(group), rows = records.first_row(group + 1) - begin;
  const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(begin + i); };
  if (rows == 1) return add_any_gradients<Model>(spec, table, p, row_of, 1, factor_of, sums);
  const auto unscaled = [](double) PYDPMC_LAMBDA { return 1.0; };
  for (int j = 0; j < spec.dim; ++j) total[j] = 0.0;
  if (add_any_gradients<Model>(spec, table, p, row_of, rows, unscaled, total) == 0) return 0;
  const double norm2 = squared_norm(total, nullptr, spec.dim);
  if (!(norm2 <= largest_group_square)) return 0;
  add_row(sums, total, nullptr, factor_of(norm2), spec.dim);
  return 1;
}

template <class UnitOf>
inline void clipped_gradients(const ModelSpec& spec, const Records& records, const double* theta,
                              double* slopes, const UnitOf& unit_of, int64_t count, const GradientGrid& grid,
                              int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    const auto factor_of = [&](double norm2) PYDPMC_LAMBDA { return onto_grid(norm2, grid); };
    int64_t added = 0;
    if (records.group_start) {
      double* total = slopes + 2 * prepared_size(spec);
      for (int64_t i = 0; i < count; ++i)
        added += add_group<Model>(spec, records, table, p, unit_of(i), factor_of, total, sums);
    } else {
      const auto row_of = [&](int64_t i) PYDPMC_LAMBDA { return table.row(unit_of(i)); };
      added = add_any_gradients<Model>(spec, table, p, row_of, count, factor_of, sums);
    }
    remove_magic(sums, spec.dim, added);
  });
}

inline void full_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                          int64_t begin, int64_t end, const GradientGrid& grid, int64_t* sums) noexcept {
  const auto unit_of = [&](int64_t i) PYDPMC_LAMBDA { return begin + i; };
  clipped_gradients(spec, records, theta, slopes, unit_of, end - begin, grid, sums);
}

inline void batch_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                           const uint32_t* index, int64_t count, const GradientGrid& grid,
                           int64_t* sums) noexcept {
  const auto unit_of = [&](int64_t i) PYDPMC_LAMBDA { return static_cast<int64_t>(index[i]); };
  clipped_gradients(spec, records, theta, slopes, unit_of, count, grid, sums);
}

PYDPMC_ISA_END

// The gradient sums as the dispatcher calls them: of a range of units, or of those in a batch. A unit is a
// record or, if there are groups, a group: then it is the sum of its records' gradients, in the order of its
// rows, that is clipped and rounded. A group of one record counts exactly as the record would.
#pragma once

#include "kernels/softmax_gradient.hpp"

PYDPMC_ISA_BEGIN

// Rows in a row, or those of an index. One type for all callers, so that the loops are compiled once.
template <class Scalar>
struct RowsOf {
  const Table<Scalar>& table;
  int64_t begin;
  const uint32_t* index;

  PYDPMC_INLINE const Scalar* operator()(int64_t i) const noexcept {
    return table.row(index ? static_cast<int64_t>(index[i]) : begin + i);
  }
};

struct OntoGrid {
  const GradientGrid& grid;
  PYDPMC_INLINE double operator()(double norm2) const noexcept { return onto_grid(norm2, grid); }
};

struct Unscaled {
  PYDPMC_INLINE double operator()(double) const noexcept { return 1.0; }
};

template <class Model, class Scalar, class FactorOf, class Sum>
[[gnu::noinline]] int64_t add_any_gradients(const ModelSpec& spec, const RowsOf<Scalar>& row_of,
                                            const Prepared& p, int64_t count, const FactorOf& factor_of,
                                            Sum* sums) noexcept {
  if constexpr (Model::has_classes)
    return add_softmax_gradients<Model>(spec, row_of.table, p, row_of, count, factor_of, sums);
  else
    return add_gradients<Model>(spec, row_of.table, p, row_of, count, factor_of, sums);
}

// A sum of gradients beyond this adds nothing; its square is far from overflow.
constexpr double largest_group_square = 0x1p1000;

// Adds the clipped gradient of a group to the integer sums; returns 1, or 0 if there is nothing to add.
template <class Model, class Scalar>
inline int64_t add_group(const ModelSpec& spec, const RowsOf<Scalar>& row_of, const Prepared& p, int64_t rows,
                         const OntoGrid& factor_of, double* total, int64_t* sums) noexcept {
  if (rows == 1) return add_any_gradients<Model>(spec, row_of, p, 1, factor_of, sums);
  for (int j = 0; j < spec.dim; ++j) total[j] = 0.0;
  if (add_any_gradients<Model>(spec, row_of, p, rows, Unscaled{}, total) == 0) return 0;
  const double norm2 = squared_norm(total, nullptr, spec.dim);
  if (!(norm2 <= largest_group_square)) return 0;
  add_row(sums, total, nullptr, factor_of(norm2), spec.dim);
  return 1;
}

// Units begin .. begin+count-1, or index[0 .. count-1].
inline void clipped_gradients(const ModelSpec& spec, const Records& records, const double* theta,
                              double* slopes, int64_t begin, const uint32_t* index, int64_t count,
                              const GradientGrid& grid, int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    const OntoGrid factor_of{grid};
    int64_t added = 0;
    if (records.group_start) {
      double* total = slopes + 2 * prepared_size(spec);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t group = index ? static_cast<int64_t>(index[i]) : begin + i;
        const RowsOf<Scalar> row_of{table, records.first_row(group), nullptr};
        const int64_t rows = records.first_row(group + 1) - row_of.begin;
        added += add_group<Model>(spec, row_of, p, rows, factor_of, total, sums);
      }
    } else {
      added = add_any_gradients<Model>(spec, RowsOf<Scalar>{table, begin, index}, p, count, factor_of, sums);
    }
    remove_magic(sums, spec.dim, added);
  });
}

inline void full_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                          int64_t begin, int64_t end, const GradientGrid& grid, int64_t* sums) noexcept {
  clipped_gradients(spec, records, theta, slopes, begin, nullptr, end - begin, grid, sums);
}

inline void batch_gradient(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                           const uint32_t* index, int64_t count, const GradientGrid& grid,
                           int64_t* sums) noexcept {
  clipped_gradients(spec, records, theta, slopes, 0, index, count, grid, sums);
}

PYDPMC_ISA_END

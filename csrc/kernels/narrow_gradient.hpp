// Clipped gradients of single records that are stored in single precision or in sixteen bits, on a grid that
// fits into the numbers they are stored in: narrow predictors, everything between predictor and grid in
// double precision, sums of integers. Spare lanes and records that are not finite count with factor zero.
// What a record adds depends on the record and theta alone; its norm: docs/privacy/sgld.md, lemma 2'.
#pragma once

#include "kernels/narrow_predictors.hpp"
#include "kernels/narrow_sums.hpp"
#include "kernels/record_gradients.hpp"

PYDPMC_ISA_BEGIN

// Rows ahead, a cache line at a time.
template <class Scalar>
struct LinesAhead {
  RowsAhead<Scalar> rows;

  PYDPMC_INLINE void operator()(int r, int j) const noexcept {
    constexpr int line = 64 / static_cast<int>(sizeof(Scalar));
    if (j % line == 0) rows(r, j);
  }
};

template <class Model, class Scalar>
[[gnu::noinline]] void add_narrow(const ModelSpec& spec, const Table<Scalar>& table,
                                  const RowSquares& squares, const Prepared& p, float* scratch,
                                  const Batch& batch, const GradientGrid& grid, int64_t* sums) noexcept {
  using Sums = typename NarrowSumsOf<Scalar>::Type;
  constexpr int64_t distance = 2 * lanes;
  const int columns = spec.columns, width = (columns + narrow_lanes - 1) / narrow_lanes * narrow_lanes;
  const int shift = spec.intercept ? 1 : 0;
  const typename NarrowSlopesOf<Scalar>::Type slopes(p.slopes, columns, width, scratch);
  Sums slope_sums(scratch + width, sums + shift, columns, width);
  I8 ones = zero_i8();
  for (int64_t i = 0; i < batch.count; i += lanes) {
    const int here = rest_of(i, batch.count);
    Rows<Scalar> row;
    int64_t id[lanes];
    for (int k = 0; k < lanes; ++k) row[k] = table.row(id[k] = batch.at(k < here ? i + k : i));
    const LinesAhead<Scalar> fetch{{table, squares, batch, i + distance}};
    const F8 eta = slopes.predictors(row, fetch) + p.offset;
    const F8 first = Model::score(eta, targets<Model>(row, columns), p).first;
    const F8 row2 = gather([&](int k) PYDPMC_LAMBDA { return *squares.of(id[k]); }) + shift;
    double factor[lanes];
    store(factor, only_first(here, Sums::factors(first, row2, grid)));
    slope_sums.add8(row, factor, fetch);
    if (shift)
      ones = ones + nearest_integer(gather([&](int k) PYDPMC_LAMBDA { return Sums::intercept(factor[k]); }));
  }
  slope_sums.flush();
  if (shift) sums[0] += sum(ones);
}

// Adds the clipped gradients of the records of a batch to sums[0 .. dim-1].
inline void narrow_sums(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                        const Batch& batch, const GradientGrid& grid, int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes && sizeof(Scalar) < 8)
      add_narrow<Model>(spec, table, records.squares, Model::prepare(spec, theta, slopes),
                        reinterpret_cast<float*>(slopes + prepared_size(spec)), batch, grid, sums);
  });
}

PYDPMC_ISA_END

// Clipped gradients of single records stored in single precision or in sixteen bits, on a grid that fits into
// that storage. Predictors have its precision, everything between predictor and grid is in double precision,
// and sums are of integers. Spare lanes and records that are not finite count with factor zero. A
// contribution depends on the record and theta alone; its norm: docs/privacy/sgld.md, lemma 2'.
#pragma once

#include <type_traits>

#include "kernels/gradient/narrow_predictors.hpp"
#include "kernels/gradient/narrow_sums.hpp"
#include "kernels/row_queue.hpp"

PYDPMC_ISA_BEGIN

template <class Model, class Scalar>
[[gnu::noinline]] void add_narrow(const ModelSpec& spec, const Table<Scalar>& table,
                                  const RowSquares& squares, const Prepared& p, float* scratch,
                                  const Batch& batch, const GradientGrid& grid, int64_t* sums) noexcept {
  constexpr bool floats = std::is_same_v<Scalar, float>;
  using Slopes = std::conditional_t<floats, FloatSlopes, DigitSlopes>;
  using Sums = std::conditional_t<floats, FloatSums, Fixed16Sums>;
  const int columns = spec.columns, width = (columns + narrow_lanes - 1) / narrow_lanes * narrow_lanes;
  const int shift = spec.intercept ? 1 : 0;
  const Slopes slopes(p.slopes, columns, width, scratch);
  Sums slope_sums(scratch + width, sums + shift, columns, width);
  I8 ones = zero_i8();
  RowQueue<Scalar> queue(table, squares, batch);
  for (int64_t i = 0; i < batch.count; i += lanes) {
    queue.advance(i);
    const EightRows<Scalar>&now = queue.now(), &fetch = queue.ahead();
    const F8 eta = slopes.predictors(now.row, fetch) + p.offset;
    const F8 first = Model::score(eta, targets<Model>(now.row, columns), p).first;
    const F8 row2 = gather([&](int k) PYDPMC_LAMBDA { return *squares.of(now.id[k]); }) + shift;
    double factor[lanes];
    store(factor, only_first(rest_of(i, batch.count), Sums::factors(first, row2, grid)));
    slope_sums.add8(now.row, factor, fetch);
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

// Linear predictors and targets of eight records.
#pragma once

#include "kernels/dots.hpp"
#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

// x with zero in all lanes but the first `count`.
PYDPMC_INLINE F8 only_first(int count, F8 x) noexcept {
  const F8 lane = gather([](int k) PYDPMC_LAMBDA { return static_cast<double>(k); });
  return select(lane < fill(count), x, fill(0.0));
}

template <class Model, class Scalar, class Fetch>
PYDPMC_INLINE F8 predict(const Scalar* const (&row)[lanes], int columns, const Prepared& p,
                         const Fetch& fetch) noexcept {
  if constexpr (Model::has_slopes) {
    return dot8(row, p.slopes, columns, fetch) + p.offset;
  } else {
    return gather([&](int k) PYDPMC_LAMBDA { return static_cast<double>(row[k][0]) * unit_of<Scalar>; });
  }
}

template <class Model, class Scalar>
PYDPMC_INLINE F8 predict(const Scalar* const (&row)[lanes], int columns, const Prepared& p) noexcept {
  return predict<Model>(row, columns, p, fetch_nothing);
}

template <class Model, class Scalar>
PYDPMC_INLINE F8 targets(const Scalar* const (&row)[lanes], int columns) noexcept {
  if constexpr (Model::has_target)
    return gather([&](int k) PYDPMC_LAMBDA { return target_of(row[k], columns); });
  else
    return fill(0.0);
}

PYDPMC_ISA_END

// Weighted sums of rows in doubles, in an order that the block alone fixes, whatever the instruction set.
#pragma once

#include <type_traits>

#include "kernels/block.hpp"

PYDPMC_ISA_BEGIN

template <class Vector, class Scalar>
PYDPMC_INLINE Vector load_as(const Scalar* from) noexcept {
  if constexpr (std::is_same_v<Vector, double>) {
    return static_cast<double>(*from);
  } else if constexpr (std::is_same_v<Scalar, double>) {
    Vector x;
    std::memcpy(&x, from, sizeof x);
    return x;
  } else {
    Vector x{};
    for (size_t k = 0; k < sizeof x / sizeof(double); ++k) x[k] = static_cast<double>(from[k]);
    return x;
  }
}

template <class Vector>
PYDPMC_INLINE Vector load_as(const int16_t* from) noexcept {
  if constexpr (sizeof(Vector) == sizeof(double))
    return *from;
  else
    return (Vector)widen<sizeof(Vector) / sizeof(double)>(from);
}

template <class Vector>
PYDPMC_INLINE Vector load_as(const float* from) noexcept {
  if constexpr (sizeof(Vector) == sizeof(double)) {
    return *from;
  } else {
    typedef float Narrow __attribute__((vector_size(sizeof(Vector) / 2)));
    Narrow x;
    std::memcpy(&x, from, sizeof x);
    return __builtin_convertvector(x, Vector);
  }
}

// The sum of weight[k] * (row[k][j ..] - centre[j ..]) over eight rows; a NaN difference counts as 0.
template <class Vector, class Scalar>
PYDPMC_INLINE Vector weighted(const Rows<Scalar>& row, const double* weight, const double* centre,
                              int j) noexcept {
  const auto term = [&](int k) PYDPMC_LAMBDA {
    Vector x = load_as<Vector>(row[k] + j);
    if (centre) {
      x = x - load_as<Vector>(centre + j);
      x = x == x ? x : Vector{};
    }
    return x * weight[k];
  };
  const Vector low = (term(0) + term(1)) + (term(2) + term(3));
  const Vector high = (term(4) + term(5)) + (term(6) + term(7));
  return low + high;
}

// sums[j ..] += the same over all rows of a block, eight after eight.
template <class Vector, int vectors, class Scalar>
PYDPMC_INLINE void add_entries(const Block<Scalar>& block, const double* weight, const double* centre, int j,
                               double* sums) noexcept {
  constexpr int width = sizeof(Vector) / sizeof(double);
  Vector total[vectors];
  for (int v = 0; v < vectors; ++v) total[v] = load_as<Vector>(sums + j + v * width);
  for (int r = 0; r < block.count; r += lanes) {
    Rows<Scalar> row;
    block.eight(r, row);
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v)
      total[v] = total[v] + weighted<Vector>(row, weight + r, centre, j + v * width);
  }
  for (int v = 0; v < vectors; ++v) std::memcpy(sums + j + v * width, &total[v], sizeof total[v]);
}

// Rows of four or more columns are padded to a multiple of four; the sums beyond the last column are never
// read. Weights are in units of stored numbers.
template <class Scalar>
PYDPMC_INLINE void add_weighted(const Block<Scalar>& block, const double* weight, const double* centre,
                                double* sums) noexcept {
  int j = 0;
  if (block.columns < 4) {
    for (; j < block.columns; ++j) add_entries<double, 1>(block, weight, centre, j, sums);
    return;
  }
  const int end = (block.columns + 3) / 4 * 4;
  for (; j + 2 * native_lanes <= end; j += 2 * native_lanes)
    add_entries<NativeF, 2>(block, weight, centre, j, sums);
  for (; j + native_lanes <= end; j += native_lanes) add_entries<NativeF, 1>(block, weight, centre, j, sums);
  if (j < end) add_entries<Quad, 1>(block, weight, centre, j, sums);
}

PYDPMC_ISA_END

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

// weight * (row[j ..] - centre[j ..]); a NaN difference counts as 0.
template <class Vector, class Scalar>
PYDPMC_INLINE Vector weighted(const Scalar* row, double weight, const double* centre, int j) noexcept {
  Vector x = load_as<Vector>(row + j);
  if (centre) {
    x = x - load_as<Vector>(centre + j);
    x = x == x ? x : Vector{};
  }
  return x * weight;
}

// Rows of so many bytes are prefetched here too, one block ahead: memory would idle while they are summed.
constexpr int64_t long_enough = 256;

// sums[j ..] += the same over the rows of a block, for `vectors` vectors of columns: rows k, k + 8, k + 16
// and so on, and then these eight sums in the order of sum_lanes. Even k come first, so that registers
// suffice.
template <class Vector, int vectors, class Scalar>
PYDPMC_INLINE void add_entries(const Block<Scalar>& block, const double* weight, const double* centre, int j,
                               double* sums) noexcept {
  constexpr int size = sizeof(Vector) / sizeof(double), half = lanes / 2, line = 64 / sizeof(Scalar);
  const bool fetches = block.stride * static_cast<int64_t>(sizeof(Scalar)) >= long_enough;
  Vector both[2][vectors];
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; ++odd) {
    Vector total[half][vectors] = {};
    for (int r = 0; r < block.count; r += lanes) {
      Rows<Scalar> row;
      block.eight(r, row);
      if (fetches)
        for (int k = 0; k < half; ++k)
          for (int c = 0; c < vectors * size; c += line)
            __builtin_prefetch(row[2 * k + odd] + block.most * block.stride + j + c, 0, 2);
#pragma GCC unroll 4
      for (int k = 0; k < half; ++k)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v)
          total[k][v] =
              total[k][v] + weighted<Vector>(row[2 * k + odd], weight[r + 2 * k + odd], centre, j + v * size);
    }
    for (int v = 0; v < vectors; ++v)
      both[odd][v] = (total[0][v] + total[2][v]) + (total[1][v] + total[3][v]);
  }
  for (int v = 0; v < vectors; ++v) {
    const Vector sum = load_as<Vector>(sums + j + v * size) + (both[0][v] + both[1][v]);
    std::memcpy(sums + j + v * size, &sum, sizeof sum);
  }
}

// Rows of four or more columns are padded to a multiple of four; the sums beyond the last column are never
// read. Weights are in units of stored numbers.
template <class Scalar>
PYDPMC_INLINE void add_weighted(const Block<Scalar>& block, const double* weight, const double* centre,
                                double* sums) noexcept {
  constexpr int vectors = native_lanes == lanes ? 4 : 2;  // as many as there are registers for
  int j = 0;
  if (block.columns < 4) {
    for (; j < block.columns; ++j) add_entries<double, 1>(block, weight, centre, j, sums);
    return;
  }
  const int end = (block.columns + 3) / 4 * 4;
  for (; j + vectors * native_lanes <= end; j += vectors * native_lanes)
    add_entries<NativeF, vectors>(block, weight, centre, j, sums);
  for (; j + native_lanes <= end; j += native_lanes) add_entries<NativeF, 1>(block, weight, centre, j, sums);
  if (j < end) add_entries<Quad, 1>(block, weight, centre, j, sums);
}

PYDPMC_ISA_END

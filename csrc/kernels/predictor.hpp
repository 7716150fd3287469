// Linear predictors and targets of eight records. A record's dot product is summed in an order fixed by the
// number of columns alone, whatever its position or the instruction set.
#pragma once

#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

PYDPMC_INLINE double sum_lanes(F8 x) noexcept {
  double v[lanes];
  store(v, x);
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Rows of four or more columns are padded to a multiple of four (pydpmc/data.py), and slopes are zero beyond
// the last column, so that half vectors may be read whole.
PYDPMC_INLINE double dot(const double* row, const double* slopes, int columns) noexcept {
  if (columns < 4) {
    double total = row[0] * slopes[0];
    for (int j = 1; j < columns; ++j) total += row[j] * slopes[j];
    return total;
  }
  F8 total = fill(0.0);
  int j = 0;
  for (; j + lanes <= columns; j += lanes) total = total + load(row + j) * load(slopes + j);
  double rest[2 * lanes] = {};
  if (j < columns) {
    const int width = columns - j > 4 ? lanes : 4;
    std::memcpy(rest, row + j, static_cast<size_t>(width) * sizeof(double));
    std::memcpy(rest + lanes, slopes + j, static_cast<size_t>(width) * sizeof(double));
    total = total + load(rest) * load(rest + lanes);
  }
  return sum_lanes(total);
}

template <class Model>
PYDPMC_INLINE F8 predict(const double* const (&row)[lanes], int columns, const Prepared& p) noexcept {
  double eta[lanes];
  if constexpr (Model::has_slopes)
    for (int k = 0; k < lanes; ++k) eta[k] = dot(row[k], p.slopes, columns) + p.offset;
  else
    for (int k = 0; k < lanes; ++k) eta[k] = row[k][0];
  return load(eta);
}

PYDPMC_INLINE F8 targets(const double* const (&row)[lanes], const Records& records) noexcept {
  double y[lanes] = {};
  if (records.has_target)
    for (int k = 0; k < lanes; ++k) y[k] = row[k][records.columns];
  return load(y);
}

PYDPMC_ISA_END

// The log-likelihood of a block of records and its gradient in one pass over the rows: the only loop
// over records of NUTS. A record's log-likelihood is clamped to `range`, beyond which its slope is 0; a
// NaN adds nothing. Sums are of doubles in an order that the block alone fixes, whatever the instruction
// set.
#pragma once

#include <type_traits>

#include "kernels/ratio/ratio.hpp"

PYDPMC_ISA_BEGIN

typedef double Quad __attribute__((vector_size(32)));

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

// sums[j ..] += sum of weight[k] * (row[k][j ..] - centre[j ..]) over eight rows; a NaN product counts as 0.
template <class Vector, class Scalar>
PYDPMC_INLINE void add_entries(const Scalar* const (&row)[lanes], const double (&weight)[lanes],
                               const double* centre, int j, double* sums) noexcept {
  const auto term = [&](int k) PYDPMC_LAMBDA {
    Vector x = load_as<Vector>(row[k] + j);
    if (centre) {
      x = x - load_as<Vector>(centre + j);
      x = x == x ? x : Vector{};
    }
    return x * (weight[k] * unit_of<Scalar>);
  };
  const Vector low = (term(0) + term(1)) + (term(2) + term(3));
  const Vector high = (term(4) + term(5)) + (term(6) + term(7));
  const Vector total = load_as<Vector>(sums + j) + (low + high);
  std::memcpy(sums + j, &total, sizeof total);
}

// Rows of four or more columns are padded to a multiple of four; the sums beyond the last column are never
// read.
template <class Scalar>
PYDPMC_INLINE void add_weighted(const Scalar* const (&row)[lanes], const double (&weight)[lanes],
                                const double* centre, int columns, double* sums) noexcept {
  int j = 0;
  if (columns < 4) {
    for (; j < columns; ++j) add_entries<double>(row, weight, centre, j, sums);
    return;
  }
  const int end = (columns + 3) / 4 * 4;
  for (; j + native_lanes <= end; j += native_lanes) add_entries<NativeF>(row, weight, centre, j, sums);
  if (j < end) add_entries<Quad>(row, weight, centre, j, sums);
}

// out = {log-likelihood, gradient[dim]} of rows begin .. end-1; `sums` has room for padded(columns).
template <class Model, class Scalar>
inline void sum_density(const ModelSpec& spec, const Table<Scalar>& table, int64_t begin, int64_t end,
                        const Prepared& p, const LoglikRange& range, double* sums, double* out) noexcept {
  const int columns = table.columns, shift = spec.intercept ? 1 : 0;
  const double* centre = Model::has_target || !Model::has_slopes ? nullptr : p.slopes;
  F8 logliks = fill(0.0), firsts = fill(0.0), seconds = fill(0.0);
  for (int j = 0; j < padded(columns); ++j) sums[j] = 0.0;
  for (int64_t i = begin; i < end; i += lanes) {
    const int here = rest_of(i, end);
    Rows<Scalar> row;
    consecutive_rows(table, i, here, row);
    fetch_consecutive(table, i);
    const F8 eta = predict<Model>(row, columns, p), y = targets<Model>(row, columns);
    const F8 loglik = Model::loglik(eta, y, p);
    const F8 clamped = min(max(loglik, fill(range.low)), fill(range.high));
    const Score score = Model::score(eta, y, p);
    const I8 free = clamped == loglik;
    const F8 value = select(loglik == loglik, clamped, fill(0.0));
    const F8 slope = only_first(here, select(free, score.first, fill(0.0)));
    logliks = logliks + only_first(here, value);
    firsts = firsts + slope;
    seconds = seconds + only_first(here, select(free, score.second, fill(0.0)));
    if constexpr (Model::has_slopes) {
      double weight[lanes];
      store(weight, slope);
      add_weighted(row, weight, centre, columns, sums);
    }
  }
  out[0] = sum_lanes(logliks);
  if constexpr (Model::has_slopes) {
    if (shift) out[1] = sum_lanes(firsts);
    copy(out + 1 + shift, sums, columns);
    if (spec.dim > columns + shift) out[spec.dim] = sum_lanes(seconds);
  } else {
    out[1] = sum_lanes(firsts);
    if (spec.dim > 1) out[2] = sum_lanes(seconds);
  }
}

// The same with a predictor per class; `sums` has room for padded(columns) numbers per class.
template <class Model, class Scalar>
inline void sum_softmax_density(const ModelSpec& spec, const Table<Scalar>& table, int64_t begin, int64_t end,
                                const Prepared& p, const LoglikRange& range, double* sums,
                                double* out) noexcept {
  const int columns = spec.columns, classes = spec.predictors, width = padded(columns);
  double* gradient = out + 1 + (spec.intercept ? classes : 0);
  F8 logliks = fill(0.0);
  for (int j = 0; j < classes * width; ++j) sums[j] = 0.0;
  for (int j = 0; j <= spec.dim; ++j) out[j] = 0.0;
  for (int64_t i = begin; i < end; i += lanes) {
    const int here = rest_of(i, end);
    Rows<Scalar> row;
    consecutive_rows(table, i, here, row);
    fetch_consecutive(table, i);
    const F8 y = targets<Model>(row, columns), top = class_predictors(row, columns, p);
    const F8 loglik = log_share(y, top, p);
    const F8 clamped = min(max(loglik, fill(range.low)), fill(range.high));
    logliks = logliks + only_first(here, select(loglik == loglik, clamped, fill(0.0)));
    softmax_residuals(y, top, p);
    for (int c = 0; c < classes; ++c) {
      double weight[lanes];
      const F8 residual = select(clamped == loglik, load(p.scratch + c * lanes), fill(0.0));
      store(weight, only_first(here, residual));
      add_weighted(row, weight, nullptr, columns, sums + c * width);
      if (spec.intercept) out[1 + c] += sum_lanes(only_first(here, residual));
    }
  }
  out[0] = sum_lanes(logliks);
  for (int c = 0; c < classes; ++c) copy(gradient + c * columns, sums + c * width, columns);
}

inline void log_density(const ModelSpec& spec, const Records& records, const double* theta, double* slopes,
                        int64_t begin, int64_t end, const LoglikRange& range, double* out) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    const Prepared p = Model::prepare(spec, theta, slopes);
    double* sums = slopes + prepared_size(spec);
    if constexpr (Model::has_classes)
      sum_softmax_density<Model>(spec, table, begin, end, p, range, sums, out);
    else
      sum_density<Model>(spec, table, begin, end, p, range, sums, out);
  });
}

PYDPMC_ISA_END

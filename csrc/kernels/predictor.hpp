// Linear predictors and targets of eight records. A record's dot product is summed in an order fixed by the
// number of columns alone, whatever its position or the instruction set.
#pragma once

#include "kernels/rows.hpp"
#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

// Adds row[0..3] * slopes[0..3] to the first four lanes of total.
template <class Scalar>
PYDPMC_INLINE void add_half(F8& total, const Scalar* row, const double* slopes) noexcept {
  if constexpr (native_lanes <= 4) {
    for (int k = 0; k < 4 / native_lanes; ++k)
      total.p[k] = total.p[k] + load_native(row + k * native_lanes) * load_native(slopes + k * native_lanes);
  } else {
    F8 product = fill(0.0);
    for (int k = 0; k < 4; ++k) product.p[0][k] = static_cast<double>(row[k]) * slopes[k];
    total = total + product;
  }
}

// ((0+4) + (2+6)) + ((1+5) + (3+7))
PYDPMC_INLINE double sum_lanes(const F8& x) noexcept {
  typedef double Pair __attribute__((vector_size(16)));
  if constexpr (parts == 4) {
    const NativeF pair = (x.p[0] + x.p[2 % parts]) + (x.p[1 % parts] + x.p[3 % parts]);
    return pair[0] + pair[1];
  } else {
    constexpr int quad = 4 % native_lanes;  // where lane 4 sits in the last part
    const NativeF low = x.p[0], high = x.p[parts - 1];
    const Pair first = Pair{low[0], low[1]} + Pair{high[quad], high[quad + 1]};
    const Pair second = Pair{low[2 % native_lanes], low[3 % native_lanes]} +
                        Pair{high[(quad + 2) % native_lanes], high[(quad + 3) % native_lanes]};
    const Pair pair = first + second;
    return pair[0] + pair[1];
  }
}

typedef double Quad __attribute__((vector_size(32)));

// Adds lanes k and k + 4, whatever the number of parts.
template <class Part>
PYDPMC_INLINE Quad fold(const Part* x) noexcept {
  if constexpr (sizeof(Part) == 64)
    return __builtin_shufflevector(x[0], x[0], 0, 1, 2, 3) + __builtin_shufflevector(x[0], x[0], 4, 5, 6, 7);
  else if constexpr (sizeof(Part) == 32)
    return x[0] + x[1];
  else
    return __builtin_shufflevector(x[0] + x[2], x[1] + x[3], 0, 1, 2, 3);
}

// The lane sums of four vectors, each in the order of sum_lanes.
PYDPMC_INLINE Quad sums_of(const F8* x) noexcept {
  const Quad a = fold(x[0].p), b = fold(x[1].p), c = fold(x[2].p), d = fold(x[3].p);
  const Quad ac = __builtin_shufflevector(a, c, 0, 1, 4, 5) + __builtin_shufflevector(a, c, 2, 3, 6, 7);
  const Quad bd = __builtin_shufflevector(b, d, 0, 1, 4, 5) + __builtin_shufflevector(b, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ac, bd, 0, 4, 2, 6) + __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
}

// Prefetches nothing.
struct FetchNothing {
  static constexpr bool comes_by_itself = false;
  PYDPMC_INLINE void operator()(int, int) const noexcept {}
};
constexpr FetchNothing fetch_nothing;

// Rows of four or more columns are padded to a multiple of four (pydpmc/data/storage.py), and
// slopes are zero beyond the last column, so that half vectors may be read whole. Several rows at a
// time hide the latency of additions; meanwhile fetch(r, j) may prefetch columns j .. j+7 of other
// rows.
template <int at_once, class Scalar, class Fetch>
PYDPMC_INLINE void dots(const Scalar* const (&row)[lanes], const double* slopes, int columns, double* out,
                        const Fetch& fetch) noexcept {
#pragma GCC unroll 2
  for (int first = 0; first < lanes; first += at_once) {
    F8 total[at_once];
    for (F8& t : total) t = fill(0.0);
    int j = 0;
    for (; j + 4 < columns; j += lanes) {
      const F8 slope = load(slopes + j);
      fetch(first / 2, j);
#pragma GCC unroll 8
      for (int r = 0; r < at_once; ++r) total[r] = total[r] + load(row[first + r] + j) * slope;
    }
    if (j < columns) {
#pragma GCC unroll 8
      for (int r = 0; r < at_once; ++r) add_half(total[r], row[first + r] + j, slopes + j);
    }
#pragma GCC unroll 2
    for (int r = 0; r < at_once; r += 4) {
      const Quad sums = sums_of(total + r) * unit_of<Scalar>;
      __builtin_memcpy(out + first + r, &sums, sizeof sums);
    }
  }
}

// Long rows, which the hardware prefetches, are fastest all eight at once. This is a separate function
// because the loops for short rows have no registers to spare.
template <class Scalar>
[[gnu::noinline]] void dots_of_long(const Scalar* const (&row)[lanes], const double* slopes, int columns,
                                    double* out) noexcept {
  dots<8>(row, slopes, columns, out, fetch_nothing);
}

template <class Scalar, class Fetch>
PYDPMC_INLINE void dot8(const Scalar* const (&row)[lanes], const double* slopes, int columns, double* out,
                        const Fetch& fetch) noexcept {
  if (columns < 4) {
    for (int r = 0; r < lanes; ++r) {
      out[r] = row[r][0] * slopes[0];
      for (int j = 1; j < columns; ++j) out[r] += row[r][j] * slopes[j];
      out[r] *= unit_of<Scalar>;
    }
  } else if (fetch.comes_by_itself) {
    dots_of_long(row, slopes, columns, out);
  } else {
    dots<4>(row, slopes, columns, out, fetch);
  }
}

// A vector with the lanes value(0) .. value(7), joined in registers.
template <class Value>
PYDPMC_INLINE F8 gather(const Value& value) noexcept {
  F8 r;
  for (int k = 0; k < parts; ++k) {
    const int i = k * native_lanes;
    if constexpr (native_lanes == 2)
      r.p[k] = NativeF{value(i), value(i + 1)};
    else if constexpr (native_lanes == 4)
      r.p[k] = NativeF{value(i), value(i + 1), value(i + 2), value(i + 3)};
    else
      r.p[k] = NativeF{value(i),     value(i + 1), value(i + 2), value(i + 3),
                       value(i + 4), value(i + 5), value(i + 6), value(i + 7)};
  }
  return r;
}

// x with zero in all lanes but the first `count`.
PYDPMC_INLINE F8 only_first(int count, F8 x) noexcept {
  const F8 lane = gather([](int k) PYDPMC_LAMBDA { return static_cast<double>(k); });
  return select(lane < fill(count), x, fill(0.0));
}

template <class Model, class Scalar, class Fetch>
PYDPMC_INLINE F8 predict(const Scalar* const (&row)[lanes], int columns, const Prepared& p,
                         const Fetch& fetch) noexcept {
  if constexpr (Model::has_slopes) {
    double eta[lanes];
    dot8(row, p.slopes, columns, eta, fetch);
    return load(eta) + p.offset;
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

// Dot products of eight rows with the slopes. A product is summed in an order fixed by the number of columns
// alone, whatever its position or the instruction set: column j is added to sum j mod 8, and then
// ((0+4) + (2+6)) + ((1+5) + (3+7)); fewer than four columns are added one after the other.
#pragma once

#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

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

// Adds row[0..3] * slopes[0..3] to the first four lanes of total.
template <class Scalar>
PYDPMC_INLINE void add_half(F8& total, const Scalar* row, const double* slopes) noexcept {
  if constexpr (native_lanes <= 4) {
    for (int k = 0; k < 4 / native_lanes; ++k)
      total.p[k] = total.p[k] + load_native(row + k * native_lanes) * load_native(slopes + k * native_lanes);
  } else {
    total.p[0] = total.p[0] + load_half(row) * load_native(slopes);
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
  if constexpr (sizeof(Part) == 32)
    return x[0] + x[1];
  else
    return __builtin_shufflevector(x[0] + x[2], x[1] + x[3], 0, 1, 2, 3);
}

// The lane sums of four vectors, each in the order of sum_lanes.
PYDPMC_INLINE Quad sums_of_four(const F8* x) noexcept {
  const Quad a = fold(x[0].p), b = fold(x[1].p), c = fold(x[2].p), d = fold(x[3].p);
  const Quad ac = __builtin_shufflevector(a, c, 0, 1, 4, 5) + __builtin_shufflevector(a, c, 2, 3, 6, 7);
  const Quad bd = __builtin_shufflevector(b, d, 0, 1, 4, 5) + __builtin_shufflevector(b, d, 2, 3, 6, 7);
  return __builtin_shufflevector(ac, bd, 0, 4, 2, 6) + __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
}

// The lane sums of `count` vectors, four or eight, as the parts of one from `to` on. Eight wide vectors are
// folded in pairs, x[k] into the low half and x[k + 4] into the high half. Vector and Part are F8 and
// NativeF: clang checks a branch for another width unless its types depend on the template.
template <int count, class Vector, class Part>
PYDPMC_INLINE void sums_of(const Vector* x, Part* to) noexcept {
  if constexpr (native_lanes == 8) {
    static_assert(count == lanes);
    using Octet = Wide<8>::F;
    Octet pair[4];
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const Octet low = (Octet)x[k].p[0], high = (Octet)x[k + 4].p[0];
      pair[k] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
                __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15);
    }
    const auto across = [](Octet a, Octet c) PYDPMC_LAMBDA {
      return __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13) +
             __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    };
    const Octet ac = across(pair[0], pair[2]), bd = across(pair[1], pair[3]);
    *to = (Part)(__builtin_shufflevector(ac, bd, 0, 8, 2, 10, 4, 12, 6, 14) +
                 __builtin_shufflevector(ac, bd, 1, 9, 3, 11, 5, 13, 7, 15));
  } else {
#pragma GCC unroll 2
    for (int k = 0; k < count; k += 4) {
      const Quad sums = sums_of_four(x + k);
      if constexpr (native_lanes == 4) {
        to[k / 4] = (Part)sums;
      } else {
        using Pair = Wide<2>::F;
        to[k / 2] = (Part)(Pair)__builtin_shufflevector(sums, sums, 0, 1);
        to[k / 2 + 1] = (Part)(Pair)__builtin_shufflevector(sums, sums, 2, 3);
      }
    }
  }
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
PYDPMC_INLINE F8 dots(const Scalar* const (&row)[lanes], const double* slopes, int columns,
                      const Fetch& fetch) noexcept {
  F8 sums;
#pragma GCC unroll 2
  for (int first = 0; first < lanes; first += at_once) {
    F8 total[at_once];
    for (F8& t : total) t = fill(0.0);
    int j = 0;
    for (; j + 4 < columns; j += lanes) {
      const F8 slope = load(slopes + j);
      for (int r = 0; r < at_once; r += 4) fetch((first + r) / 2, j);
#pragma GCC unroll 8
      for (int r = 0; r < at_once; ++r) total[r] = total[r] + load(row[first + r] + j) * slope;
    }
    if (j < columns) {
#pragma GCC unroll 8
      for (int r = 0; r < at_once; ++r) add_half(total[r], row[first + r] + j, slopes + j);
    }
    sums_of<at_once>(total, sums.p + first / native_lanes);
  }
  return sums * unit_of<Scalar>;
}

// As many rows at a time as there are registers for their sums.
constexpr int short_rows_at_once = native_lanes == 8 ? 8 : 4;

// Long rows, which the hardware prefetches, are fastest all eight at once. This is a separate function
// because the loops for short rows have no registers to spare.
template <class Scalar>
[[gnu::noinline]] F8 dots_of_long(const Scalar* const (&row)[lanes], const double* slopes,
                                  int columns) noexcept {
  return dots<8>(row, slopes, columns, fetch_nothing);
}

template <class Scalar, class Fetch>
PYDPMC_INLINE F8 dot8(const Scalar* const (&row)[lanes], const double* slopes, int columns,
                      const Fetch& fetch) noexcept {
  if (columns < 4) {
    const auto column = [&](int j) PYDPMC_LAMBDA {
      return gather([&](int k) PYDPMC_LAMBDA { return static_cast<double>(row[k][j]); });
    };
    F8 total = column(0) * slopes[0];
    for (int j = 1; j < columns; ++j) total = total + column(j) * slopes[j];
    return total * unit_of<Scalar>;
  }
  if (fetch.comes_by_itself) return dots_of_long(row, slopes, columns);
  return dots<short_rows_at_once>(row, slopes, columns, fetch);
}

PYDPMC_ISA_END

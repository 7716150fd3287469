// Integer sums of rows stored in single precision or in sixteen bits. Each row is multiplied by a factor that
// clips its gradient and takes it to the grid.
#pragma once

#include "kernels/gradient/gradient_norm.hpp"
#include "simd/narrow.hpp"
#include "simd/products16.hpp"

PYDPMC_ISA_BEGIN

// Sums of single-precision rows in 32 bits; after at most `most_rows` rows they move to 64 bits.
struct FloatSums {
  static constexpr int64_t most_rows = 256;  // as integers are below 2^22
  uint32_t* partial;
  int64_t* sums;
  int columns, width;
  int64_t rows = 0;

  PYDPMC_INLINE FloatSums(float* scratch, int64_t* slope_sums, int count, int padded_count) noexcept
      : partial(reinterpret_cast<uint32_t*>(scratch)), sums(slope_sums), columns(count), width(padded_count) {
    clear();
  }

  // Integers per unit of gradient times `first`. Its range is limited so that products with a row neither
  // overflow nor lose digits to underflow.
  PYDPMC_INLINE static F8 factors(F8 first, F8 row2, const GradientGrid& grid) noexcept {
    const F8 scale = clipped_scale(row2, first * first, fill(0.0), grid);
    const F8 factor = select(fill(0.0) <= scale, first * scale, fill(0.0));
    const F8 clamped = min(max(factor, fill(-0x1p100)), fill(0x1p100));
    return select(fill(0x1p-100) <= abs(clamped), clamped, fill(0.0));
  }

  template <class Fetch>
  PYDPMC_INLINE void add8(const Rows<float>& row, const double* factor, const Fetch& fetch) noexcept {
    Rows<float> from;
    if (!rows_to_add(row, factor, from)) return;
    NarrowF scale[lanes];
    for (int r = 0; r < lanes; ++r) scale[r] = every<NarrowF>(static_cast<float>(factor[r]));
    for (int j = 0; j < width; j += narrow_lanes) {
      fetch(4, j);
      fetch(6, j);
#pragma GCC unroll 4
      for (int k = j; k < j + narrow_lanes; k += narrow_native) {
        NarrowU total = unaligned<NarrowU>(partial + k);
#pragma GCC unroll 8
        for (int r = 0; r < lanes; ++r)
          total += (NarrowU)(scale[r] * load_narrow(from[r] + k) + narrow_magic);
        __builtin_memcpy(partial + k, &total, sizeof total);
      }
    }
    rows += lanes;
    if (rows == most_rows) flush();
  }

  // Not rounded to single precision first: compilers sometimes omit that rounding.
  PYDPMC_INLINE static double intercept(double factor) noexcept { return factor; }

  void flush() noexcept {
    const uint32_t magic = narrow_magic_bits * static_cast<uint32_t>(rows);
    for (int j = 0; j < columns; ++j) sums[j] += static_cast<int32_t>(partial[j] - magic);
    clear();
  }

 private:
  // A row with factor 0 may hold infinities, and infinity times 0 is no number: one with another factor,
  // whose numbers are finite because its norm is, stands in for it. False if there is none, and nothing to
  // add.
  PYDPMC_INLINE static bool rows_to_add(const Rows<float>& row, const double* factor,
                                        Rows<float>& from) noexcept {
    const float* finite = nullptr;
    for (int r = 0; r < lanes; ++r) finite = factor[r] != 0.0 ? row[r] : finite;
    for (int r = 0; r < lanes; ++r) from[r] = factor[r] != 0.0 ? row[r] : finite;
    return finite != nullptr;
  }

  PYDPMC_INLINE void clear() noexcept {
    for (int j = 0; j < width; ++j) partial[j] = 0;
    rows = 0;
  }
};

// Exact sums of sixteen-bit rows times integers. They are kept for whole groups of sixteen columns; those
// beyond the last column are meaningless.
struct Fixed16Sums {
  int64_t *padded_sums, *sums;
  int columns, width;

  PYDPMC_INLINE Fixed16Sums(float* scratch, int64_t* slope_sums, int count, int padded_count) noexcept
      : padded_sums(reinterpret_cast<int64_t*>(scratch)),
        sums(slope_sums),
        columns(count),
        width(padded_count) {
    for (int j = 0; j < width; ++j) padded_sums[j] = 0;
  }

  // Integers q with |q| |row| at most grid.clip on the grid; half a unit is reserved for the rounding of q.
  PYDPMC_INLINE static F8 factors(F8 first, F8 row2, const GradientGrid& grid) noexcept {
    const double per_factor = grid.per_unit * fixed16_step;
    const F8 reach = max(fill(grid.clip) / square_root(row2) - 0.5 / per_factor, fill(0.0));
    const F8 most = min(reach * per_factor, fill(largest_factor16));
    const F8 clipped = min(max(first * per_factor, fill(0.0) - most), most);
    const F8 whole = (clipped + rounding_magic) - rounding_magic;
    return select(first == first, whole, fill(0.0));
  }

  template <class Fetch>
  PYDPMC_INLINE void add8(const Rows<int16_t>& row, const double* factor, const Fetch& fetch) noexcept {
    int32_t pair[4];
    for (int k = 0; k < 4; ++k)
      pair[k] = factor_pair(static_cast<int32_t>(factor[2 * k]), static_cast<int32_t>(factor[2 * k + 1]));
    for (int j = 0; j < width; j += narrow_lanes) {
      fetch(4, j);
      fetch(6, j);
      products16(row, j, pair, padded_sums + j);
    }
  }

  PYDPMC_INLINE static double intercept(double factor) noexcept { return factor / fixed16_step; }

  void flush() noexcept {
    for (int j = 0; j < columns; ++j) sums[j] += padded_sums[j];
  }
};

PYDPMC_ISA_END

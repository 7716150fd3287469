// Sums of products of the columns of some records, which are turned so that a lane holds a record: every pair
// of columns has a sum in each lane. Integers in doubles never round here (look_grid.hpp).
#pragma once

#include "kernels/curvature/outer_products.hpp"

PYDPMC_ISA_BEGIN

// The registers hold the sums of so many columns times four.
constexpr int lane_columns = native_lanes == 8 ? 4 : 2;

// to[4 i + j] += the products of columns left + i and right + j, i < 4, j < columns; on the diagonal i <= j.
template <int rows, int columns, bool diagonal, int stride>
PYDPMC_INLINE void add_pairs(const double* left, const double* right, int records, double* to) noexcept {
  NativeF total[rows][columns];
  const auto place = [&](int i, int j) PYDPMC_LAMBDA { return to + (4 * i + j) * native_lanes; };
  const auto kept = [](int i, int j) PYDPMC_LAMBDA { return !diagonal || i <= j; };
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j)
      if (kept(i, j)) total[i][j] = load_native(place(i, j));
  for (int r = 0; r < records; r += native_lanes) {
    NativeF other[columns];
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j) other[j] = load_native(right + j * stride + r);
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      const NativeF one = diagonal ? other[i % columns] : load_native(left + i * stride + r);
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j)
        if (kept(i, j)) total[i][j] = multiply_add(one, other[j], total[i][j]);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < columns; ++j)
      if (kept(i, j)) *reinterpret_cast<UnalignedF*>(place(i, j)) = total[i][j];
}

template <int stride>
class LaneProducts {
 public:
  LaneProducts(double* room, int dim, const LookGrid& grid, int64_t* products) noexcept
      : sums_(room), dim_(dim), across_((dim + 3) / 4), wanted_(grid.tiles), products_(products) {
    for (int64_t k = 0; k < int64_t{across_} * across_ * tile_; ++k) sums_[k] = 0.0;
  }

  // Adds the products of q[j * stride + r], r < records.
  void add(const double* q, int records) noexcept {
    if (summed_ + records / native_lanes > look_block) flush();
    summed_ += records / native_lanes;
    for_each_tile([&](int i, int j, double* to) PYDPMC_LAMBDA {
      if (i == j)
        add_diagonal(q + 4 * i * stride, records, dim_ - 4 * i, to);
      else
        add_beside(q + 4 * i * stride, q + 4 * j * stride, records, dim_ - 4 * j, to);
    });
  }

  // Moves the sums to the integers.
  [[gnu::noinline]] void flush() noexcept {
    const int64_t width = static_cast<int64_t>(look_width(dim_));
    for_each_tile([&](int i, int j, double* from) PYDPMC_LAMBDA {
      for (int r = 4 * i; r < 4 * i + 4 && r < dim_; ++r)
        for (int c = i == j ? r : 4 * j; c < 4 * j + 4 && c < dim_; ++c)
          products_[r * width + c] += take(from + (4 * (r - 4 * i) + c - 4 * j) * native_lanes);
    });
    summed_ = 0;
  }

 private:
  static constexpr int64_t tile_ = 16 * native_lanes;

  template <class Use>
  PYDPMC_INLINE void for_each_tile(const Use& use) noexcept {
    const int64_t row = static_cast<int64_t>(look_width(dim_)) / 4;
    for (int i = 0; i < across_; ++i)
      for (int j = i; j < across_; ++j)
        if (!wanted_ || wanted_[i * row + j]) use(i, j, sums_ + (int64_t{i} * across_ + j) * tile_);
  }

  static void add_diagonal(const double* q, int records, int columns, double* to) noexcept {
    switch (columns) {
      case 1:
        return add_pairs<1, 1, true, stride>(q, q, records, to);
      case 2:
        return add_pairs<2, 2, true, stride>(q, q, records, to);
      case 3:
        return add_pairs<3, 3, true, stride>(q, q, records, to);
      default:
        return add_pairs<4, 4, true, stride>(q, q, records, to);
    }
  }

  static void add_beside(const double* left, const double* right, int records, int columns,
                         double* to) noexcept {
    int j = 0;
    const int most = columns < 4 ? columns : 4;
    for (; j + lane_columns <= most; j += lane_columns)
      add_pairs<4, lane_columns, false, stride>(left, right + j * stride, records, to + j * native_lanes);
    for (; j < most; ++j)
      add_pairs<4, 1, false, stride>(left, right + j * stride, records, to + j * native_lanes);
  }

  // The sum over lanes, which becomes zero.
  static int64_t take(double* from) noexcept {
    uint64_t total = 0;
    const NativeU magic = (NativeU)(every<NativeF>(rounding_magic));
    UnalignedF* sum = reinterpret_cast<UnalignedF*>(from);
    const NativeU whole = (NativeU)(*sum + rounding_magic) - magic;
    for (int lane = 0; lane < native_lanes; ++lane) total += whole[lane];
    *sum = UnalignedF{};
    return static_cast<int64_t>(total);
  }

  double* sums_;
  int dim_, across_;
  const uint8_t* wanted_;
  int64_t* products_;
  int summed_ = 0;  // numbers in a lane
};

PYDPMC_ISA_END

// Clipped gradients of consecutive records by blocks, bit for bit equal to kernels/gradient/record.hpp.
#pragma once

#include "kernels/block.hpp"
#include "kernels/gradient/record.hpp"
#include "kernels/odds.hpp"

PYDPMC_ISA_BEGIN

// What takes the gradients of a block to the grid: the factor of each row, and of a last coordinate.
struct BlockFactors {
  alignas(64) double row2[most_block_records];
  alignas(64) double first[most_block_records], second[most_block_records];
};

// sums[0 ..] += nearest(factor[r] * row[r][j ..]) over the rows of a block.
template <int width, int vectors, class Scalar>
PYDPMC_INLINE void add_strip(const Block<Scalar>& block, const double* factor, int j,
                             int64_t* sums) noexcept {
  using F = typename Wide<width>::F;
  using U = typename Wide<width>::U;
  U total[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) total[v] = unaligned<U>(sums + v * width);
  const Scalar* row = block.first + j;
  for (int r = 0; r < block.count; ++r, row += block.stride) {
    const F scale = every<F>(factor[r]);
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) total[v] += (U)(scale * widen<width>(row + v * width) + rounding_magic);
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; ++v) __builtin_memcpy(sums + v * width, &total[v], sizeof total[v]);
}

// Rows of four or more columns are padded to a multiple of four, so that the last strip may be read whole.
template <class Scalar>
PYDPMC_INLINE void add_block(const Block<Scalar>& block, const double* factor, int64_t* sums) noexcept {
  constexpr int narrow = native_lanes < 4 ? native_lanes : 4, wide = native_lanes;
  const int columns = block.columns;
  int j = 0;
  if (columns < 4) {
    for (; j < columns; ++j)
      for (int r = 0; r < block.count; ++r)
        add_scalar(sums + j, factor[r] * static_cast<double>(block.row(r)[j]));
    return;
  }
  for (; j + 4 * wide <= columns; j += 4 * wide) add_strip<wide, 4>(block, factor, j, sums + j);
  for (; j + 2 * wide <= columns; j += 2 * wide) add_strip<wide, 2>(block, factor, j, sums + j);
  for (; j + wide <= columns; j += wide) add_strip<wide, 1>(block, factor, j, sums + j);
  for (; j < columns; j += narrow) {
    int64_t last[narrow] = {};
    add_strip<narrow, 1>(block, factor, j, last);
    for (int k = 0; k < narrow && j + k < columns; ++k)
      sums[j + k] = static_cast<int64_t>(static_cast<uint64_t>(sums[j + k]) + static_cast<uint64_t>(last[k]));
  }
}

// |x|^2 of the records of a block, which begins at record i, with the intercept's 1.
template <class Model, class Scalar>
PYDPMC_INLINE void square_block(const Block<Scalar>& block, const GradientShape<Model>& shape,
                                const RowSquares& squares, int64_t i, double* row2) noexcept {
  if (Model::has_slopes && squares && squares.stride == 1 && !shape.centre && block.count % lanes == 0) {
    for (int r = 0; r < block.count; r += lanes) store(row2 + r, load(squares.of(i + r)) + shape.shift);
    return;
  }
  for (int r = 0; r < block.count; r += lanes) {
    Rows<Scalar> row;
    int64_t id[lanes];
    block.eight(r, row);
    for (int k = 0; k < lanes; ++k) id[k] = i + r + (r + k < block.count ? k : 0);
    store(row2 + r, shape.row_squares(row, id, squares));
  }
}

// Bit r of the result is set if the gradient of row r counts.
template <class Model, class Scalar>
PYDPMC_INLINE uint64_t block_factors(const Block<Scalar>& block, const Prepared& p, bool has_second,
                                     const GradientGrid& grid, BlockFactors& to) noexcept {
  uint64_t trusted = 0;
  const Odds<Model> odds(block.eta, block.count);
  for (int r = 0; r < block.count; r += lanes) {
    const Score score = odds.score(load(block.eta + r), load(block.y + r), r, p);
    const F8 second2 = has_second ? score.second * score.second : fill(0.0);
    const F8 scale = clipped_scale(load(to.row2 + r), score.first * score.first, second2, grid);
    store(to.first + r, score.first * scale);
    if (has_second) store(to.second + r, score.second * scale);
    trusted |= uint64_t{bits_of(fill(0.0) <= scale)} << r;
  }
  return trusted & ~uint64_t{0} >> (64 - block.count);
}

// *sum += the bits of nearest(value[r]), those of the rounding constant included.
PYDPMC_INLINE void add_values(int64_t* sum, const double* value, int count) noexcept {
  NativeU total{};
  int r = 0;
  for (; r + native_lanes <= count; r += native_lanes)
    total += (NativeU)(load_native(value + r) + rounding_magic);
  for (; r < count; ++r) add_scalar(sum, value[r]);
  for (int lane = 0; lane < native_lanes; ++lane)
    *sum = static_cast<int64_t>(static_cast<uint64_t>(*sum) + total[lane]);
}

// Adds the gradients of all rows of a block.
template <class Model, class Scalar>
PYDPMC_INLINE void add_rows_of(const Block<Scalar>& block, const GradientShape<Model>& shape,
                               BlockFactors& factors, int64_t* sums) noexcept {
  if (shape.shift || !Model::has_slopes) add_values(sums, factors.first, block.count);
  if (shape.extra) add_values(sums + shape.dim - 1, factors.second, block.count);
  if constexpr (Model::has_slopes) {
    if constexpr (unit_of<Scalar> != 1.0)
      for (int r = 0; r < block.count; ++r) factors.first[r] *= unit_of<Scalar>;
    if (shape.centre)
      for (int r = 0; r < block.count; ++r)
        add_row(sums + shape.shift, block.row(r), shape.centre, factors.first[r], block.columns);
    else
      add_block(block, factors.first, sums + shape.shift);
  }
}

// Adds the clipped gradients of records begin .. begin+count-1; returns how many had a finite norm and were
// added.
template <class Model, class Scalar>
[[gnu::noinline]] int64_t add_block_gradients(const ModelSpec& spec, const Table<Scalar>& table,
                                              const RowSquares& squares, const Prepared& p, int64_t begin,
                                              int64_t count, const GradientGrid& grid,
                                              int64_t* sums) noexcept {
  const GradientShape<Model> shape(spec, p);
  Block<Scalar> block(table);
  BlockFactors factors;
  int64_t total = 0;
  for (int64_t i = begin; i < begin + count; i += block.most) {
    block.move_to(table, i, begin + count);
    predict_block<Model>(table, p, block);
    square_block(block, shape, squares, i, factors.row2);
    const uint64_t trusted = block_factors<Model>(block, p, !Model::has_slopes || shape.extra, grid, factors);
    const int added = __builtin_popcountll(trusted);
    total += added;
    if (added == block.count) {
      add_rows_of(block, shape, factors, sums);
    } else {
      for (int r = 0; r < block.count; ++r)
        if (trusted >> r & 1) shape.add1(sums, block.row(r), factors.first[r], factors.second[r]);
    }
  }
  return total;
}

PYDPMC_ISA_END

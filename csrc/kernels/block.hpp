// A block: some dozens of consecutive records that stay in the first-level cache while a pass computes first
// all predictors, then what follows from each, then sums over the rows. Groups of eight records do not wait
// for one another, and nothing wide is loaded soon after it was stored in parts. Every sum over columns has
// the order of kernels/predictor.hpp, so that a record's value is the same as elsewhere, bit for bit.
#pragma once

#include <algorithm>

#include "kernels/predictor.hpp"

PYDPMC_ISA_BEGIN

constexpr int most_block_records = 64;
constexpr int64_t block_bytes = 1 << 15;

// Longer rows are as fast by themselves.
constexpr int64_t longest_block_row = 512;  // bytes

template <class Scalar>
PYDPMC_INLINE bool makes_blocks(const Table<Scalar>& table) noexcept {
  return table.stride * static_cast<int64_t>(sizeof(Scalar)) <= longest_block_row;
}

template <class Scalar>
struct Block {
  const Scalar* first;
  int64_t stride;
  int columns, count, most;  // records here; records of a full block
  alignas(64) double eta[most_block_records], y[most_block_records];

  explicit Block(const Table<Scalar>& table) noexcept
      : first(table.first), stride(table.stride), columns(table.columns), count(0) {
    const int64_t fitting = block_bytes / (stride * static_cast<int64_t>(sizeof(Scalar))) / lanes * lanes;
    most = static_cast<int>(std::clamp<int64_t>(fitting, lanes, most_block_records));
  }

  PYDPMC_INLINE const Scalar* row(int r) const noexcept { return first + r * stride; }

  // Rows from r on; the lanes beyond the end repeat row r, and what they give is never used.
  PYDPMC_INLINE void eight(int r, Rows<Scalar>& rows) const noexcept {
    const int here = rest_of(r, count);
    for (int k = 0; k < lanes; ++k) rows[k] = row(r + (k < here ? k : 0));
  }

  // Moves on to records i .. end-1, or as many as fit.
  PYDPMC_INLINE void move_to(const Table<Scalar>& table, int64_t i, int64_t end) noexcept {
    first = table.row(i);
    count = static_cast<int>(std::min<int64_t>(end - i, most));
  }
};

// Writes predictors and targets. Targets are copied one by one, as they are loaded long after.
template <class Model, class Scalar>
PYDPMC_INLINE void predict_block(const Table<Scalar>& table, const Prepared& p,
                                 Block<Scalar>& block) noexcept {
  const int64_t ahead = block.most * block.stride * static_cast<int64_t>(sizeof(Scalar));
  for (int r = 0; r < block.count; r += lanes) {
    Rows<Scalar> row;
    block.eight(r, row);
    fetch_ahead(table, row[0], ahead);
    store(block.eta + r, predict<Model>(row, block.columns, p));
    if constexpr (Model::has_target)
      for (int k = 0; k < lanes; ++k) block.y[r + k] = target_of(row[k], block.columns);
  }
}

PYDPMC_ISA_END

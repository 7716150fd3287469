// The rows of a batch in groups of eight, prefetched two groups ahead, so that memory is read while earlier
// rows are processed. Rows beyond the end of the batch belong to the next batch, if it is known; the caller
// must drop them.
#pragma once

#include <type_traits>

#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

// No software prefetch for rows of 2 kB or more: the hardware prefetcher is faster. Sixteen-bit rows are an
// exception, because they take more arithmetic per byte.
constexpr size_t long_row = 2048;  // bytes

// Prefetches into the second-level cache: find() the ends of the rows, where the targets are, and their
// squared norms; operator() the rest.
template <class Scalar>
struct EightRows {
  Rows<Scalar> row;
  int64_t id[lanes];
  bool comes_by_itself;

  PYDPMC_INLINE void find(const Table<Scalar>& table, const RowSquares& squares, const Batch& batch,
                          int64_t i) noexcept {
    comes_by_itself =
        std::is_floating_point_v<Scalar> && static_cast<size_t>(table.columns) * sizeof(Scalar) >= long_row;
    if (batch.index && i + lanes <= batch.count)
      for (int k = 0; k < lanes; ++k) id[k] = batch.index[i + k];
    else
      for (int k = 0; k < lanes; ++k) id[k] = batch.at_or_after(i + k);
    for (int k = 0; k < lanes; ++k) {
      row[k] = table.row(id[k]);
      __builtin_prefetch(row[k] + table.columns, 0, 2);
      if (squares) __builtin_prefetch(squares.of(id[k]), 0, 2);
    }
  }

  // Prefetches a cache line of each of two rows, at column j.
  PYDPMC_INLINE void operator()(int r, int j) const noexcept {
    constexpr int line = 64 / static_cast<int>(sizeof(Scalar));
    if (j % line) return;
    __builtin_prefetch(row[r] + j, 0, 2);
    __builtin_prefetch(row[r + 1] + j, 0, 2);
  }
};

template <class Scalar>
class RowQueue {
 public:
  PYDPMC_INLINE RowQueue(const Table<Scalar>& table, const RowSquares& squares, const Batch& batch) noexcept
      : table_(table), squares_(squares), batch_(batch) {
    for (int k = 0; k < 2 && batch.count > 0; ++k) eight_[k].find(table, squares, batch, k * lanes);
  }

  PYDPMC_INLINE const EightRows<Scalar>& now() const noexcept { return eight_[now_]; }

  // The rows to prefetch now; for long rows, which are not prefetched, the current ones.
  PYDPMC_INLINE const EightRows<Scalar>& ahead() const noexcept {
    return eight_[eight_[now_].comes_by_itself ? now_ : last()];
  }

  // Moves on to the rows from i on.
  PYDPMC_INLINE void advance(int64_t i) noexcept {
    if (i > 0) now_ = now_ == 2 ? 0 : now_ + 1;
    eight_[last()].find(table_, squares_, batch_, i + 2 * lanes);
  }

 private:
  PYDPMC_INLINE int last() const noexcept { return now_ == 0 ? 2 : now_ - 1; }

  const Table<Scalar>& table_;
  const RowSquares& squares_;
  const Batch& batch_;
  EightRows<Scalar> eight_[3];
  int now_ = 0;
};

PYDPMC_ISA_END

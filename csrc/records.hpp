// The private rows as the kernels see them, and which of them a sum visits (concepts.hpp defines the
// terms).
#pragma once

#include <cstdint>

namespace pydpmc {

// fixed16: features are integers in units of fixed16_step; the target is a float, stored in the two numbers
// after them.
enum class Storage : int { float64, float32, fixed16 };
constexpr double fixed16_step = 0x1p-14;  // a power of two, so multiplication by it is exact

// |x|^2 of every row, if available: in a separate array or within the rows.
struct RowSquares {
  const double* first = nullptr;
  int64_t stride = 1;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
  [[gnu::always_inline]] const double* of(int64_t row) const noexcept { return first + row * stride; }
};

// How often each row counts: 1 if there are no weights, and x 1 is exact.
struct RowWeights {
  const double* first = nullptr;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
  [[gnu::always_inline]] double of(int64_t row) const noexcept { return first ? first[row] : 1.0; }
};

// A second, shorter copy of the rows. One-hot blocks of columns are stored as codes: a code is the column
// that holds the row's one value, or `columns` if there is none. Other columns are stored as numbers. Only
// for single records with a target. kernels/gradient/coded_gradient.hpp describes the layout of a row.
struct CodedRows {
  const double* first = nullptr;
  int stride = 0;  // doubles from row to row
  int numbers = 0, codes = 0;
  int padded = 0;  // numbers, rounded up to a multiple of four
  const int32_t* number_columns = nullptr;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
  [[gnu::always_inline]] const double* row(int64_t i) const noexcept { return first + i * stride; }
};

// A copy of the rows in doubles, by tiles: some dozens of consecutive records each, turned so that a column
// is contiguous (kernels/tile.hpp describes one), for passes over all records. Only for single records with a
// target.
struct Tiles {
  const double* first = nullptr;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
};

struct Records {
  const void* rows;
  Storage storage;
  int64_t n;
  int columns;      // features, the target not counted
  int stride;       // numbers from row to row
  bool has_target;  // the target, if any, is at index `columns`

  // The unit is a group, rows group_start[g] to group_start[g + 1] - 1, or a single row if this is null.
  const int64_t* group_start = nullptr;
  int64_t groups = 0;
  RowSquares squares{};
  CodedRows coded{};
  Tiles tiles{};
  RowWeights weights{};  // a row's terms are multiplied by its weight: gradients and looks alone

  [[gnu::always_inline]] int64_t units() const noexcept { return group_start ? groups : n; }
  [[gnu::always_inline]] int64_t first_row(int64_t unit) const noexcept {
    return group_start ? group_start[unit] : unit;
  }
};

// The units that a sum visits: those listed in `index`, or first .. first+count-1
// if there is none. The units of the next step, if they are known, may be
// prefetched.
struct Batch {
  const uint32_t* index;
  int64_t count;
  int64_t first = 0;
  const uint32_t* next = nullptr;
  int64_t next_count = 0;

  [[gnu::always_inline]] int64_t at(int64_t i) const noexcept { return index ? index[i] : first + i; }
  [[gnu::always_inline]] int64_t at_or_after(int64_t i) const noexcept {
    return i < count ? at(i) : i - count < next_count ? next[i - count] : at(count - 1);
  }
};

}  // namespace pydpmc

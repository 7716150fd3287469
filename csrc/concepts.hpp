// READ FIRST. The vocabulary of the core.
//
// Records    the private rows, each [x_0 .. x_{d-1}, y], stored once by pydpmc.Data and never copied.
//            Arithmetic is in double precision, whatever they are stored in, but for the sums of
//            kernels/gradient/narrow_gradient.hpp. What is sampled, clipped and protected is a unit: a
//            record, or a group of them if there are groups.
// ModelSpec  which likelihood, and its public constants. theta = ([intercept,] slopes [, log sigma]);
//            with a predictor per class (softmax): ([intercepts by class,] slopes class by class).
// Model      (csrc/models) prepare(spec, theta): what a record needs of theta;
//            loglik(predictor, target, prepared): eight records at a time, up to terms free of theta.
// Grid       the public integer grid on which a record's clipped contribution is rounded.
// Sampler    (csrc/samplers) parameters, State, init, step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pydpmc {

// fixed16: features are whole numbers of fixed16_step, the target is a float in
// the two numbers after them.
enum class Storage : int { float64, float32, fixed16 };
constexpr double fixed16_step = 0x1p-14;  // a power of two, so that to multiply by it is exact

// |x|^2 of every row, if they are at hand: in an array of their own, or within the rows.
struct RowSquares {
  const double* first = nullptr;
  int64_t stride = 1;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
  [[gnu::always_inline]] const double* of(int64_t row) const noexcept { return first + row * stride; }
};

// Rows once more, short: the blocks of columns that are one-hot as codes, a code being the column that has
// the row's one value, or `columns` of the records if none has it; their other columns as numbers. Of single
// records with a target, if they are at hand. kernels/gradient/coded_gradient.hpp says what a row holds.
struct CodedRows {
  const double* first = nullptr;
  int stride = 0;  // doubles from row to row
  int numbers = 0, codes = 0;
  int padded = 0;  // numbers, to a multiple of four
  const int32_t* number_columns = nullptr;

  [[gnu::always_inline]] explicit operator bool() const noexcept { return first != nullptr; }
  [[gnu::always_inline]] const double* row(int64_t i) const noexcept { return first + i * stride; }
};

struct Records {
  const void* rows;
  Storage storage;
  int64_t n;
  int columns;      // features, the target not counted
  int stride;       // numbers from row to row
  bool has_target;  // the target, if any, is at index `columns`

  // The unit of privacy is a group of rows, from group_start[g] to group_start[g + 1] - 1, or a row if null.
  const int64_t* group_start = nullptr;
  int64_t groups = 0;
  RowSquares squares{};
  CodedRows coded{};

  [[gnu::always_inline]] int64_t units() const noexcept { return group_start ? groups : n; }
  [[gnu::always_inline]] int64_t first_row(int64_t unit) const noexcept {
    return group_start ? group_start[unit] : unit;
  }
};

// The units that a sum visits: those named by `index`, or first ..
// first+count-1 without one. Those of the next step, if known, may be fetched
// early.
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

enum class ModelKind : int {
  logistic_regression,
  linear_regression,
  bernoulli_logit,
  gaussian_mean,
  gaussian_mixture,
  poisson_regression,
  hinge_classifier,
  huber_regression,
  softmax_regression,
};

struct ModelSpec {
  ModelKind kind;
  int columns;
  bool intercept;
  double constants[2];
  int dim;             // length of theta
  int predictors = 1;  // linear predictors of a record: the classes of a softmax
};

// Doubles that the kernels keep of one theta: slopes padded to a multiple of eight; with several predictors
// also an offset each and their values for eight records.
[[gnu::always_inline]] inline size_t prepared_size(const ModelSpec& spec) noexcept {
  const size_t slopes = static_cast<size_t>((spec.columns + 7) / 8 * 8);
  const size_t predictors = static_cast<size_t>(spec.predictors);
  return predictors == 1 ? slopes : predictors * (slopes + 9);
}

struct Grid {
  double clip;      // B: a ratio lies in [-B, B]
  double per_unit;  // 2^bits / B: integers per unit of log-likelihood
};

// Where a record's log-likelihood is clamped; infinite ends clamp nothing.
struct LoglikRange {
  double low, high;
};

struct GradientGrid {
  double clip;      // a record's gradient is scaled down to this norm before rounding
  double per_unit;  // integers per unit of gradient
};

// What the accept test needs of the records. `clipped` is secret: it leaves only through unsafe diagnostics.
struct RatioSum {
  int64_t sum = 0;
  int64_t sum_squares = 0;
  int64_t clipped = 0;

  RatioSum& operator+=(const RatioSum& o) noexcept {
    sum += o.sum;
    sum_squares += o.sum_squares;
    clipped += o.clipped;
    return *this;
  }
};

}  // namespace pydpmc

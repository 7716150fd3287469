// Clipped gradients of single records with one-hot blocks of columns. A block is stored as a code, whose
// coefficient is looked up instead of multiplying all columns. A record adds the same integers as in
// kernels/gradient/record.hpp, except that its predictor is summed in another order. Spare lanes and records
// that are not finite count with factor zero.
#pragma once

#include "kernels/gradient/record.hpp"

PYDPMC_ISA_BEGIN

// A coded row holds numbers, padded to four; the target; |x|^2; the value of its ones; codes, four a word.
struct CodedRow {
  const double* numbers;
  int padded;

  PYDPMC_INLINE double target() const noexcept { return numbers[padded]; }
  PYDPMC_INLINE double square() const noexcept { return numbers[padded + 1]; }
  PYDPMC_INLINE double one() const noexcept { return numbers[padded + 2]; }

  // Calls call(four codes) for each group of four codes.
  template <class Call>
  PYDPMC_INLINE void by_fours(int codes, const Call& call) const noexcept {
    for (const double* from = numbers + padded + 3; codes > 0; codes -= 4, ++from) {
      uint64_t word;
      std::memcpy(&word, from, sizeof word);
      call(word & 0xffff, word >> 16 & 0xffff, word >> 32 & 0xffff, word >> 48);
    }
  }
};

// Slopes and sums indexed by number and by code. The last code stands for no column.
class CodedSums {
 public:
  CodedSums(const CodedRows& rows, const double* slopes, int columns, double* scratch) noexcept
      : rows_(rows), columns_(columns), numbers_(scratch), by_code_(scratch + padded(rows.numbers)) {
    for (int j = 0; j < padded(rows.numbers); ++j)
      numbers_[j] = j < rows.numbers ? slopes[rows.number_columns[j]] : 0.0;
    for (int j = 0; j <= columns; ++j) by_code_[j] = j < columns ? slopes[j] : 0.0;
    number_sums_ = reinterpret_cast<int64_t*>(by_code_ + columns + 1);
    code_sums_ = reinterpret_cast<uint64_t*>(number_sums_ + padded(rows.numbers));
    for (int j = 0; j < padded(rows.numbers) + columns + 1; ++j) number_sums_[j] = 0;
  }

  PYDPMC_INLINE F8 predictors(const Rows<double>& row) const noexcept {
    return dot8(row, numbers_, rows_.numbers, fetch_nothing) +
           gather([&](int k) PYDPMC_LAMBDA { return of_codes({row[k], rows_.padded}); });
  }

  // Adds scale[k] times row k for all eight rows.
  PYDPMC_INLINE void add(const Rows<double>& row, const F8& scale) noexcept {
    double per_row[lanes];
    store(per_row, scale);
    add_rows(number_sums_, row, nullptr, per_row, rows_.numbers, fetch_nothing);
    const auto one = [&](int k) PYDPMC_LAMBDA { return CodedRow{row[k], rows_.padded}.one(); };
    uint64_t whole[lanes];
    const I8 nearest = nearest_integer(scale * gather(one));
    std::memcpy(whole, nearest.p, sizeof whole);
    for (int k = 0; k < lanes; ++k) {
      CodedRow{row[k], rows_.padded}.by_fours(
          rows_.codes, [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) PYDPMC_LAMBDA {
            code_sums_[a] += whole[k];
            code_sums_[b] += whole[k];
            code_sums_[c] += whole[k];
            code_sums_[d] += whole[k];
          });
    }
    added_ += lanes;
  }

  void move_to(int64_t* sums) noexcept {
    remove_magic(number_sums_, rows_.numbers, added_);
    for (int j = 0; j < columns_; ++j) sums[j] += static_cast<int64_t>(code_sums_[j]);
    for (int j = 0; j < rows_.numbers; ++j) sums[rows_.number_columns[j]] += number_sums_[j];
  }

 private:
  PYDPMC_INLINE double of_codes(CodedRow row) const noexcept {
    double first = 0.0, second = 0.0;
    row.by_fours(rows_.codes, [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) PYDPMC_LAMBDA {
      first += by_code_[a] + by_code_[b];
      second += by_code_[c] + by_code_[d];
    });
    return (first + second) * row.one();
  }

  const CodedRows rows_;
  int columns_;
  double *numbers_, *by_code_;
  int64_t* number_sums_;
  uint64_t* code_sums_;  // the sum of the last code, which is never read, may wrap
  int64_t added_ = 0;
};

// Adds the clipped gradients of the records of a batch to sums[0 .. dim-1].
template <class Model>
[[gnu::noinline]] void add_coded(const ModelSpec& spec, const CodedRows& rows, const Prepared& p,
                                 double* scratch, const Batch& batch, const GradientGrid& grid,
                                 int64_t* sums) noexcept {
  constexpr int ahead = 3 * lanes;
  const int shift = spec.intercept ? 1 : 0;
  const bool extra = spec.dim > spec.columns + shift;
  CodedSums slopes(rows, p.slopes, spec.columns, scratch);
  I8 ones = zero_i8(), seconds = zero_i8();
  for (int64_t i = 0; i < batch.count; i += lanes) {
    const int here = rest_of(i, batch.count);
    Rows<double> row;
    for (int k = 0; k < lanes; ++k) {
      row[k] = rows.row(batch.at(k < here ? i + k : i));
      const double* later = rows.row(batch.at_or_after(i + ahead + k));
      for (int j = 0; j < rows.stride; j += 8) __builtin_prefetch(later + j, 0, 2);
    }
    const auto coded = [&](int k) PYDPMC_LAMBDA { return CodedRow{row[k], rows.padded}; };
    const F8 target = gather([&](int k) PYDPMC_LAMBDA { return coded(k).target(); });
    const F8 row2 = gather([&](int k) PYDPMC_LAMBDA { return coded(k).square(); }) + shift;
    const Score score = Model::score(slopes.predictors(row) + p.offset, target, p);
    const F8 second2 = extra ? score.second * score.second : fill(0.0);
    const F8 scale = clipped_scale(row2, score.first * score.first, second2, grid);
    const auto counted = [&](F8 factor) PYDPMC_LAMBDA {
      return only_first(here, select(fill(0.0) <= scale, factor * scale, fill(0.0)));
    };
    const F8 first = counted(score.first);
    slopes.add(row, first);
    ones = ones + nearest_integer(first);
    if (extra) seconds = seconds + nearest_integer(counted(score.second));
  }
  slopes.move_to(sums + shift);
  if (shift) sums[0] += sum(ones);
  if (extra) sums[spec.dim - 1] += sum(seconds);
}

PYDPMC_ISA_END

// Clipped gradients of records with one-hot blocks of columns at the thetas of several chains, bit for bit
// equal to kernels/gradient/coded_gradient.hpp at each. Where a code is looked up or added to, the lanes are
// chains, so that one load serves eight; between predictor and factor they are records, as everywhere.
#pragma once

#include "kernels/gradient/coded_gradient.hpp"
#include "kernels/gradient/tile_gradient.hpp"

PYDPMC_ISA_BEGIN

constexpr int coded_block = 64;  // records

// Slopes and sums by number and by code, `width` chains side by side; chains beyond the last are zero.
class CodedChains {
 public:
  CodedChains(const CodedRows& rows, int columns, int width, double* scratch) noexcept
      : rows_(rows), columns_(columns), width_(width), numbers_(scratch) {
    by_code_ = numbers_ + rows.numbers * width;
    number_sums_ = reinterpret_cast<uint64_t*>(by_code_ + (columns + 1) * width);
    code_sums_ = number_sums_ + rows.numbers * width;
    for (int j = 0; j < 2 * (rows.numbers + columns + 1) * width; ++j) scratch[j] = 0.0;
  }

  void set_slopes(int chain, const double* slopes) noexcept {
    for (int j = 0; j < rows_.numbers; ++j) numbers_[j * width_ + chain] = slopes[rows_.number_columns[j]];
    for (int j = 0; j < columns_; ++j) by_code_[j * width_ + chain] = slopes[j];
  }

  // Without the offset: eta[chain] of one record.
  PYDPMC_INLINE void predict(CodedRow row, double* eta) const noexcept {
    for (int v = 0; v < width_; v += lanes) {
      F8 first = fill(0.0), second = fill(0.0);
      row.by_fours(rows_.codes, [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) PYDPMC_LAMBDA {
        first = first + (slope(a, v) + slope(b, v));
        second = second + (slope(c, v) + slope(d, v));
      });
      store(eta + v, of_numbers(row.numbers, v) + (first + second) * row.one());
    }
  }

  // Adds factor[chain] times one record.
  PYDPMC_INLINE void add(CodedRow row, const double* factor) noexcept {
    for (int v = 0; v < width_; v += lanes) {
      const F8 scale = load(factor + v);
      for (int j = 0; j < rows_.numbers; ++j)
        add_bits(number_sums_ + j * width_ + v, scale * row.numbers[j] + rounding_magic);
      const I8 whole = nearest_integer(scale * row.one());
      row.by_fours(rows_.codes, [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) PYDPMC_LAMBDA {
        for (const uint64_t code : {a, b, c, d})
          add_whole(code_sums_ + static_cast<int>(code) * width_ + v, whole);
      });
    }
  }

  void move_to(int chain, int64_t records, int64_t* sums) const noexcept {
    for (int j = 0; j < rows_.numbers; ++j) {
      int64_t one = static_cast<int64_t>(number_sums_[j * width_ + chain]);
      remove_magic(&one, 1, records);
      sums[rows_.number_columns[j]] += one;
    }
    for (int j = 0; j < columns_; ++j) sums[j] += static_cast<int64_t>(code_sums_[j * width_ + chain]);
  }

 private:
  PYDPMC_INLINE F8 slope(uint64_t code, int v) const noexcept {
    return load(by_code_ + static_cast<int>(code) * width_ + v);
  }

  // In the order of kernels/dots.hpp.
  PYDPMC_INLINE F8 of_numbers(const double* x, int v) const noexcept {
    const auto sum_from = [&](int k, int step) PYDPMC_LAMBDA {
      F8 total = k < rows_.numbers ? load(numbers_ + k * width_ + v) * x[k] : fill(0.0);
      for (int j = k + step; j < rows_.numbers; j += step)
        total = total + load(numbers_ + j * width_ + v) * x[j];
      return total;
    };
    if (rows_.numbers < 4) return sum_from(0, 1);
    const auto four = [&](int k) PYDPMC_LAMBDA {
      return (sum_from(k, lanes) + sum_from(k + 4, lanes)) +
             (sum_from(k + 2, lanes) + sum_from(k + 6, lanes));
    };
    return four(0) + four(1);
  }

  PYDPMC_INLINE static void add_bits(uint64_t* to, F8 value) noexcept {
    for (int k = 0; k < parts; ++k) {
      UnalignedU* part = reinterpret_cast<UnalignedU*>(to + k * native_lanes);
      *part = *part + (NativeU)value.p[k];
    }
  }

  PYDPMC_INLINE static void add_whole(uint64_t* to, const I8& whole) noexcept {
    for (int k = 0; k < parts; ++k) {
      UnalignedU* part = reinterpret_cast<UnalignedU*>(to + k * native_lanes);
      *part = *part + (NativeU)whole.p[k];
    }
  }

  const CodedRows rows_;
  int columns_, width_;
  double *numbers_, *by_code_;
  uint64_t *number_sums_, *code_sums_;
};

// The clipped factors of `count` records for one chain, which is column `chain` of eta and of factor.
template <class Model>
PYDPMC_INLINE void coded_factors(const double* eta, const double* y, const double* row2, int count, int width,
                                 bool extra, const GradientGrid& grid, ChainSums& chain,
                                 double* factor) noexcept {
  for (int r = 0; r < count; r += lanes) {
    const F8 predictor = gather([&](int k) PYDPMC_LAMBDA { return eta[(r + k) * width]; }) + chain.p.offset;
    const Score score = Model::score(predictor, load(y + r), chain.p);
    const F8 second2 = extra ? score.second * score.second : fill(0.0);
    const F8 scale = clipped_scale(load(row2 + r), score.first * score.first, second2, grid);
    const auto counted = [&](F8 value) PYDPMC_LAMBDA {
      return only_first(count - r, select(fill(0.0) <= scale, value * scale, fill(0.0)));
    };
    double first[lanes];
    store(first, counted(score.first));
    for (int k = 0; k < lanes; ++k) factor[(r + k) * width] = first[k];
    chain.firsts = chain.firsts + nearest_integer(load(first));
    if (extra) chain.seconds = chain.seconds + nearest_integer(counted(score.second));
  }
}

// Adds the clipped gradients of records begin .. end-1 at every theta to `coded` and to the chains.
template <class Model>
[[gnu::noinline]] void add_coded_chains(const ModelSpec& spec, const CodedRows& rows, int64_t begin,
                                        int64_t end, const GradientGrid& grid, int width, CodedChains& coded,
                                        ChainSums* chain, int chains) noexcept {
  const int shift = spec.intercept ? 1 : 0;
  const bool extra = spec.dim > spec.columns + shift;
  alignas(64) double eta[coded_block * most_chains_at_once], factor[coded_block * most_chains_at_once];
  alignas(64) double y[coded_block], row2[coded_block];
  for (int j = 0; j < coded_block * width; ++j) eta[j] = factor[j] = 0.0;
  for (int r = 0; r < coded_block; ++r) y[r] = row2[r] = 0.0;
  for (int64_t i = begin; i < end; i += coded_block) {
    const int here = static_cast<int>(end - i < coded_block ? end - i : coded_block);
    const auto row = [&](int r) PYDPMC_LAMBDA { return CodedRow{rows.row(i + r), rows.padded}; };
    for (int r = 0; r < here; ++r) {
      y[r] = row(r).target(), row2[r] = row(r).square() + shift;
      coded.predict(row(r), eta + r * width);
    }
    for (int c = 0; c < chains; ++c)
      coded_factors<Model>(eta + c, y, row2, here, width, extra, grid, chain[c], factor + c);
    for (int r = 0; r < here; ++r) coded.add(row(r), factor + r * width);
  }
}

PYDPMC_ISA_END

// A block of records on its way to a user's function. Every call has the same shape: a shorter block is
// padded with zeros. A void record is zeros too, and what the function says of it is dropped. If a call
// fails, each record is tried again by itself, at its place among zeros, so that no record decides about
// another.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "kernels/own/user_model.hpp"
#include "kernels/rows.hpp"

PYDPMC_ISA_BEGIN

template <class Scalar>
class RecordBlock {
 public:
  RecordBlock(const ModelSpec& spec, const Records& records, const Table<Scalar>& table,
              double* scratch) noexcept
      : model_(static_cast<const UserModel&>(*spec.own)),
        table_(table),
        columns_(table.columns),
        dim_(spec.dim),
        has_target_(records.has_target),
        in_place_(std::is_same_v<Scalar, double> && model_.block == 1),
        at_(model_.block, columns_, dim_, UserModel::width(dim_, model_.roots != nullptr)),
        features_(scratch),
        targets_(scratch + at_.targets),
        theta_(scratch + at_.theta),
        void_(scratch + at_.voids),
        out_(scratch + at_.out) {
    if (!in_place_) std::fill(features_, theta_, 0.0);
  }

  int64_t room() const noexcept { return model_.block; }
  int64_t count() const noexcept { return count_; }

  // Numbers that no call touches: two for each record of the block, and dim.
  double* first() const noexcept { return features_ + at_.first; }
  double* second() const noexcept { return features_ + at_.second; }
  double* group() const noexcept { return features_ + at_.group; }

  // Takes the rows with numbers row_of(0) .. row_of(count-1), at most room() of them, and prefetches the rows
  // after them.
  template <class RowOf>
  PYDPMC_INLINE void load(const RowOf& row_of, int64_t count) noexcept {
    count_ = count;
    for (int64_t k = 0; k < count; ++k) {
      fetch(table_.row(row_of(k + ahead)));
      take(table_.row(row_of(k)), k);
    }
    for (int64_t k = count; k < filled_; ++k) clear(k);
    filled_ = count;
  }

  // out[k] is the log-likelihood of record k; NaN if it is void or was not computed.
  void logliks(const double* theta, double* out) noexcept {
    if (count_ == 1 && void_[0] != 0.0)
      out[0] = not_a_number;
    else if (call(model_.loglik, theta, out_, model_.loglik_user))
      for (int64_t k = 0; k < count_; ++k) out[k] = void_[k] != 0.0 ? not_a_number : out_[k];
    else
      each_alone(model_.loglik, theta, model_.loglik_user,
                 [&](int64_t k, bool made) { out[k] = made ? out_[k] : not_a_number; });
  }

  // Calls use(k, gradient) for each record that is not void and whose gradient was computed; `use` may write
  // to it.
  template <class Use>
  PYDPMC_INLINE void gradients(const double* theta, const Use& use) noexcept {
    written(model_.gradient, model_.gradient_user, dim_, theta, use);
  }

  // The same for `count` rows, at most waiting_records, of a function that is called for one record at a
  // time.
  template <class RowOf, class Use>
  PYDPMC_INLINE void single_gradients(const RowOf& row_of, int64_t count, const double* theta,
                                      const Use& use) noexcept {
    unsigned made = 0;
    for (int64_t k = 0; k < count; ++k) {
      fetch(table_.row(row_of(k + ahead)));
      take(table_.row(row_of(k)), 0);
      if (void_[0] == 0.0 && call(model_.gradient, theta, out_ + k * dim_, model_.gradient_user))
        made |= 1u << k;
    }
    for (int64_t k = 0; k < count; ++k)
      if (made >> k & 1) use(k, out_ + k * dim_);
  }

  // The same with a root of the curvature behind each gradient.
  template <class Use>
  PYDPMC_INLINE void roots(const double* theta, const Use& use) noexcept {
    written(model_.roots, model_.roots_user, UserModel::width(dim_, true), theta, use);
  }

 private:
  template <class Use>
  PYDPMC_INLINE void written(pydpmc_function function, void* user, int64_t width, const double* theta,
                             const Use& use) noexcept {
    if (count_ == 1 && void_[0] != 0.0) return;
    if (call(function, theta, out_, user)) {
      for (int64_t k = 0; k < count_; ++k)
        if (void_[k] == 0.0) use(k, out_ + k * width);
      return;
    }
    each_alone(function, theta, user, [&](int64_t k, bool made) {
      if (made) use(k, out_ + k * width);
    });
  }

  static constexpr int64_t ahead = 16;  // rows that are fetched before they are taken
  static constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

  PYDPMC_INLINE void fetch(const Scalar* row) const noexcept {
    constexpr int64_t line = 64, longest = 2048;  // bytes; the hardware prefetches longer rows
    const int64_t size = (columns_ + 1) * static_cast<int64_t>(sizeof(Scalar));
    if (size > longest) return;
    for (int64_t at = 0; at < size; at += line)
      __builtin_prefetch(reinterpret_cast<const char*>(row) + at, 0, 2);
  }

  PYDPMC_INLINE void take(const Scalar* row, int64_t k) noexcept {
    const double marked = has_target_ ? target_of(row, table_.columns) : static_cast<double>(row[0]);
    void_[k] = marked == marked ? 0.0 : 1.0;
    if constexpr (std::is_same_v<Scalar, double>) {
      if (in_place_) {
        x_ = row;
        y_ = row + columns_;
        return;
      }
    }
    x_ = features_;
    y_ = targets_;
    if (marked != marked) return clear(k);
    double* to = features_ + k * columns_;
    for (int64_t j = 0; j < columns_; ++j) to[j] = static_cast<double>(row[j]) * unit_of<Scalar>;
    targets_[k] = has_target_ ? marked : 0.0;
  }

  void clear(int64_t k) noexcept {
    std::fill_n(features_ + k * columns_, columns_, 0.0);
    targets_[k] = 0.0;
  }

  PYDPMC_INLINE bool call(pydpmc_function function, const double* theta, double* out,
                          void* user) const noexcept {
    if (model_.block > 1) theta = std::copy_n(theta, dim_, theta_) - dim_;
    return function(model_.block, columns_, dim_, theta, x_, has_target_ ? y_ : nullptr, out, user) == 0;
  }

  // The rows are moved aside one at a time, so that a call sees one of them and zeros.
  template <class Then>
  void each_alone(pydpmc_function function, const double* theta, void* user, const Then& then) noexcept {
    if (model_.block == 1) return then(0, false);
    double* kept = features_ + at_.aside;
    std::copy(features_, theta_, kept);
    std::fill(features_, theta_, 0.0);
    for (int64_t k = 0; k < count_; ++k) {
      std::copy_n(kept + k * columns_, columns_, features_ + k * columns_);
      targets_[k] = kept[at_.targets + k];
      then(k, void_[k] == 0.0 && call(function, theta, out_, user));
      clear(k);
    }
    std::copy_n(kept, at_.theta, features_);
  }

  const UserModel& model_;
  const Table<Scalar>& table_;
  const int64_t columns_, dim_;
  const bool has_target_, in_place_;
  const BlockLayout at_;
  double *features_, *targets_, *theta_, *void_, *out_;
  const double *x_ = nullptr, *y_ = nullptr;
  int64_t count_ = 0, filled_ = 0;
};

PYDPMC_ISA_END

// One look at all records of a user's model: the sums of clipped gradients, and of curvatures R'R made of
// clipped roots R (dim rows), which the user's function wrote, or of the clipped gradient as the only row of
// R. R'R is nonnegative and its Frobenius norm is at most |R|^2, whatever the function wrote. All sums are
// exact integers. A record whose gradient or root is not finite adds nothing.
#pragma once

#include "kernels/curvature/outer_products.hpp"
#include "kernels/own/user_gradient.hpp"

PYDPMC_ISA_BEGIN

// Rows of integers on their way to the sums of outer products: as many at a time as add up without rounding.
class RootRows {
 public:
  RootRows(double* q, int dim, const LookGrid& grid, int64_t* products) noexcept
      : q_(q), dim_(dim), width_(static_cast<int64_t>(look_width(dim))), grid_(grid), products_(products) {
    std::fill_n(q_, look_block * width_, 0.0);
  }

  // The nearest integers of factor times the row.
  PYDPMC_INLINE void add(const double* row, double factor) noexcept {
    if (filled_ == look_block) flush();
    double* to = q_ + filled_++ * width_;
    for (int j = 0; j < dim_; ++j) to[j] = (factor * row[j] + rounding_magic) - rounding_magic;
  }

  void flush() noexcept {
    add_outer_products(q_, filled_, dim_, width_, grid_.tiles, products_);
    filled_ = 0;
  }

 private:
  double* q_;
  int dim_;
  int64_t width_;
  const LookGrid& grid_;
  int64_t* products_;
  int filled_ = 0;
};

inline void user_look_sums(const ModelSpec& spec, const Records& records, const double* theta,
                           double* scratch, int64_t begin, int64_t end, const LookGrid& grid, int64_t* sums,
                           int64_t* products) noexcept {
  const UserModel& model = static_cast<const UserModel&>(*spec.own);
  RootRows roots(scratch + model.workspace, spec.dim, grid, products);
  const int rows = grid.outer ? 1 : spec.dim;
  const double longest = std::sqrt(grid.curvature_clip);
  int64_t added = 0;
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    RecordBlock<Scalar> block(spec, records, table, scratch);
    for (int64_t i = begin; i < end; i += block.room()) {
      const int64_t here = std::min(block.room(), end - i);
      block.load([&](int64_t k) PYDPMC_LAMBDA { return std::min(i + k, end - 1); }, here);
      const auto use = [&](int64_t, const double* gradient) {
        const double* root = grid.outer ? gradient : gradient + spec.dim;
        const double root2 = squared_norm(root, nullptr, rows * spec.dim);
        if (!(root2 <= largest_group_square)) return;
        const int64_t counted = add_clipped(gradient, spec.dim, grid.gradient, sums);
        added += counted;
        if (counted == 0) return;
        const double norm = std::sqrt(root2),
                     factor = (norm > longest ? longest / norm : 1.0) * grid.per_root;
        for (int r = 0; r < rows; ++r) roots.add(root + r * spec.dim, factor);
      };
      if (grid.outer)
        block.gradients(theta, use);
      else
        block.roots(theta, use);
    }
  });
  roots.flush();
  remove_magic(sums, spec.dim, added);
}

PYDPMC_ISA_END

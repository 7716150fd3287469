// Exact sums over the records of one shard: the only thing that leaves it. They are functions of the records,
// of what was asked and, for samples, of the shard's key; nothing is noised here.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/target.hpp"
#include "query/block_ratio.hpp"
#include "query/gradient_query.hpp"
#include "random/key.hpp"
#include "samplers/nuts/log_density.hpp"

namespace pydpmc {

class ShardSums {
 public:
  explicit ShardSums(Target target) : target_(std::move(target)) {}

  // Sums of gradients of all units at `count` thetas, `dim` integers each.
  void gradient(const double* thetas, int64_t count, const GradientGrid& grid, int threads,
                int64_t* out) const;

  // Sums for a step of chains, as a gradient query takes them: of all units or of the step's samples.
  void start_queries(const QuerySpec& spec, int chains);
  void query(const double* thetas, uint64_t step, double sd, const Key& key, int threads, int64_t* out);

  // Sums of clipped ratios from each state to its proposal; states and proposals alternate.
  void ratio(const double* states, int64_t count, const Grid& grid, int threads, RatioSum* out) const;

  // Sums of log-likelihoods and gradients of blocks of density_block records at `count` thetas: 1 + dim sums
  // each, of exact_width digits.
  void density(const double* thetas, int64_t count, const LoglikRange& range, int threads,
               int64_t* out) const;

  const Target& target() const { return target_; }
  size_t released() const { return released_; }
  int64_t chains() const { return static_cast<int64_t>(queries_.size()); }

 private:
  Target target_;
  std::vector<std::unique_ptr<GradientQuery>> queries_;
  bool full_ = true;
  size_t released_ = 0;
};

}  // namespace pydpmc

// Ratios of a block of units at two states, neither of which has cached log-likelihoods: the same arithmetic,
// record by record, as with a cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "concepts.hpp"
#include "isa/dispatch.hpp"

namespace pydpmc {

// Log-likelihoods of one block at both states, for each thread.
class BlockLogliks {
 public:
  BlockLogliks() = default;
  BlockLogliks(const Records& records, int64_t block, int threads) : rows_(most_rows(records, block)) {
    values_.resize(2 * rows_ * static_cast<size_t>(threads));
  }

  struct Pair {
    double *current, *proposed;
  };
  Pair of(int thread) noexcept {
    double* first = values_.data() + 2 * rows_ * static_cast<size_t>(thread);
    return {first, first + rows_};
  }

 private:
  static size_t most_rows(const Records& records, int64_t block) {
    int64_t most = 0;
    for (int64_t begin = 0; begin < records.units(); begin += block) {
      const int64_t end = std::min(begin + block, records.units());
      most = std::max(most, records.first_row(end) - records.first_row(begin));
    }
    return static_cast<size_t>(most);
  }

  size_t rows_ = 0;
  std::vector<double> values_;
};

// The kernels index by row; the arrays hold the rows of this block alone.
inline RatioSum block_ratio(const ModelSpec& model, const Records& records, const double* theta,
                            const double* proposal, double* slopes, int64_t begin, int64_t end,
                            const Grid& grid, BlockLogliks::Pair logliks) noexcept {
  const KernelTable& kernel = kernels_of(model);
  const int64_t first = records.first_row(begin);
  double* current = logliks.current - first;
  kernel.log_likelihoods(model, records, theta, slopes, first, records.first_row(end), current);
  return kernel.full_ratio(model, records, proposal, slopes, begin, end, current, logliks.proposed - first,
                           grid);
}

}  // namespace pydpmc

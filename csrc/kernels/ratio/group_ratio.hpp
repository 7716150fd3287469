// Log-likelihood ratios of all units, for the exact test. The ratios of a group's records are summed in the
// order of its rows, and the sum is clipped and rounded. A record whose ratio is NaN counts as zero.
#pragma once

#include "kernels/ratio/block_ratio.hpp"

PYDPMC_ISA_BEGIN

inline double sum_of_ratios(const double* proposed, const double* current, int64_t rows) noexcept {
  double total = 0.0;
  for (int64_t i = 0; i < rows; ++i) {
    const double ratio = proposed[i] - current[i];
    total += ratio == ratio ? ratio : 0.0;
  }
  return total;
}

// Sums the ratios of units begin .. end-1.
inline RatioSum full_ratio(const ModelSpec& spec, const Records& records, const double* proposal,
                           double* slopes, int64_t begin, int64_t end, const double* current_loglik,
                           double* proposed_loglik, const Grid& grid) noexcept {
  if (!records.group_start)
    return consecutive_ratio(spec, records, proposal, slopes, begin, end, current_loglik, proposed_loglik,
                             grid);
  log_likelihoods(spec, records, proposal, slopes, records.first_row(begin), records.first_row(end),
                  proposed_loglik);
  I8 total = zero_i8(), clipped = zero_i8();
  for (int64_t g = begin; g < end; g += lanes) {
    double ratio[lanes] = {};
    for (int k = 0; k < rest_of(g, end); ++k) {
      const int64_t first = records.first_row(g + k), rows = records.first_row(g + k + 1) - first;
      ratio[k] = sum_of_ratios(proposed_loglik + first, current_loglik + first, rows);
    }
    total = total + quantise(clip(load(ratio), grid, clipped), grid);
  }
  return RatioSum{sum(total), 0, sum(clipped)};
}

PYDPMC_ISA_END

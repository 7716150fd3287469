// The checks of a gradient query, for runs and for shards.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "bind/sampling.hpp"
#include "query/gradient_query.hpp"
#include "samplers/all.hpp"

namespace pydpmc {

inline Sampling sampling_of(const std::string& name) {
  if (name == "full") return Sampling::full;
  if (name == "without_replacement") return Sampling::without_replacement;
  if (name == "poisson") return Sampling::poisson;
  throw std::invalid_argument("unknown sampling: " + name);
}

constexpr double smallest_query = 0x1p-200,
                 largest_query = 0x1p200;  // far from underflow and overflow of the grid step

// At every noise level the grid must be finer than the noise, and each record's integers must fit. Public
// numbers alone decide this.
inline void require_grids(const QuerySpec& query, const std::vector<double>& noise) {
  for (double sd : noise) {
    require(sd >= smallest_query && sd <= largest_query, "noise must lie between 2^-200 and 2^200");
    require(grid_bits(query, sd) >= 1, "clip is too large for its noise");
  }
}

}  // namespace pydpmc

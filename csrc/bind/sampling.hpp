// The checks of every binding that samples units.
#pragma once

#include <cstdint>

#include "bind/records.hpp"
#include "random/sampling/bernoulli_process.hpp"

namespace pydpmc {

inline void require_sampling(const GapTables* gaps, int64_t most, int64_t n) {
  require(gaps != nullptr, "sampling needs gaps");
  require(n >= 1 && n <= int64_t{1} << 31, "sampling needs 1 to 2^31 units");
  require(most >= 1 && most <= n, "most must be 1 to n");
}

}  // namespace pydpmc

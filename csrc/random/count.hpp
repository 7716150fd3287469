// A count drawn from a table of cumulative probabilities with 128 fractional bits, such as the size of a
// Poisson sample: Binomial(n, q) records chosen uniformly is the same as each record on its own with
// probability q.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "random/stream.hpp"

namespace pydpmc {

struct CountTable {
  std::uint64_t first;  // the count of entry 0
  std::vector<std::uint64_t> high,
      low;  // P(count <= first + k), k < size; the last entry is a count of its own

  // Compares 64 bits, and 64 more on a tie only.
  std::uint64_t draw(Stream& stream) const noexcept {
    const std::uint64_t word = stream.next64();
    auto k = static_cast<std::size_t>(std::lower_bound(high.begin(), high.end(), word) - high.begin());
    if (k < high.size() && high[k] == word) {
      const std::uint64_t tail = stream.next64();
      while (k < high.size() && high[k] == word && low[k] <= tail) ++k;
    }
    return first + k;
  }
};

}  // namespace pydpmc

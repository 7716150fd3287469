// Slopes of the greatest convex minorant of a piecewise linear function.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace pydpmc::accounting {

// Cell k rises by rises[k] over widths[k] > 0. Pooling neighbouring cells until the slopes increase gives the
// minorant (pool adjacent violators); slopes[k] is its slope on cell k.
inline void convex_minorant_slopes(std::span<const double> rises, std::span<const double> widths,
                                   std::span<double> slopes) {
  struct Block {
    double rise, width;
    std::size_t end;
    double slope() const { return rise / width; }
  };
  std::vector<Block> blocks;
  blocks.reserve(rises.size());
  for (std::size_t k = 0; k < rises.size(); ++k) {
    Block block{rises[k], widths[k], k + 1};
    while (!blocks.empty() && blocks.back().slope() > block.slope()) {
      block.rise += blocks.back().rise;
      block.width += blocks.back().width;
      blocks.pop_back();
    }
    blocks.push_back(block);
  }
  std::size_t k = 0;
  for (const Block& block : blocks)
    for (const double slope = block.slope(); k < block.end; ++k) slopes[k] = slope;
}

}  // namespace pydpmc::accounting

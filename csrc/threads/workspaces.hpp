// Scratch memory of each thread, allocated once before the first step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "concepts.hpp"

namespace pydpmc {

// The number of doubles that a kernel needs: two prepared thetas (csrc/models/prepared.hpp) and the gradient
// of a group; or one, and slopes and sums of narrow or coded rows (csrc/kernels/gradient/) or nine sums per
// column (csrc/kernels/ratio/tile_density.hpp).
inline size_t slopes_size(const ModelSpec& model) noexcept {
  if (model.own) return model.own->workspace;
  const size_t group = static_cast<size_t>((model.dim + 7) / 8 * 8) + 8;
  const size_t narrow = static_cast<size_t>((model.columns + 15) / 16 * 24);
  const size_t coded = 4 * (static_cast<size_t>(model.columns) + 8);
  const size_t of_tile = 9 * static_cast<size_t>((model.columns + 7) / 8 * 8);
  return prepared_size(model) + std::max({prepared_size(model) + group, narrow, coded, of_tile});
}

class Workspaces {
 public:
  Workspaces(int threads, const ModelSpec& model)
      : Workspaces(threads, model, static_cast<size_t>(model.dim)) {}

  // `length` is the length of a sum.
  Workspaces(int threads, const ModelSpec& model, size_t length)
      : slopes_stride_(slopes_size(model)),
        sums_stride_((length + 7) / 8 * 8 + 8),
        length_(length),
        slopes_(static_cast<size_t>(threads) * slopes_stride_),
        sums_(static_cast<size_t>(threads) * sums_stride_) {}

  double* slopes(int thread) noexcept {
    return slopes_.data() + static_cast<size_t>(thread) * slopes_stride_;
  }
  int64_t* sums(int thread) noexcept { return sums_.data() + static_cast<size_t>(thread) * sums_stride_; }

  void clear(int first, int count) noexcept {
    for (int k = 0; k < count; ++k) std::fill_n(sums(first + k), length_, 0);
  }

  // Adds the sums of all `count` threads to those of the first thread.
  void gather(int first, int count) noexcept {
    for (int k = 1; k < count; ++k)
      for (size_t j = 0; j < length_; ++j) sums(first)[j] += sums(first + k)[j];
  }

 private:
  size_t slopes_stride_, sums_stride_, length_;
  std::vector<double> slopes_;
  std::vector<int64_t> sums_;
};

}  // namespace pydpmc

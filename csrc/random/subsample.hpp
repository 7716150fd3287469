// Uniform subsets of fixed size without replacement, exactly, in ascending order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/index_set.hpp"
#include "random/stream.hpp"

namespace pydpmc {

class Subsampler {
 public:
  // b <= n, 1 <= n < 2^32, checked by the caller. The only allocation.
  Subsampler(std::uint64_t n, std::uint64_t b)
      : n_(n), b_(b), drawn_(b <= n - b ? b : n - b), surplus_((std::uint64_t{1} << 32) % n), set_(n) {}

  // From now on draws subsets of size b <= n.
  void resize(std::uint64_t b) noexcept {
    b_ = b;
    drawn_ = b <= n_ - b ? b : n_ - b;
  }

  // Every b-subset of 0..n-1 with the same probability; expected time proportional to b.
  void draw(Stream& stream, std::uint32_t* out) noexcept {
    draw_distinct(stream);
    const auto write = [&out](std::uint64_t index) { *out++ = static_cast<std::uint32_t>(index); };
    if (drawn_ == b_)
      set_.drain(write);
    else
      set_.drain_complement(n_, write);
  }

 private:
  static constexpr std::size_t chunk = 64;

  // A fresh uniform index is accepted if it is new, so every order of every subset is equally likely. At most
  // n / 2 indices are drawn, so on average fewer than 1.4 tries each.
  void draw_distinct(Stream& stream) noexcept {
    std::uint64_t words[chunk];
    for (std::uint64_t missing = drawn_; missing > 0;) {
      const std::uint64_t pairs = (missing + 1) / 2;
      const std::size_t fetched = pairs < chunk ? static_cast<std::size_t>(pairs) : chunk;
      stream.fill(words, fetched);
      for (std::size_t i = 0; i < fetched; ++i) {
        missing -= try_insert(words[i] & 0xffffffff);
        if (missing > 0) missing -= try_insert(words[i] >> 32);
      }
    }
  }

  // Lemire's exact multiply and reject, with half a word: n < 2^32.
  bool try_insert(std::uint64_t half_word) noexcept {
    const std::uint64_t product = half_word * n_;
    if ((product & 0xffffffff) < surplus_) return false;
    return set_.insert(product >> 32);
  }

  std::uint64_t n_, b_, drawn_, surplus_;
  IndexSet set_;
};

}  // namespace pydpmc

// Uniform subsets of fixed size without replacement, exactly. Members come in no particular order: sums over
// them are of integers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random/stream.hpp"

namespace pydpmc {

class Subsampler {
 public:
  // b <= n, 1 <= n < 2^32, checked by the caller. The only allocation.
  Subsampler(std::uint64_t n, std::uint64_t b)
      : n_(n), surplus_((std::uint64_t{1} << 32) % n), members_(static_cast<std::size_t>((n + 63) / 64)) {
    resize(b);
  }

  // From now on draws subsets of size b <= n.
  void resize(std::uint64_t b) noexcept {
    b_ = b;
    drawn_ = b <= n_ - b ? b : n_ - b;
  }

  // Every b-subset of 0..n-1 with the same probability; expected time proportional to b. `out` has room for
  // b.
  void draw(Stream& stream, std::uint32_t* out) noexcept {
    draw_distinct(stream, out);
    if (drawn_ != b_) return take_complement(out);
    for (std::uint64_t k = 0; k < b_; ++k) members_[out[k] >> 6] = 0;
  }

 private:
  static constexpr std::size_t chunk = 64;

  // Lemire's exact multiply and reject, with half a word: n < 2^32. A fresh uniform index is accepted if it
  // is new, so every order of every subset is equally likely. At most n / 2 indices are drawn, so on average
  // fewer than 1.4 tries each; whether one is accepted is no branch.
  void draw_distinct(Stream& stream, std::uint32_t* out) noexcept {
    std::uint64_t words[chunk], found = 0;
    const Taker take{n_, surplus_, members_.data()};
    while (drawn_ - found >= 2) {
      const std::uint64_t pairs = (drawn_ - found) / 2;
      const std::size_t fetched = pairs < chunk ? static_cast<std::size_t>(pairs) : chunk;
      stream.fill(words, fetched);
      for (std::size_t i = 0; i < fetched; ++i) {
        found += take(words[i] & 0xffffffff, out + found);
        found += take(words[i] >> 32, out + found);
      }
    }
    while (found < drawn_) found += take(stream.next64() & 0xffffffff, out + found);
  }

  // Writes the index that half a word stands for; returns 1 if it is accepted. Holds copies, which the
  // compiler can keep in registers.
  struct Taker {
    std::uint64_t n, surplus;
    std::uint64_t* members;

    std::uint64_t operator()(std::uint64_t half, std::uint32_t* out) const noexcept {
      const std::uint64_t product = half * n, index = product >> 32, bit = std::uint64_t{1} << (index & 63);
      const std::uint64_t before = members[index >> 6];
      const bool fresh = ((before & bit) == 0) & ((product & 0xffffffff) >= surplus);
      *out = static_cast<std::uint32_t>(index);
      members[index >> 6] = before | (fresh ? bit : 0);
      return fresh;
    }
  };

  // Everybody who was not drawn.
  void take_complement(std::uint32_t* out) noexcept {
    for (std::size_t w = 0; w < members_.size(); ++w) {
      std::uint64_t absent = ~members_[w];
      members_[w] = 0;
      if (w == n_ >> 6) absent &= (std::uint64_t{1} << (n_ & 63)) - 1;
      for (; absent; absent &= absent - 1)
        *out++ = static_cast<std::uint32_t>(w << 6 | static_cast<std::size_t>(std::countr_zero(absent)));
    }
  }

  std::uint64_t n_, b_ = 0, drawn_ = 0, surplus_;
  std::vector<std::uint64_t> members_;  // bit i: has i been drawn; all zero between draws
};

}  // namespace pydpmc

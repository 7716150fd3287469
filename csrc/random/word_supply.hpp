// Words of a stream for a sampler that takes most of them in runs and a few one by one. They are fetched in
// whole groups of the blocks that ChaCha20 makes at once, and no word is used twice: runs are taken from the
// front of what was fetched, single words from the back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

class WordSupply {
 public:
  static constexpr std::size_t longest_run = 32;

  // More than `expected` words cost a little more each.
  WordSupply(Stream& stream, std::size_t expected) noexcept
      : stream_(stream), expected_(expected), least_(expected > one_block ? four_blocks : one_block) {}

  struct Run {
    const std::uint64_t* words;  // valid until the next call
    std::size_t size;            // a multiple of 4
  };

  Run run() noexcept {
    if (back_ - front_ < 4) fetch();
    const std::size_t size = std::min((back_ - front_) / 4 * 4, longest_run);
    front_ += size;
    return {words_ + front_ - size, size};
  }

  std::uint64_t next64() noexcept {
    if (back_ == front_) fetch();
    return words_[--back_];
  }

 private:
  static constexpr std::size_t one_block = 8, four_blocks = 32, eight_blocks = 64;  // in words

  void fetch() noexcept {
    front_ = 0;
    back_ = expected_ > four_blocks ? eight_blocks : least_;
    expected_ -= std::min(expected_, back_);
    stream_.fill(words_, back_);
  }

  Stream& stream_;
  std::size_t expected_, least_, front_ = 0, back_ = 0;
  std::uint64_t words_[eight_blocks];
};

}  // namespace pydpmc

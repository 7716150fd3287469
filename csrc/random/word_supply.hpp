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
  static constexpr std::size_t longest_run = 64;

  // Runs are multiples of `multiple`. A few words are cheapest as one block, more as eight, used or not.
  WordSupply(Stream& stream, std::size_t multiple, std::size_t expected) noexcept
      : stream_(stream),
        multiple_(multiple),
        at_once_(std::max(multiple, expected > block ? 8 * block : block)) {}

  struct Run {
    const std::uint64_t* words;  // valid until the next call
    std::size_t size;
  };

  // About as many as wanted, or as there are.
  Run run(std::size_t wanted) noexcept {
    if (back_ - front_ < multiple_) fetch();
    const std::size_t most = std::min({wanted + multiple_, back_ - front_, longest_run});
    const std::size_t size = most / multiple_ * multiple_;
    front_ += size;
    return {words_ + front_ - size, size};
  }

  std::uint64_t next64() noexcept {
    if (back_ == front_) fetch();
    return words_[--back_];
  }

 private:
  static constexpr std::size_t block = 8;  // of ChaCha20, in words

  void fetch() noexcept {
    front_ = 0;
    back_ = at_once_;
    stream_.fill(words_, back_);
  }

  Stream& stream_;
  std::size_t multiple_, at_once_, front_ = 0, back_ = 0;
  std::uint64_t words_[8 * block];
};

}  // namespace pydpmc

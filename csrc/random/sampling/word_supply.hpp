// Words of a stream for a sampler that takes most of them in runs and a few one by one. They are fetched in
// whole groups of the blocks that ChaCha20 makes at once, and no word is used twice: runs are taken from the
// front of what was fetched, single words from the back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

class WordSupply {
 public:
  static constexpr std::size_t longest_run = 64;  // eight blocks of ChaCha20

  // Runs are multiples of `multiple`.
  WordSupply(Stream& stream, std::size_t multiple) noexcept : stream_(stream), multiple_(multiple) {}
  WordSupply(const WordSupply&) = delete;  // which would hand out the same words
  WordSupply& operator=(const WordSupply&) = delete;

  struct Run {
    const std::uint64_t* words;  // valid until the next call
    std::size_t size;
  };

  // As many as there are.
  Run run() noexcept {
    if (back_ - front_ < multiple_) fetch();
    const std::size_t size = (back_ - front_) / multiple_ * multiple_;
    front_ += size;
    return {words_ + front_ - size, size};
  }

  std::uint64_t next64() noexcept {
    if (back_ == front_) fetch();
    return words_[--back_];
  }

 private:
  void fetch() noexcept {
    front_ = 0;
    back_ = longest_run;
    stream_.fill(words_, back_);
  }

  Stream& stream_;
  std::size_t multiple_, front_ = 0, back_ = 0;
  std::uint64_t words_[longest_run];
};

}  // namespace pydpmc

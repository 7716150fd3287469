// Buffers words of a stream for a sampler that takes most of them in runs and a few one by one. It fetches as
// many blocks as ChaCha20 makes at once. No word is used twice: runs are taken from the front of the buffer,
// single words from the back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

class WordSupply {
 public:
  static constexpr std::size_t longest_run = 64;  // eight blocks of ChaCha20

  // The length of a run is a multiple of `multiple`.
  WordSupply(Stream& stream, std::size_t multiple) noexcept : stream_(stream), multiple_(multiple) {}
  WordSupply(const WordSupply&) = delete;  // a copy would hand out the same words
  WordSupply& operator=(const WordSupply&) = delete;

  struct Run {
    const std::uint64_t* words;  // valid until the next call
    std::size_t size;
  };

  // All buffered words, rounded down to a multiple of `multiple`.
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

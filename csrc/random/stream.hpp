// A stream of random 64-bit words that belongs to (key, purpose, chain, step), never to a thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "isa/dispatch.hpp"
#include "random/chacha20.hpp"
#include "random/key.hpp"
#include "random/stream_log.hpp"

namespace pydpmc {

static_assert(std::endian::native == std::endian::little, "a word is two key-stream words, low half first");

enum class Purpose : std::uint8_t {
  proposal = 1,
  subsample = 2,
  accept = 3,
  initial = 4,
  noise = 5,
  diffusion = 6,    // noise that no guarantee relies on
  look = 7,         // noise on gradient and curvature
  cell = 8,         // keys of the cells of a table
  trajectory = 16,  // of NUTS: momenta, directions, choices among states
  adaptation = 17,  // starts of NUTS, and its search for a step size
  test = 255
};

inline constexpr std::uint32_t max_chains = std::uint32_t{1} << 24;

class Stream {
 public:
  // chain < max_chains, checked by the caller: then (purpose, chain, step) fills the 96-bit nonce
  // injectively.
  Stream(const Key& key, Purpose purpose, std::uint32_t chain, std::uint64_t step) noexcept
      : key_(key),
        nonce_{static_cast<std::uint32_t>(purpose) | chain << 8, static_cast<std::uint32_t>(step),
               static_cast<std::uint32_t>(step >> 32)} {}
  ~Stream() {
    if (StreamLog* log = stream_log.load(std::memory_order_relaxed)) note(*log);
  }
  // A copy would give the same words again.
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::uint64_t next64() noexcept {
    if (position_ == filled_) refill(1);
    return buffer_[position_++];
  }

  void forget_key() noexcept { wipe(key_); }

  std::uint64_t words_used() const noexcept { return next_block_ * words_per_block - (filled_ - position_); }

  // Gives the same words, in the same order, as n calls of next64. Whole groups of blocks are written in
  // place; the rest goes through the buffer, which keeps the words left over.
  void fill(std::uint64_t* out, std::size_t n) noexcept {
    take_buffered(out, n);
    write_whole(out, n, n / words_per_block / buffered_blocks * buffered_blocks);
    if (n == smallest_group * words_per_block) write_whole(out, n, smallest_group);
    while (n > 0) {
      refill(n);
      take_buffered(out, n);
    }
  }

 private:
  void note(StreamLog& log) const {
    const std::uint64_t step = nonce_[1] | std::uint64_t{nonce_[2]} << 32;
    log.note({nonce_[0] & 0xff, nonce_[0] >> 8, step, words_used()});
  }

  static constexpr std::size_t words_per_block = chacha20_words / 2;
  static constexpr std::size_t buffered_blocks = 8, smallest_group = 4;
  static constexpr std::uint64_t max_blocks = std::uint64_t{1} << 32;

  void take_buffered(std::uint64_t*& out, std::size_t& n) noexcept {
    const std::size_t taken = filled_ - position_ < n ? filled_ - position_ : n;
    std::memcpy(out, buffer_ + position_, taken * sizeof *out);
    position_ += taken;
    out += taken;
    n -= taken;
  }

  void write_whole(std::uint64_t*& out, std::size_t& n, std::size_t blocks) noexcept {
    if (blocks == 0) return;
    write_blocks(out, blocks);
    out += blocks * words_per_block;
    n -= blocks * words_per_block;
  }

  // Most streams end within their first block, and one block alone is cheaper than a whole group.
  void refill(std::size_t wanted) noexcept {
    const std::size_t blocks = next_block_ == 0 && wanted <= words_per_block ? 1 : buffered_blocks;
    write_blocks(buffer_, blocks);
    position_ = 0;
    filled_ = blocks * words_per_block;
  }

  void write_blocks(std::uint64_t* out, std::size_t blocks) noexcept {
    // 256 GiB in one stream: to stop is better than to repeat the stream.
    if (blocks > max_blocks - next_block_) std::abort();
    const auto counter = static_cast<std::uint32_t>(next_block_);
    if (blocks == 1) {
      std::uint32_t words[chacha20_words];
      chacha20_block(key_.words, counter, nonce_, words);
      std::memcpy(out, words, sizeof words);
    } else {
      // The kernel stores with memcpy, so it may write into 64-bit words.
      kernels().chacha20_blocks(key_.words, counter, nonce_, reinterpret_cast<std::uint32_t*>(out), blocks);
    }
    next_block_ += blocks;
  }

  Key key_;
  std::uint32_t nonce_[3];
  std::uint64_t next_block_ = 0;
  std::size_t position_ = 0;
  std::size_t filled_ = 0;
  std::uint64_t buffer_[buffered_blocks * words_per_block];
};

}  // namespace pydpmc

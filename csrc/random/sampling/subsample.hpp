// Samples of 0 .. n-1 in increasing order: Poisson samples, and b out of n without replacement. Given its
// number of members, a Bernoulli process is a uniform subset, and it stays one when uniformly chosen members
// are dropped. Errors: docs/privacy/sgld.md, lemma 4.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "random/sampling/bernoulli_process.hpp"
#include "random/sampling/keep_unmarked.hpp"

namespace pydpmc {

class Subsampler {
 public:
  // 1 <= most <= n <= 2^31, checked by the caller.
  Subsampler(std::shared_ptr<const GapTables> tables, std::uint64_t n, std::uint64_t most)
      : tables_(std::move(tables)), process_(*tables_, static_cast<std::uint32_t>(n)), most_(most) {}

  std::size_t most() const noexcept { return most_; }

  // Consecutive samples come from the words of one stream.
  ProcessLine line(Stream& stream) const noexcept { return process_.line(stream); }

  // The length that the array of a sample needs.
  std::size_t room() const noexcept { return most_ + BernoulliProcess::most_at_once; }

  // Draws each index independently with probability tables.rate; returns their number. If there are more than
  // `most`, the last ones are dropped; the stated error includes this.
  std::size_t draw_poisson(ProcessLine& line, std::uint32_t* out) const noexcept {
    return std::min(process_.draw(line, most_, out), most_);
  }

  // Draws every subset of b <= most with the same probability. Fast if tables.rate is a little above b / n.
  void draw_exactly(std::size_t b, ProcessLine& line, std::uint32_t* out) const noexcept {
    std::size_t count;
    do {
      count = process_.draw(line, most_, out);
    } while (count < b || count > most_);
    drop(count, b, line.supply, out);
  }

 private:
  // Uniform ranks by Lemire's exact multiply and reject, from half a word; a rank that is already dropped is
  // drawn again.
  static void drop(std::size_t count, std::size_t left, WordSupply& supply, std::uint32_t* out) noexcept {
    if (count == left) return;
    const std::uint64_t surplus = (std::uint64_t{1} << 32) % count;
    const auto drop_one = [&](std::uint64_t half) noexcept {
      const std::uint64_t product = half * count;
      const bool valid = (product & 0xffffffff) >= surplus;
      std::uint32_t& member = out[product >> 32];
      const bool fresh = valid & (member != dropped);
      member |= valid ? dropped : 0;
      return std::size_t{fresh};
    };
    for (std::size_t todo = count - left; todo > 0;) {
      const std::uint64_t word = supply.next64();
      todo -= drop_one(word & 0xffffffff);
      if (todo > 0) todo -= drop_one(word >> 32);
    }
    kernels().keep_unmarked(out, count);
  }

  std::shared_ptr<const GapTables> tables_;
  BernoulliProcess process_;
  std::size_t most_;
};

}  // namespace pydpmc

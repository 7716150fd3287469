// Where the windows of a Bernoulli process come from, one after the other: the words of one stream, and what
// the draws for one window have already decided of the next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "random/sampling/alias_field.hpp"
#include "random/sampling/process_place.hpp"
#include "random/sampling/word_supply.hpp"

namespace pydpmc {

class ProcessLine {
 public:
  static constexpr std::size_t most_at_once = WordSupply::longest_run * alias_field::per_word;

  // A run of words is a multiple of `multiple`.
  ProcessLine(Stream& stream, std::size_t multiple) noexcept : supply(stream, multiple) {}

  WordSupply supply;

  // Into the next window, whose members are to be written to `out`.
  ProcessPlace enter(std::uint32_t* out) const noexcept {
    std::copy_n(member_, count_, out);
    return {at_, count_, out};
  }

  // A window of n ends with so many members inside. One that was broken off leaves nothing.
  void leave(const ProcessPlace& place, std::size_t inside, std::uint32_t n) noexcept {
    at_ = place.at < n ? 0 : place.at - n;
    count_ = place.count - inside;
    for (std::size_t i = 0; i < count_; ++i) member_[i] = place.out[inside + i] - n;
  }

 private:
  std::uint32_t at_ = 0;
  std::size_t count_ = 0;
  std::uint32_t member_[most_at_once];
};

}  // namespace pydpmc

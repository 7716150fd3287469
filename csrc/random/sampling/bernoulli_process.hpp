// A Bernoulli process on windows of n indices: every index is a member independently with probability `rate`.
// Members are drawn in order, by the gaps between them. Error: docs/privacy/sgld.md, lemma 4.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "isa/dispatch.hpp"
#include "random/sampling/alias_field.hpp"
#include "random/sampling/alias_table.hpp"
#include "random/sampling/running_members.hpp"
#include "random/sampling/word_supply.hpp"

namespace pydpmc {

// A gap is k with probability rate (1 - rate)^k. Outcome 4095 of `gap` means "4095 or more": no member among
// 4095 indices, and the rest of the gap, by lack of memory, is drawn anew. If that would happen often, `gap`
// holds the law of the quotient of the gap by 4096 instead, and `remainder`, empty otherwise, the law of the
// remainder, which is independent of the quotient.
struct GapTables {
  double rate;
  double overflow;  // P(outcome 4095 of `gap`)
  AliasTable gap, remainder;

  bool sparse() const noexcept { return !remainder.entry.empty(); }
};

// The source of consecutive windows of a Bernoulli process: the words of one stream, and the draws that carry
// over from one window to the next.
class ProcessLine {
 public:
  static constexpr std::size_t most_at_once = WordSupply::longest_run * alias_field::per_word;

  // The number of words in a run is a multiple of `multiple`.
  ProcessLine(Stream& stream, std::size_t multiple) noexcept : supply(stream, multiple) {}

  WordSupply supply;

  // Opens the next window, whose members will be written to `out`.
  ProcessPlace enter(std::uint32_t* out) const noexcept {
    std::copy_n(member_, count_, out);
    return {at_, count_, out};
  }

  // Closes a window of n indices, `inside` of them members. Draws beyond n carry over; a truncated window
  // carries nothing over.
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

class BernoulliProcess {
 public:
  static constexpr std::size_t most_at_once = ProcessLine::most_at_once;

  // 1 <= n <= 2^31, so that positions beyond n fit into 32 bits.
  BernoulliProcess(const GapTables& tables, std::uint32_t n) noexcept : tables_(&tables), n_(n) {}

  ProcessLine line(Stream& stream) const noexcept {
    return {stream, tables_->sparse() ? 2 * alias_field::words : alias_field::words};
  }

  // Writes the members of the next window, counted from its start, and returns their number. Stops early,
  // with a number above `most`, if there are more. `out` needs room for most + most_at_once.
  std::size_t draw(ProcessLine& line, std::size_t most, std::uint32_t* out) const noexcept {
    WordSupply& supply = line.supply;
    ProcessPlace place = line.enter(out);
    while (place.at < n_ && place.count <= most) {
      if (tables_->sparse())
        advance_sparse(supply, place);
      else
        advance(supply, place);
    }
    const std::size_t earlier = place.count < most_at_once ? 0 : place.count - most_at_once;
    const std::uint32_t* end = std::lower_bound(out + earlier, out + place.count, n_);
    const auto inside = static_cast<std::size_t>(end - out);
    line.leave(place, inside, n_);
    return inside;
  }

 private:
  static constexpr std::uint32_t more = alias_field::column, unsettled = alias_field::unsettled;
  using Outcomes = std::uint32_t[most_at_once];

  static std::uint32_t settled(const AliasTable& table, std::uint32_t outcome, WordSupply& supply) noexcept {
    return outcome & unsettled ? table.settle(outcome & alias_field::mask, supply) : outcome;
  }

  [[gnu::noinline]] void advance(WordSupply& supply, ProcessPlace& place) const noexcept {
    Outcomes gap;
    const WordSupply::Run run = supply.run();
    kernels().alias_outcomes(tables_->gap.entry.data(), run.words, run.size, gap);
    add(gap, run.size * alias_field::per_word, more, place,
        [&](std::size_t i) { return settled(tables_->gap, gap[i], supply); });
  }

  // A gap is below 2^24, so that the positions after 96 gaps are below 2^32.
  [[gnu::noinline]] void advance_sparse(WordSupply& supply, ProcessPlace& place) const noexcept {
    constexpr int bits = alias_field::column_bits;
    Outcomes quotient, remainder, gap;
    const WordSupply::Run run = supply.run();
    const std::size_t half = run.size / 2, end = half * alias_field::per_word;
    kernels().alias_outcomes(tables_->gap.entry.data(), run.words, half, quotient);
    kernels().alias_outcomes(tables_->remainder.entry.data(), run.words + half, half, remainder);
    const auto joined = [](std::uint32_t q, std::uint32_t r) { return q << bits | (q == more ? 0 : r); };
    for (std::size_t i = 0; i < end; ++i)
      gap[i] = joined(quotient[i] & more, remainder[i] & more) | ((quotient[i] | remainder[i]) & unsettled);
    add(gap, end, more << bits, place, [&](std::size_t i) {
      const std::uint32_t q = settled(tables_->gap, quotient[i], supply);
      return joined(q, settled(tables_->remainder, remainder[i], supply));
    });
  }

  // Eight gaps at a time while all of them are decided.
  template <class Settled>
  static void add(const std::uint32_t* gap, std::size_t end, std::uint32_t open, ProcessPlace& place,
                  const Settled& settled_gap) noexcept {
    for (std::size_t i = 0; i < end;) {
      i += kernels().running_members(gap + i, end - i, open, place);
      for (const std::size_t eight = std::min(i + 8, end); i < eight; ++i) place.step(settled_gap(i), open);
    }
  }

  const GapTables* tables_;
  std::uint32_t n_;
};

}  // namespace pydpmc

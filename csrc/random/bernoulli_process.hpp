// A Bernoulli process on 0 .. n-1, each index a member on its own with probability `rate`: its members in
// order, by the gaps between them. Error: docs/privacy/sgld.md, lemma 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dispatch.hpp"
#include "random/alias_table.hpp"
#include "random/process_place.hpp"
#include "random/word_supply.hpp"

namespace pydpmc {

// A gap is k with probability rate (1 - rate)^k. Outcome 4095 of `gap` stands for "4095 or more": no member
// among 4095 indices, and by lack of memory the rest of the gap is drawn anew. Where that would happen often
// the table holds the quotient of the gap by 4096 instead, and `remainder`, empty otherwise, what is
// independent of it.
struct GapTables {
  double rate;
  double overflow;  // P(outcome 4095 of `gap`)
  AliasTable gap, remainder;

  bool sparse() const noexcept { return !remainder.entry.empty(); }
};

class BernoulliProcess {
 public:
  static constexpr std::size_t most_at_once = WordSupply::longest_run * alias_field::per_word;

  // 1 <= n <= 2^31, so that positions behind n fit into 32 bits.
  BernoulliProcess(const GapTables& tables, std::uint32_t n) noexcept
      : tables_(&tables),
        n_(n),
        words_per_index_((tables.sparse() ? 2.0 : 1.0) * tables.rate / (1.0 - tables.overflow) /
                         alias_field::per_word) {}

  WordSupply supply(Stream& stream) const noexcept {
    return {stream, tables_->sparse() ? 2 * alias_field::words : alias_field::words, wanted(0)};
  }

  // Writes the members and returns their number; stops early, with a number above `most`, if there are more.
  // `out` has room for most + most_at_once.
  std::size_t draw(WordSupply& supply, std::size_t most, std::uint32_t* out) const noexcept {
    ProcessPlace place{0, 0, out};
    while (place.at < n_ && place.count <= most) {
      if (tables_->sparse())
        advance_sparse(supply, place);
      else
        advance(supply, place);
    }
    const std::size_t earlier = place.count < most_at_once ? 0 : place.count - most_at_once;
    return static_cast<std::size_t>(std::lower_bound(out + earlier, out + place.count, n_) - out);
  }

 private:
  static constexpr std::uint32_t more = alias_field::column, unsettled = alias_field::unsettled;
  using Outcomes = std::uint32_t[most_at_once];

  // Words that are used from an index on, on average, as far as a run may be long.
  std::size_t wanted(std::uint32_t at) const noexcept {
    constexpr double most = WordSupply::longest_run;
    return static_cast<std::size_t>(std::min(most, (n_ - at) * words_per_index_));
  }

  static std::uint32_t settled(const AliasTable& table, std::uint32_t outcome, WordSupply& supply) noexcept {
    return outcome & unsettled ? table.settle(outcome & alias_field::mask, supply) : outcome;
  }

  [[gnu::noinline]] void advance(WordSupply& supply, ProcessPlace& place) const noexcept {
    Outcomes gap;
    const WordSupply::Run run = supply.run(wanted(place.at));
    kernels().alias_outcomes(tables_->gap.entry.data(), run.words, run.size, gap);
    add(gap, run.size * alias_field::per_word, more, place,
        [&](std::size_t i) { return settled(tables_->gap, gap[i], supply); });
  }

  // A gap is below 2^24, so that the 96 of a run end below 2^32.
  [[gnu::noinline]] void advance_sparse(WordSupply& supply, ProcessPlace& place) const noexcept {
    constexpr int bits = alias_field::column_bits;
    Outcomes quotient, remainder, gap;
    const WordSupply::Run run = supply.run(wanted(place.at));
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

  // By eights where all gaps are settled.
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
  double words_per_index_;
};

}  // namespace pydpmc

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
  BernoulliProcess(const GapTables& tables, std::uint32_t n) noexcept : tables_(&tables), n_(n) {
    const double gaps = (tables.sparse() ? 2.0 : 1.0) * n * tables.rate / (1.0 - tables.overflow);
    words_ = static_cast<std::size_t>((gaps + 2.0 * std::sqrt(gaps)) / alias_field::per_word) + 1;
  }

  // More than a draw needs most of the time.
  std::size_t words() const noexcept { return words_; }

  // Writes the members and returns their number; stops early, with a number above `most`, if there are more.
  // `out` has room for most + most_at_once.
  std::size_t draw(WordSupply& supply, std::size_t most, std::uint32_t* out) const noexcept {
    Place place{0, 0, out};
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
  static constexpr std::uint32_t more = alias_field::column;

  struct Place {
    std::uint32_t at;  // the first index that is not decided
    std::size_t count;
    std::uint32_t* out;

    void step(std::uint32_t gap) noexcept {
      const std::uint32_t member = gap != more;
      out[count] = at + gap;
      count += member;
      at += gap + member;
    }
  };

  static std::uint32_t settled(const AliasTable& table, std::uint32_t outcome, WordSupply& supply) noexcept {
    return outcome & alias_field::unsettled ? settle(table, outcome, supply) : outcome;
  }

  // Rare, and kept out of the loops, which have no registers to spare.
  [[gnu::noinline]] static std::uint32_t settle(const AliasTable& table, std::uint32_t outcome,
                                                WordSupply& supply) noexcept {
    return table.settle(outcome & alias_field::mask, supply);
  }

  // Four gaps at a time, as running sums, if all are settled and end at a member.
  [[gnu::noinline]] void advance(WordSupply& supply, Place& place) const noexcept {
    typedef std::uint32_t Four __attribute__((vector_size(16)));
    typedef std::uint64_t Two __attribute__((vector_size(16)));
    std::uint32_t outcome[most_at_once];
    const WordSupply::Run run = supply.run();
    kernels().alias_outcomes(tables_->gap.entry.data(), run.words, run.size, outcome);
    Place p = place;
    Four last = Four{} + (p.at - 1);  // of the members, in every lane: a round trip to p.at would take longer
    for (std::size_t i = 0; i < run.size * alias_field::per_word; i += 4) {
      Four step;
      std::memcpy(&step, outcome + i, sizeof step);
      step += 1;
      const Two special = (Two)(step & ~more);
      if (special[0] | special[1]) [[unlikely]] {
        p.at = last[0] + 1;
        for (std::size_t j = i; j < i + 4; ++j) p.step(settled(tables_->gap, outcome[j], supply));
        last = Four{} + (p.at - 1);
        continue;
      }
      const Four zero{};
      step += __builtin_shufflevector(step, zero, 4, 0, 1, 2);
      step += __builtin_shufflevector(step, zero, 4, 4, 0, 1);
      const Four members = step + last;
      std::memcpy(p.out + p.count, &members, sizeof members);
      p.count += 4;
      last = __builtin_shufflevector(members, members, 3, 3, 3, 3);
    }
    p.at = last[0] + 1;
    place = p;
  }

  [[gnu::noinline]] void advance_sparse(WordSupply& supply, Place& place) const noexcept {
    std::uint32_t quotient[most_at_once / 2], remainder[most_at_once / 2];
    const WordSupply::Run run = supply.run();
    const std::size_t half = run.size / 2;
    kernels().alias_outcomes(tables_->gap.entry.data(), run.words, half, quotient);
    kernels().alias_outcomes(tables_->remainder.entry.data(), run.words + half, half, remainder);
    Place p = place;
    for (std::size_t i = 0; i < half * alias_field::per_word; ++i) {
      const std::uint64_t q = settled(tables_->gap, quotient[i], supply), member = q != more;
      const std::uint64_t r = settled(tables_->remainder, remainder[i], supply) & -member;
      const std::uint64_t at = p.at + (q << alias_field::column_bits) + r;
      p.out[p.count] = static_cast<std::uint32_t>(at);
      p.count += member & (at < n_);
      p.at = static_cast<std::uint32_t>(std::min<std::uint64_t>(at + member, n_));
    }
    place = p;
  }

  const GapTables* tables_;
  std::uint32_t n_;
  std::size_t words_;
};

}  // namespace pydpmc

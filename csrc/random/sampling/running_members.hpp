// Members of a Bernoulli process from the gaps between them. Compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "random/sampling/keep_unmarked.hpp"
#include "simd/words.hpp"

namespace pydpmc {

// The cursor of a Bernoulli process (random/sampling/bernoulli_process.hpp).
struct ProcessPlace {
  std::uint32_t at;  // the first index that is not decided
  std::size_t count;
  std::uint32_t* out;

  // A gap ends at a member, unless it is the outcome that leaves the gap open.
  void step(std::uint32_t gap, std::uint32_t open) noexcept {
    const std::uint32_t member = gap != open;
    out[count] = at + gap;
    count += member;
    at += gap + member;
  }
};

}  // namespace pydpmc

PYDPMC_ISA_BEGIN

// `upto` holds the sums of the words up to and including each one, `all` the total in every lane.
struct RunningSums {
  Words8 upto, all;

  PYDPMC_INLINE explicit RunningSums(Words8 v) noexcept {
    const Words8 zero{};
    v += __builtin_shufflevector(v, zero, 8, 0, 1, 2, 8, 4, 5, 6);
    v += __builtin_shufflevector(v, zero, 8, 8, 0, 1, 8, 8, 4, 5);
    const Words8 half = __builtin_shufflevector(v, zero, 3, 3, 3, 3, 7, 7, 7, 7);
    upto = v + __builtin_shufflevector(half, zero, 8, 8, 8, 8, 0, 1, 2, 3);
    all = half + __builtin_shufflevector(half, half, 4, 5, 6, 7, 0, 1, 2, 3);
  }
};

// Advances the cursor eight gaps at a time, up to the first eight with an undecided gap. Returns the number
// of gaps taken.
inline std::size_t running_members(const std::uint32_t* gap, std::size_t n, std::uint32_t open,
                                   ProcessPlace& place) noexcept {
  Words8 last = Words8{} + (place.at - 1);
  std::uint32_t* out = place.out + place.count;
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const Words8 gaps = load_words(gap + i);
    if (sign_bits(gaps)) break;
    const Words8 no_member = (Words8)(gaps == open);
    const RunningSums sums(gaps + 1 + no_member);
    out += keep_unmarked(out, last + sums.upto, sign_bits(no_member));
    last += sums.all;
  }
  place = {last[0] + 1, static_cast<std::size_t>(out - place.out), place.out};
  return i;
}

PYDPMC_ISA_END

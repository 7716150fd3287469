// How far a Bernoulli process is (random/sampling/bernoulli_process.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pydpmc {

struct ProcessPlace {
  std::uint32_t at;  // the first index that is not decided
  std::size_t count;
  std::uint32_t* out;

  // A gap ends at a member, unless it is the one that stays open.
  void step(std::uint32_t gap, std::uint32_t open) noexcept {
    const std::uint32_t member = gap != open;
    out[count] = at + gap;
    count += member;
    at += gap + member;
  }
};

}  // namespace pydpmc

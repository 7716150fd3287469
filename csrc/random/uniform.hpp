// Uniform integers, exactly, and uniform doubles in the open unit interval.
#pragma once

#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

// Exactly uniform on 0..n-1, n >= 1: multiply and reject (Lemire 2019, arXiv:1805.10941).
inline std::uint64_t below(Stream& stream, std::uint64_t n) noexcept {
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(stream.next64()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n
    while (static_cast<std::uint64_t>(product) < surplus) product = static_cast<Wide>(stream.next64()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

// (k + 1/2) 2^-52 with k uniform on 0..2^52-1: never 0, never 1, symmetric about 1/2, and exact; with one bit
// more, k + 1/2 would need 54 bits and the largest k would round to 1.
inline double open_unit(Stream& stream) noexcept {
  return (static_cast<double>(stream.next64() >> 12) + 0.5) * 0x1p-52;
}

}  // namespace pydpmc

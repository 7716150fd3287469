// xoshiro256++, for the portable limit kernels: fast, and nothing that privacy may rest on. Not library code.
#pragma once

#include <cstdint>

struct Xoshiro {
  uint64_t s[4];
  explicit Xoshiro(uint64_t seed) {
    for (uint64_t& word : s) {
      uint64_t z = seed += 0x9E3779B97F4A7C15;
      z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
      z = (z ^ z >> 27) * 0x94D049BB133111EB;
      word = z ^ z >> 31;
    }
  }
  static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }
  uint64_t next() {
    const uint64_t r = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = rotate(s[3], 45);
    return r;
  }
  double unit() { return (static_cast<double>(next() >> 12) + 0.5) * 0x1p-52; }
};

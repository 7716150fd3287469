// Closes the gaps that dropped members leave in a sample. Compiled once per instruction set.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "simd/words.hpp"

namespace pydpmc {

// Replaces a dropped member in a sample; no index is as large.
inline constexpr std::uint32_t dropped = 0xffffffff;

}  // namespace pydpmc

PYDPMC_ISA_BEGIN

#if defined(__AVX2__)
// For each set of lanes, the lanes that are not in it, in order, one per byte.
inline constexpr std::array<std::uint64_t, 256> lanes_left = [] {
  std::array<std::uint64_t, 256> left{};
  for (std::size_t gone = 0; gone < 256; ++gone)
    for (std::uint64_t lane = 0, place = 0; lane < 8; ++lane)
      if (!(gone >> lane & 1)) left[gone] |= lane << 8 * place++;
  return left;
}();
#endif

// Writes the words whose lanes are not in a set; returns their number. Up to eight words are overwritten.
PYDPMC_INLINE std::size_t keep_unmarked(std::uint32_t* to, Words8 v, unsigned gone) noexcept {
#if defined(__AVX2__)
  const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(lanes_left[gone])));
  store_words(to, (Words8)_mm256_permutevar8x32_epi32((__m256i)v, order));
  return 8 - static_cast<std::size_t>(std::popcount(gone));
#else
  std::size_t kept = 0;
  for (unsigned k = 0; k < 8; ++k) {
    to[kept] = v[k];
    kept += ~gone >> k & 1;
  }
  return kept;
#endif
}

// Removes dropped members; returns the number of those left.
inline std::size_t keep_unmarked(std::uint32_t* values, std::size_t n) noexcept {
  std::size_t kept = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    const Words8 v = load_words(values + i);
    kept += keep_unmarked(values + kept, v, sign_bits((Words8)(v == dropped)));
  }
  for (; i < n; ++i) {
    const std::uint32_t value = values[i];
    values[kept] = value;
    kept += value != dropped;
  }
  return kept;
}

PYDPMC_ISA_END

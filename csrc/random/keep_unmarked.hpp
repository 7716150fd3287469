// Closes the gaps that dropped members leave in a sample. Compiled once per instruction set.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "isa.hpp"
#include "random/dropped.hpp"

PYDPMC_ISA_BEGIN

#if defined(__AVX2__)
// The lanes that are not in a set of eight, in order, one to a byte.
inline constexpr std::array<std::uint64_t, 256> lanes_left = [] {
  std::array<std::uint64_t, 256> left{};
  for (std::size_t gone = 0; gone < 256; ++gone)
    for (std::uint64_t lane = 0, place = 0; lane < 8; ++lane)
      if (!(gone >> lane & 1)) left[gone] |= lane << 8 * place++;
  return left;
}();
#endif

// Removes dropped members; returns how many are left.
static std::size_t keep_unmarked(std::uint32_t* values, std::size_t n) noexcept {
  std::size_t kept = 0, i = 0;
#if defined(__AVX2__)
  for (; i + 8 <= n; i += 8) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values + i));
    const __m256i marked = _mm256_cmpeq_epi32(x, _mm256_set1_epi32(static_cast<int>(dropped)));
    const auto gone = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(marked)));
    const __m256i order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(lanes_left[gone])));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values + kept), _mm256_permutevar8x32_epi32(x, order));
    kept += 8 - static_cast<std::size_t>(std::popcount(gone));
  }
#endif
  for (; i < n; ++i) {
    const std::uint32_t value = values[i];
    values[kept] = value;
    kept += value != dropped;
  }
  return kept;
}

PYDPMC_ISA_END

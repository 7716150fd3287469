// The draws of rounded_normal that their first 48 bits decide, which are most, eight at a time. Compiled once
// per instruction set.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "random/noise/rounded_normal_table.hpp"
#include "simd/words.hpp"

PYDPMC_ISA_BEGIN
namespace normals {

using Table = RoundedNormalTable;

constexpr std::size_t together = 8;
typedef std::uint16_t Lanes16 __attribute__((vector_size(2 * together)));
typedef std::uint64_t Lanes64 __attribute__((vector_size(8 * together)));

// The low bits of the fraction's head are in the low 32, the rest in the high 16 below column and sign.
constexpr int low_head_bits = 32 - Table::cell_bits, high_head_bits = Table::head_bits - low_head_bits;
static_assert(low_head_bits > 0 && high_head_bits > 0 && high_head_bits + Table::columns_log2 == 15);

constexpr std::uint32_t ones(int bits) noexcept { return (std::uint32_t{1} << bits) - 1; }

PYDPMC_INLINE Words8 entries(const std::uint16_t* high) noexcept {
  std::uint32_t entry[together];
  for (std::size_t half = 0; half < together; half += 4) {
    std::uint64_t four;
    std::memcpy(&four, high + half, sizeof four);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < 4; ++k)
      entry[half + k] =
          rounded_normal_table.head_and_alias[four >> (16 * k + high_head_bits) & ones(Table::columns_log2)];
  }
  return load_words(entry);
}

// Writes the draws of eight candidates; returns which of them are undecided.
PYDPMC_INLINE std::uint64_t eight_candidates(const std::uint32_t* low_bits, const std::uint16_t* high_bits,
                                             std::int64_t* values) noexcept {
  const Words8 low = load_words(low_bits), entry = entries(high_bits);
  const Words8 high = __builtin_convertvector(unaligned<Lanes16>(high_bits), Words8);
  const Words8 head = low >> Table::cell_bits | (high & ones(high_head_bits)) << low_head_bits;
  const Words8 threshold = entry >> Table::columns_log2, alias = entry & ones(Table::columns_log2);
  const Words8 column = high >> high_head_bits & ones(Table::columns_log2);
  const Words8 piece = head < threshold ? column : alias;
  const Lanes64 cell = __builtin_convertvector(low & ones(Table::cell_bits), Lanes64);
  const Lanes64 bin = __builtin_convertvector(piece >> 1, Lanes64);
  const Lanes64 sign = 0 - __builtin_convertvector(high >> 15, Lanes64);
  const Lanes64 value = (bin << Table::cell_bits | cell) ^ sign;
  std::memcpy(values, &value, sizeof value);
  return sign_bits((Words8)(head == threshold) | (0 - (piece & 1)));
}

// The same for fewer than eight.
static std::uint64_t some_candidates(const std::uint32_t* low_bits, const std::uint16_t* high_bits,
                                     std::size_t count, std::int64_t* values) noexcept {
  std::uint32_t low[together] = {};
  std::uint16_t high[together] = {};
  std::int64_t eight[together];
  std::memcpy(low, low_bits, count * sizeof *low);
  std::memcpy(high, high_bits, count * sizeof *high);
  const std::uint64_t open = eight_candidates(low, high, eight);
  std::memcpy(values, eight, count * sizeof *eight);
  return open & ones(static_cast<int>(count));
}

}  // namespace normals

// Writes to values[i] the draw that high[i] and low[i] decide. Lists the undecided draws and returns their
// number.
static std::size_t normal_candidates(const std::uint32_t* low, const std::uint16_t* high, std::size_t count,
                                     std::int64_t* values, std::uint16_t* unsettled) noexcept {
  using namespace normals;
  constexpr std::size_t at_once = 64;  // the number of bits of `open`
  std::size_t listed = 0;
  for (std::size_t begin = 0; begin < count; begin += at_once) {
    const std::size_t end = count - begin < at_once ? count : begin + at_once;
    std::uint64_t open = 0;
    std::size_t i = begin;
    for (; i + together <= end; i += together)
      open |= eight_candidates(low + i, high + i, values + i) << (i - begin);
    if (i < end) open |= some_candidates(low + i, high + i, end - i, values + i) << (i - begin);
    for (; open; open &= open - 1)
      unsettled[listed++] =
          static_cast<std::uint16_t>(begin + static_cast<std::size_t>(std::countr_zero(open)));
  }
  return listed;
}

PYDPMC_ISA_END

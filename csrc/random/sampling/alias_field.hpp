// 21 bits of a random word: a column of an alias table (the low 12 bits) and the head of a long fraction (9
// bits). The rest of the fraction is drawn only if the head ties with the head of the column's threshold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pydpmc::alias_field {

inline constexpr int bits = 21, column_bits = 12;
inline constexpr std::size_t words = 8, per_word = 3;  // words at a time; outcomes per word
inline constexpr std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
inline constexpr std::uint32_t column = (std::uint32_t{1} << column_bits) - 1;
inline constexpr std::uint32_t unsettled = std::uint32_t{1} << 31;

}  // namespace pydpmc::alias_field

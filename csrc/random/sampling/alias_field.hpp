// 21 bits of a random word: a column of an alias table (12 bits, low) and the head of a long fraction (9
// bits), of which more is drawn only if it ties with the head of the column's threshold.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pydpmc::alias_field {

inline constexpr int bits = 21, column_bits = 12;
inline constexpr std::size_t words = 8, per_word = 3;  // taken at a time; outcomes of one
inline constexpr std::uint32_t mask = (std::uint32_t{1} << bits) - 1;
inline constexpr std::uint32_t column = (std::uint32_t{1} << column_bits) - 1;
inline constexpr std::uint32_t unsettled = std::uint32_t{1} << 31;

}  // namespace pydpmc::alias_field

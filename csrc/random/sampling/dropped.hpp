// What stands in a sample for a member that was dropped; no index is as large.
#pragma once

#include <cstdint>

namespace pydpmc {

inline constexpr std::uint32_t dropped = 0xffffffff;

}  // namespace pydpmc

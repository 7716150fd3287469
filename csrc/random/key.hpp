// The secret of a run: 256 bits, from the operating system or, for tests, from a seed.
#pragma once

#include <cstdint>

namespace pydpmc {

struct Key {
  std::uint32_t words[8];
};

// Throws std::runtime_error if the operating system gives no entropy; there is no other
// source.
Key key_from_os();

// For tests only: whoever knows the seed can subtract the noise.
Key key_from_seed(std::uint64_t seed) noexcept;

// Overwrites the key, even where the compiler can prove that nobody reads it again.
void wipe(Key& key) noexcept;

// Changes in the child of every fork. If a run keyed by the operating system sees another value than at its
// start, it is a copy of its parent and must take a new key before it draws.
std::uint64_t fork_generation() noexcept;

}  // namespace pydpmc

// The keys of cells: each samples its own records. Who knows one learns neither the others nor the root.
#pragma once

#include <cstdint>
#include <cstring>

#include "random/stream.hpp"

namespace pydpmc {

// The root itself if there is one cell, so that runs of one cell draw what they always drew.
inline Key cell_key(const Key& root, std::uint32_t cell, std::uint32_t cells) noexcept {
  if (cells == 1) return root;
  Stream stream(root, Purpose::cell, 0, cell);
  std::uint64_t words[4];
  stream.fill(words, 4);
  stream.forget_key();
  Key key;
  std::memcpy(key.words, words, sizeof key.words);
  return key;
}

}  // namespace pydpmc

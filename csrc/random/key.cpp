#include "random/key.hpp"

#include <stdexcept>

#include "random/chacha20.hpp"
#include "random/os_entropy.hpp"

namespace pydpmc {

Key key_from_os() {
  Key key;
  if (!os_entropy(key.words, sizeof key.words)) {
    wipe(key);
    throw std::runtime_error("the operating system gave no random bytes; refusing to draw without them");
  }
  return key;
}

Key key_from_seed(std::uint64_t seed) noexcept {
  // The text "pydpmc key from seed\0\0\0\0" follows the seed, so that a key from a seed does not equal a key
  // from the operating system, except with negligible probability.
  const std::uint32_t domain[8] = {static_cast<std::uint32_t>(seed),
                                   static_cast<std::uint32_t>(seed >> 32),
                                   0x70647970,
                                   0x6b20636d,
                                   0x66207965,
                                   0x206d6f72,
                                   0x64656573,
                                   0x00000000};
  const std::uint32_t nonce[3] = {0, 0, 0};
  std::uint32_t block[chacha20_words];
  chacha20_block(domain, 0, nonce, block);
  Key key;
  for (int i = 0; i < 8; ++i) key.words[i] = block[i];
  return key;
}

void wipe(Key& key) noexcept {
  volatile std::uint32_t* word = key.words;
  for (int i = 0; i < 8; ++i) word[i] = 0;
}

}  // namespace pydpmc

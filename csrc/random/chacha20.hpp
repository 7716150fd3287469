// The ChaCha20 block function of RFC 8439, section 2.3: one block, portable, for small draws.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace pydpmc {

inline constexpr std::size_t chacha20_words = 16;
inline constexpr std::uint32_t chacha20_constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

namespace chacha20_detail {

inline void quarter_round(std::uint32_t& a, std::uint32_t& b, std::uint32_t& c, std::uint32_t& d) noexcept {
  a += b, d = std::rotl(d ^ a, 16);
  c += d, b = std::rotl(b ^ c, 12);
  a += b, d = std::rotl(d ^ a, 8);
  c += d, b = std::rotl(b ^ c, 7);
}

inline void double_round(std::uint32_t x[chacha20_words]) noexcept {
  quarter_round(x[0], x[4], x[8], x[12]);
  quarter_round(x[1], x[5], x[9], x[13]);
  quarter_round(x[2], x[6], x[10], x[14]);
  quarter_round(x[3], x[7], x[11], x[15]);
  quarter_round(x[0], x[5], x[10], x[15]);
  quarter_round(x[1], x[6], x[11], x[12]);
  quarter_round(x[2], x[7], x[8], x[13]);
  quarter_round(x[3], x[4], x[9], x[14]);
}

}  // namespace chacha20_detail

inline void chacha20_block(const std::uint32_t key[8], std::uint32_t counter, const std::uint32_t nonce[3],
                           std::uint32_t out[chacha20_words]) noexcept {
  std::uint32_t start[chacha20_words];
  for (int i = 0; i < 4; ++i) start[i] = chacha20_constants[i];
  for (int i = 0; i < 8; ++i) start[4 + i] = key[i];
  start[12] = counter;
  for (int i = 0; i < 3; ++i) start[13 + i] = nonce[i];

  std::uint32_t x[chacha20_words];
  for (std::size_t i = 0; i < chacha20_words; ++i) x[i] = start[i];
  for (int round = 0; round < 20; round += 2) chacha20_detail::double_round(x);
  for (std::size_t i = 0; i < chacha20_words; ++i) out[i] = x[i] + start[i];
}

}  // namespace pydpmc

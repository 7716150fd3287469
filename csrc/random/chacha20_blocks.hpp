// The ChaCha20 key stream of RFC 8439, one block per vector lane. This file is compiled once per instruction
// set and has its own copy of the rounds, because the linker could merge an inline function shared with
// random/chacha20.hpp into the wrong copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN
namespace chacha20 {

#if defined(__AVX512F__)
constexpr std::size_t widest_lanes = 16;
#elif defined(__AVX2__)
constexpr std::size_t widest_lanes = 8;
#else
constexpr std::size_t widest_lanes = 4;
#endif
constexpr std::size_t narrowest_lanes = 4;
constexpr std::size_t words = 16;

template <std::size_t lanes>
struct Lanes {
  typedef std::uint32_t Vector __attribute__((vector_size(4 * lanes)));
  Vector x[words];

  template <int bits>
  static Vector rotate(Vector v) {
#if defined(__AVX2__) && !defined(__AVX512VL__)
    // One byte shuffle is faster than two shifts; for AVX-512 compilers find the rotate instruction.
    if constexpr (lanes == 8 && bits % 8 == 0) return rotate_bytes<bits / 8>(v);
#endif
    return (v << bits) | (v >> (32 - bits));
  }

  template <int n>
  static Vector rotate_bytes(Vector v) {
    typedef std::uint8_t Bytes __attribute__((vector_size(4 * lanes)));
    const Bytes b = (Bytes)v;
#define PYDPMC_WORD(w) 4 * w + (4 - n) % 4, 4 * w + (5 - n) % 4, 4 * w + (6 - n) % 4, 4 * w + (7 - n) % 4
    return (Vector)__builtin_shufflevector(b, b, PYDPMC_WORD(0), PYDPMC_WORD(1), PYDPMC_WORD(2),
                                           PYDPMC_WORD(3), PYDPMC_WORD(4), PYDPMC_WORD(5), PYDPMC_WORD(6),
                                           PYDPMC_WORD(7));
#undef PYDPMC_WORD
  }

  void quarter_round(int a, int b, int c, int d) {
    x[a] += x[b], x[d] = rotate<16>(x[d] ^ x[a]);
    x[c] += x[d], x[b] = rotate<12>(x[b] ^ x[c]);
    x[a] += x[b], x[d] = rotate<8>(x[d] ^ x[a]);
    x[c] += x[d], x[b] = rotate<7>(x[b] ^ x[c]);
  }

  void double_round() {
    for (int i = 0; i < 4; ++i) quarter_round(i, 4 + i, 8 + i, 12 + i);
    for (int i = 0; i < 4; ++i) quarter_round(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
  }
};

struct Start {
  std::uint32_t word[words];

  Start(const std::uint32_t key[8], std::uint32_t counter, const std::uint32_t nonce[3])
      : word{0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, key[0],  key[1],   key[2],   key[3],
             key[4],     key[5],     key[6],     key[7],     counter, nonce[0], nonce[1], nonce[2]} {}
};

// Transposes from one word per vector to one block per row, in pairs of words: half as many moves.
template <std::size_t lanes>
void write_transposed(const Lanes<lanes>& state, std::uint32_t* out, std::size_t wanted) {
  typedef std::uint64_t Pairs __attribute__((vector_size(4 * lanes)));
  alignas(4 * lanes) std::uint64_t tile[words / 2][2][lanes / 2];
  for (std::size_t p = 0; p < words / 2; ++p) {
    const Pairs low = (Pairs)state.x[2 * p], high = (Pairs)state.x[2 * p + 1];
    const Pairs even = (low & 0xffffffff) | (high << 32), odd = (low >> 32) | (high & ~0xffffffffULL);
    std::memcpy(tile[p][0], &even, sizeof even);
    std::memcpy(tile[p][1], &odd, sizeof odd);
  }
  for (std::size_t block = 0; block < wanted; ++block)
    for (std::size_t p = 0; p < words / 2; ++p)
      std::memcpy(out + block * words + 2 * p, &tile[p][block % 2][block / 2], 8);
}

// The same for all eight blocks, in registers: pairs, then fours, then eights.
inline void write_transposed(const Lanes<8>& state, std::uint32_t* out, std::size_t) {
  using Vector = Lanes<8>::Vector;
  for (std::size_t half = 0; half < words; half += 8) {
    Vector two[8], four[8];
    for (std::size_t k = 0; k < 8; k += 2) {
      const Vector a = state.x[half + k], b = state.x[half + k + 1];
      two[k] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
      two[k + 1] = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t from = k / 2 * 4 + k % 2;
      const Vector a = two[from], b = two[from + 2];
      four[k / 2 * 4 + k % 2 * 2] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      four[k / 2 * 4 + k % 2 * 2 + 1] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
    for (std::size_t block = 0; block < 4; ++block) {
      const Vector a = four[block], b = four[block + 4];
      const Vector low = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
      const Vector high = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
      std::memcpy(out + block * words + half, &low, sizeof low);
      std::memcpy(out + (block + 4) * words + half, &high, sizeof high);
    }
  }
}

// Makes blocks of `lanes` consecutive counters and writes the first `wanted` of them.
template <std::size_t lanes>
void write_group(const Start& start, std::uint32_t* out, std::size_t wanted) {
  using Vector = typename Lanes<lanes>::Vector;
  Vector first[words];
  for (std::size_t w = 0; w < words; ++w) first[w] = Vector{} + start.word[w];
  for (std::size_t lane = 0; lane < lanes; ++lane) first[12][lane] += static_cast<std::uint32_t>(lane);

  Lanes<lanes> state;
  for (std::size_t w = 0; w < words; ++w) state.x[w] = first[w];
  for (int round = 0; round < 20; round += 2) state.double_round();

  for (std::size_t w = 0; w < words; ++w) state.x[w] += first[w];
  write_transposed(state, out, wanted);
}

template <std::size_t lanes>
void write_blocks(Start& start, std::uint32_t* out, std::size_t blocks) {
  for (; blocks >= lanes; blocks -= lanes, out += lanes * words) {
    write_group<lanes>(start, out, lanes);
    start.word[12] += static_cast<std::uint32_t>(lanes);
  }
  if constexpr (lanes > narrowest_lanes)
    write_blocks<lanes / 2>(start, out, blocks);
  else if (blocks > 0)
    write_group<lanes>(start, out, blocks);
}

}  // namespace chacha20

static void chacha20_blocks(const std::uint32_t key[8], std::uint32_t counter, const std::uint32_t nonce[3],
                            std::uint32_t* out, std::size_t blocks) noexcept {
  chacha20::Start start(key, counter, nonce);
  chacha20::write_blocks<chacha20::widest_lanes>(start, out, blocks);
}

PYDPMC_ISA_END

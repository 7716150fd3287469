// A set of indices below n that yields its members in ascending order: a tree of bitmaps, 64 children a node.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pydpmc {

class IndexSet {
 public:
  explicit IndexSet(std::uint64_t n)
      : members_(words_for(n)), occupied_(words_for(members_.size())), top_(words_for(occupied_.size())) {}

  // False if the index was already there.
  bool insert(std::uint64_t index) noexcept {
    const std::uint64_t word = index >> 6, group = index >> 12, bit = bit_of(index);
    if (members_[word] & bit) return false;
    members_[word] |= bit;
    occupied_[group] |= bit_of(word);
    top_[index >> 18] |= bit_of(group);
    return true;
  }

  // Calls visit(index) in ascending order and empties the set, touching occupied nodes only.
  template <class Visit>
  void drain(Visit visit) noexcept {
    for (std::uint64_t t = 0; t < top_.size(); ++t)
      take_bits(top_[t], t, [&](std::uint64_t group) {
        take_bits(occupied_[group], group,
                  [&](std::uint64_t word) { take_bits(members_[word], word, visit); });
      });
  }

  // Calls visit(index) in ascending order for every index below n that is not in the set, and empties it.
  template <class Visit>
  void drain_complement(std::uint64_t n, Visit visit) noexcept {
    for (std::uint64_t word = 0; word < members_.size(); ++word) {
      std::uint64_t absent = ~members_[word];
      if (word == n >> 6) absent &= bit_of(n) - 1;
      take_bits(absent, word, visit);
      members_[word] = 0;
    }
    for (std::uint64_t& word : occupied_) word = 0;
    for (std::uint64_t& word : top_) word = 0;
  }

 private:
  static std::size_t words_for(std::uint64_t bits) noexcept {
    return static_cast<std::size_t>((bits + 63) / 64);
  }
  static std::uint64_t bit_of(std::uint64_t index) noexcept { return std::uint64_t{1} << (index & 63); }

  template <class Visit>
  static void take_bits(std::uint64_t& word, std::uint64_t position, Visit visit) noexcept {
    std::uint64_t rest = word;
    word = 0;
    for (; rest; rest &= rest - 1) visit(position << 6 | static_cast<std::uint64_t>(std::countr_zero(rest)));
  }

  std::vector<std::uint64_t> members_;   // bit i: is i a member
  std::vector<std::uint64_t> occupied_;  // bit w: has word w of members_ a member
  std::vector<std::uint64_t> top_;       // bit g: has word g of occupied_ a bit
};

}  // namespace pydpmc

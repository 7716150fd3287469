// How chains share threads, whatever a step does: in parallel, or one after the other with a team of
// threads inside each step. Also what every run does first: it takes a new key if it is in a forked
// child.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "random/key.hpp"
#include "threads/parallel.hpp"
#include "threads/stop.hpp"
#include "threads/team.hpp"

namespace pydpmc {

constexpr int most_threads = 256;
// Below this many records per thread, sharing a step costs more than it saves.
constexpr int64_t fewest_records_per_thread = 20000;

// Padding between numbers that different chains write.
constexpr size_t cache_line = 64;

// Numbers that share no cache line with later allocations, because chains run in parallel.
inline std::vector<double> apart(size_t size) {
  std::vector<double> numbers;
  numbers.reserve(size + 2 * cache_line / sizeof(double));
  numbers.resize(size);
  return numbers;
}

// The first address from `from` on that begins a cache line.
inline double* at_cache_line(double* from) noexcept {
  const uintptr_t address = reinterpret_cast<uintptr_t>(from);
  return from + (cache_line - address % cache_line) % cache_line / sizeof(double);
}

// Calls body(chain, team, first_thread) for each chain; `first_thread` is the team's first workspace.
template <class Body>
void for_each_chain(int64_t chains, int64_t n, int64_t block, int threads, bool steps_read_all_records,
                    const Stop& stop, const Body& body) {
  if (steps_read_all_records && chains < threads && n >= fewest_records_per_thread * threads) {
    Team team(n, block, threads, stop);
    const auto leader = [&] {
      for (int64_t c = 0; c < chains; ++c) body(static_cast<uint32_t>(c), team, 0);
      team.dismiss();
    };
    with_team(threads, leader, [&](int thread) { team.work(thread); });
    return;
  }
  for_each(chains, static_cast<int>(std::min<int64_t>(threads, chains)), [&](int thread, int64_t c) {
    Team alone(n, block, 1, stop);
    body(static_cast<uint32_t>(c), alone, thread);
  });
}

inline void rekey_after_fork(Key& key, bool key_is_secret, uint64_t& generation) {
  if (generation == fork_generation()) return;
  if (key_is_secret) key = key_from_os();
  generation = fork_generation();
}

}  // namespace pydpmc

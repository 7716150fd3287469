// A team of threads of the standard library, for the thread sanitizer: sums of many jobs, then a stop in the
// middle of one.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "threads/team.hpp"

namespace {

using namespace pydpmc;

constexpr int64_t records = 50000, block = 64;

void work_as(Team& team, int threads, const auto& leader) {
  std::vector<std::thread> workers;
  for (int k = 1; k < threads; ++k) workers.emplace_back([&team, k] { team.work(k); });
  leader();
  team.dismiss();
  for (std::thread& worker : workers) worker.join();
}

bool sums_are_right(int threads) {
  const Stop never;
  Team team(records, block, threads, never);
  std::vector<int64_t> value(records);
  bool right = true;
  work_as(team, threads, [&] {
    for (int64_t job = 1; job <= 200; ++job) {
      for (int64_t& v : value) v = job;  // a worker that is late would still be reading the last job's
      const RatioSum total = team.sum([&](int, int64_t begin, int64_t end) noexcept {
        RatioSum part;
        for (int64_t i = begin; i < end; ++i) part.sum += value[static_cast<size_t>(i)];
        return part;
      });
      right = right && total.sum == job * records;
    }
  });
  return right;
}

bool stops(int threads) {
  Stop stop;
  Team team(records, 1, threads, stop);
  std::atomic<int64_t> blocks{0};
  work_as(team, threads, [&] {
    std::thread other([&] {
      while (blocks.load() < 10) std::this_thread::yield();
      stop.request();
    });
    while (!stop.requested())
      team.sum([&](int, int64_t, int64_t) noexcept {
        ++blocks;
        return RatioSum{};
      });
    other.join();
  });
  return blocks >= 10;
}

}  // namespace

int main() {
  for (int threads : {1, 2, 4})
    if (!sums_are_right(threads) || !stops(threads)) {
      std::printf("wrong with %d threads\n", threads);
      return EXIT_FAILURE;
    }
  return EXIT_SUCCESS;
}

// Counts the blocks that a team works on after a stop: at most one for each thread.
#include <cstdio>
#include <cstdlib>

#include "threads/parallel.hpp"
#include "threads/team.hpp"

int main(int, char** argv) {
  using namespace pydpmc;
  const int threads = std::atoi(argv[1]);
  const int64_t blocks = 100000, last = 100;
  Stop stop;
  std::atomic<int64_t> before{0}, after{0};
  Team team(blocks * 8, 8, threads, stop);
  with_team(
      threads,
      [&] {
        team.sum([&](int, int64_t, int64_t) noexcept {
          ++(stop.requested() ? after : before);
          if (before == last) stop.request();
          return RatioSum{};
        });
        team.dismiss();
      },
      [&](int thread) { team.work(thread); });
  std::printf("%lld %lld\n", static_cast<long long>(before), static_cast<long long>(after));
}

// Sums over blocks of records by a leader and its workers. Threads claim blocks one by one from a counter, so
// that no thread waits at a barrier for one that the operating system suspended between blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "concepts.hpp"
#include "threads/stop.hpp"

namespace pydpmc {

inline void pause_briefly(int& patience) noexcept {
  constexpr int spins = 4000;
  if (++patience < spins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    return;
  }
  std::this_thread::yield();
}

class Team {
 public:
  Team(int64_t n, int64_t block, int threads, const Stop& stop)
      : n_(n),
        block_(block),
        blocks_((n + block - 1) / block),
        partial_(static_cast<size_t>(threads)),
        stop_(stop) {}

  // The sum of body(thread, begin, end) over all blocks; called by the leader, thread 0. After a stop request
  // the remaining blocks are skipped and the sum is meaningless.
  template <class Body>
  RatioSum sum(const Body& body) noexcept {
    if (partial_.size() == 1) return alone(body);
    for (Partial& p : partial_) p.sum = {};
    body_ = &body;
    call_ = [](const void* b, int thread, int64_t begin, int64_t end) noexcept {
      return (*static_cast<const Body*>(b))(thread, begin, end);
    };
    done_.store(0, std::memory_order_relaxed);
    next_.store(
        0, std::memory_order_release);  // opens the job: whoever claims a block sees everything set above
    claim_blocks(0);
    for (int patience = 0; done_.load(std::memory_order_acquire) < blocks_;) pause_briefly(patience);
    RatioSum total;
    for (const Partial& p : partial_) total += p.sum;
    return total;
  }

  int threads() const noexcept { return static_cast<int>(partial_.size()); }

  // A worker claims blocks of one job after another until the leader dismisses the team.
  void work(int thread) noexcept {
    for (int patience = 0; !dismissed_.load(std::memory_order_acquire);) {
      if (next_.load(std::memory_order_relaxed) < blocks_) {
        claim_blocks(thread);
        patience = 0;
      } else {
        pause_briefly(patience);
      }
    }
  }

  void dismiss() noexcept { dismissed_.store(true, std::memory_order_release); }

 private:
  struct alignas(64) Partial {
    RatioSum sum;
  };

  template <class Body>
  RatioSum alone(const Body& body) noexcept {
    RatioSum total;
    for (int64_t k = 0; k < blocks_ && !stop_.requested(); ++k) total += body(0, k * block_, end_of(k));
    return total;
  }

  void claim_blocks(int thread) noexcept {
    for (;;) {
      // A job ends only when every claimed block is done, so a claim always belongs to the current job.
      const int64_t k = next_.fetch_add(1, std::memory_order_acq_rel);
      if (k >= blocks_) return;
      if (!stop_.requested())
        partial_[static_cast<size_t>(thread)].sum += call_(body_, thread, k * block_, end_of(k));
      done_.fetch_add(1, std::memory_order_release);
    }
  }

  int64_t end_of(int64_t k) const noexcept { return (k + 1) * block_ < n_ ? (k + 1) * block_ : n_; }

  int64_t n_, block_, blocks_;
  std::vector<Partial> partial_;
  const Stop& stop_;
  const void* body_ = nullptr;
  RatioSum (*call_)(const void*, int, int64_t, int64_t) noexcept = nullptr;
  alignas(64) std::atomic<int64_t> next_{INT64_MAX / 2};  // closed until the first job
  alignas(64) std::atomic<int64_t> done_{0};
  alignas(64) std::atomic<bool> dismissed_{false};
};

}  // namespace pydpmc

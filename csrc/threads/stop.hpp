// A request to stop a run, made by another thread and read between blocks of records. It is final: the run
// drops the chunk of steps under way and makes no further step.
#pragma once

#include <atomic>

namespace pydpmc {

class Stop {
 public:
  void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const noexcept { return requested_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> requested_{false};
};

}  // namespace pydpmc

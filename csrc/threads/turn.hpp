// One thread at a time on a run: two that take the same step, or the same look, would draw the same noise,
// and the difference of what they release has none.
#pragma once

#include <atomic>
#include <stdexcept>

namespace pydpmc {

class Turns {
 public:
  bool take() noexcept { return !taken_.exchange(true, std::memory_order_acquire); }
  void give_back() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

class Turn {
 public:
  explicit Turn(Turns& turns) : turns_(turns) {
    if (!turns_.take()) throw std::runtime_error("another thread is advancing this run");
  }
  ~Turn() { turns_.give_back(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Turns& turns_;
};

}  // namespace pydpmc

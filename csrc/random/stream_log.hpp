// For tests: which streams were used, and how many words each gave. Nothing is logged unless a test asks for
// it, and the log holds no key.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace pydpmc {

struct StreamEntry {
  std::uint32_t purpose, chain;
  std::uint64_t step, words;
};

class StreamLog {
 public:
  void note(const StreamEntry& entry) {
    const std::lock_guard<std::mutex> guard(mutex_);
    entries_.push_back(entry);
  }

  std::vector<StreamEntry> take() {
    const std::lock_guard<std::mutex> guard(mutex_);
    return std::exchange(entries_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<StreamEntry> entries_;
};

inline std::atomic<StreamLog*> stream_log{nullptr};

}  // namespace pydpmc

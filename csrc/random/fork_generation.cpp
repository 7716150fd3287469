#include <atomic>

#include "random/key.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace pydpmc {

namespace {

std::atomic<std::uint64_t> generation{0};

#if !defined(_WIN32)
// Registered when the library is loaded, so no fork after that can be missed.
[[maybe_unused]] const int registered =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
#endif

}  // namespace

std::uint64_t fork_generation() noexcept { return generation.load(std::memory_order_relaxed); }

}  // namespace pydpmc

// The only parallel regions: chains in parallel, or a team of threads that shares the blocks of a step.
// Because sums are of integers, both give the same bits as one thread.
#pragma once

#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace pydpmc {

inline bool has_openmp() noexcept {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

inline int hardware_threads() noexcept {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

// Calls body(thread, item) for every item, in any order.
template <class Body>
void for_each(int64_t items, [[maybe_unused]] int threads, const Body& body) noexcept {
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < items; ++i) body(omp_get_thread_num(), i);
    return;
  }
#endif
  for (int64_t i = 0; i < items; ++i) body(0, i);
}

// Runs leader() on one thread while each of the others runs worker(thread).
template <class Leader, class Worker>
void with_team([[maybe_unused]] int threads, const Leader& leader,
               [[maybe_unused]] const Worker& worker) noexcept {
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      if (omp_get_thread_num() == 0)
        leader();
      else
        worker(omp_get_thread_num());
    }
    return;
  }
#endif
  leader();
}

}  // namespace pydpmc

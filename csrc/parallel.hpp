// The only parallel regions: chains beside each other, or blocks of records inside one step.
// Integer sums make both give the same bits as one thread.
#pragma once

#include <cstdint>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "concepts.hpp"

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

// body(thread, item) for every item.
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

// Sum of body(thread, begin, end) over blocks of records.
template <class Body>
RatioSum sum_blocks(int64_t n, int64_t block, [[maybe_unused]] int threads, const Body& body) noexcept {
  const int64_t blocks = (n + block - 1) / block;
  RatioSum total;
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      RatioSum mine;
#pragma omp for schedule(dynamic, 1) nowait
      for (int64_t k = 0; k < blocks; ++k) {
        const int64_t begin = k * block, end = begin + block < n ? begin + block : n;
        mine += body(omp_get_thread_num(), begin, end);
      }
#pragma omp critical(pydpmc_sum_blocks)
      total += mine;
    }
    return total;
  }
#endif
  for (int64_t k = 0; k < blocks; ++k) {
    const int64_t begin = k * block, end = begin + block < n ? begin + block : n;
    total += body(0, begin, end);
  }
  return total;
}

}  // namespace pydpmc

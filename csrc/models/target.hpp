// What every run has: a target, and an array for its draws.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "concepts.hpp"
#include "models/prior.hpp"

namespace pydpmc {

struct Target {
  Records records;
  ModelSpec model;
  Prior prior;
};

// Where iterates are written: draws[chain][kept][dim], every `thin`-th one after `warmup` steps.
struct Draws {
  double* out;
  int64_t warmup, thin, kept;

  void record(const std::vector<double>& theta, uint32_t chain, int64_t steps_done) const noexcept {
    const int64_t past = steps_done - warmup;
    if (past <= 0 || past % thin != 0 || past / thin > kept) return;
    const size_t row =
        static_cast<size_t>(chain) * static_cast<size_t>(kept) + static_cast<size_t>(past / thin - 1);
    std::copy(theta.begin(), theta.end(), out + row * theta.size());
  }
};

}  // namespace pydpmc

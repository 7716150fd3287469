// A likelihood that a user wrote: functions of pydpmc/model.h, called for blocks of records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "concepts.hpp"
#include "pydpmc/model.h"

namespace pydpmc {

struct UserModel : OwnModel {
  pydpmc_function loglik = nullptr;
  pydpmc_function gradient = nullptr;  // null if samplers that need none are the only ones
  void* loglik_user = nullptr;
  void* gradient_user = nullptr;
  int64_t block = 1;  // records of every call: a shorter block is padded with zeros
};

// The scratch memory of a block, in doubles: where each part begins, and the end. Blocks longer than one
// record have a second place for their rows, so that each can be tried by itself.
struct BlockLayout {
  int64_t targets, voids, first, second, out, group, aside, end;

  BlockLayout(int64_t block, int64_t columns, int64_t dim) noexcept
      : targets(block * columns),
        voids(targets + block),
        first(voids + block),
        second(first + block),
        out(second + block),
        group(out + block * dim),
        aside(group + (dim + 7) / 8 * 8 + 8),
        end(aside + (block == 1 ? 0 : block * (columns + 1))) {}
};

const KernelTable& user_kernels() noexcept;  // of the instruction set in use: isa/user_dispatch.cpp

}  // namespace pydpmc

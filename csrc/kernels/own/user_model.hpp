// A likelihood that a user wrote: functions of pydpmc/model.h, called for blocks of records.
#pragma once

#include <cstddef>
#include <cstdint>

#include "concepts.hpp"
#include "pydpmc/model.h"

namespace pydpmc {

struct UserModel : OwnModel {
  // Numbers that a call writes for a record.
  static int64_t width(int64_t dim, bool has_roots) noexcept { return has_roots ? (1 + dim) * dim : dim; }

  pydpmc_function loglik = nullptr;
  pydpmc_function gradient = nullptr;  // null if samplers that need none are the only ones
  pydpmc_function roots = nullptr;  // the gradient and a root of the curvature: 1 + dim rows for each record
  void* loglik_user = nullptr;
  void* gradient_user = nullptr;
  void* roots_user = nullptr;
  int64_t block = 1;  // records of every call: a shorter block is padded with zeros
};

// How many records' gradients wait to be added up, where a call has one record: a vector that is read right
// after its parts were written is read slowly.
constexpr int64_t waiting_records = 16;

// The scratch memory of a block, in doubles: where each part begins, and the end. Features, targets and theta
// follow each other, so that they can be handed over as one array. Blocks longer than one record have a
// second place for their rows, so that each can be tried by itself.
struct BlockLayout {
  int64_t targets, theta, voids, first, second, out, group, aside, end;

  // `width` is how many numbers a call writes for a record.
  BlockLayout(int64_t block, int64_t columns, int64_t dim, int64_t width) noexcept
      : targets(block * columns),
        theta(targets + block),
        voids(theta + (dim + 7) / 8 * 8),
        first(voids + block),
        second(first + block),
        out(second + block),
        group(out + (block == 1 ? waiting_records : block) * width),
        aside(group + (dim + 7) / 8 * 8 + 8),
        end(aside + (block == 1 ? 0 : block * (columns + 1))) {}
};

struct LookKernels;                               // kernels/curvature/look_grid.hpp
const LookKernels& user_look_kernels() noexcept;  // of the instruction set in use
const KernelTable& user_kernels() noexcept;       // of the instruction set in use: isa/user_dispatch.cpp

}  // namespace pydpmc

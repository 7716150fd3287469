// The kernels of networks, of the instruction set that is in use.
#pragma once

#include <cstdint>

#include "isa/dispatch.hpp"

namespace pydpmc {

struct NetworkKernels {
  decltype(KernelTable::gradient_sums) gradient_sums;
  decltype(KernelTable::log_likelihoods) log_likelihoods;
  // Weights [inputs][outputs] as `rows` wants them, in panels of sixteen outputs.
  void (*pack)(const float* weights, int inputs, int outputs, float* packed) noexcept;
  // out[r] = in[r] times the packed weights; columns of `out` are padded to whole panels.
  void (*rows)(const float* in, std::int64_t rows, int inputs, const float* packed, int outputs,
               float* out) noexcept;
};

const NetworkKernels& network_kernels() noexcept;

// A table for OwnModel::kernels. Its other loops must not be called: bind/target.hpp refuses such runs.
const KernelTable& network_kernel_table() noexcept;

}  // namespace pydpmc

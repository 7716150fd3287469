// Compiled once per instruction set (see CMakeLists.txt): the loops over records of a network, and products
// of matrices whose rows do not depend on each other.
#include "isa/network_dispatch.hpp"
#include "kernels/network/network_sums.hpp"

PYDPMC_ISA_BEGIN

inline void independent_rows(const float* in, std::int64_t rows, int inputs, const float* packed, int outputs,
                             float* out) noexcept {
  constexpr std::int64_t block = 4096;
  const size_t from = static_cast<size_t>(inputs), to = whole_panels(outputs);
  for (std::int64_t r = 0; r < rows; r += block)
    multiply({in + static_cast<size_t>(r) * from, from, 1},
             static_cast<int>(rows - r < block ? rows - r : block), packed_weights(packed, inputs), inputs,
             outputs, {nullptr, 0}, out + static_cast<size_t>(r) * to, to);
}

inline void pack(const float* weights, int inputs, int outputs, float* packed) noexcept {
  pack_weights(packed, inputs, outputs, [&](int k, int j) {
    return weights[static_cast<size_t>(k) * static_cast<size_t>(outputs) + static_cast<size_t>(j)];
  });
}

extern const NetworkKernels network_table;
const NetworkKernels network_table{network_gradient_sums, network_log_likelihoods, pack, independent_rows};

PYDPMC_ISA_END

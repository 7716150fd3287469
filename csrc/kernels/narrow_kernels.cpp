// Compiled once per instruction set (see CMakeLists.txt): the sums of clipped gradients of rows in few bits.
#include "isa/dispatch.hpp"
#include "kernels/gradient/narrow_gradient.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const NarrowKernels narrow_kernels;
const NarrowKernels narrow_kernels{narrow_sums};

PYDPMC_ISA_END

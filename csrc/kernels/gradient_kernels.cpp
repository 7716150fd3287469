// Compiled once per instruction set (see CMakeLists.txt): the sums of clipped gradients.
#include "kernels/gradient/gradient_kernels.hpp"

#include "isa/dispatch.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const GradientKernels gradient_kernels;
const GradientKernels gradient_kernels{gradient_sums, squared_norms};

PYDPMC_ISA_END

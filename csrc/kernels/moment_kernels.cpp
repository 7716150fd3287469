// Compiled once per instruction set (see CMakeLists.txt): the sums of gradients and their outer products.
#include "isa/dispatch.hpp"
#include "kernels/gradient/second_moment.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const MomentKernels moment_kernels;
const MomentKernels moment_kernels{moment_sums};

PYDPMC_ISA_END

// Compiled once per instruction set (see CMakeLists.txt): the loops over records of the Barker test.
#include "isa/dispatch.hpp"
#include "kernels/ratio/group_ratio.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const RatioKernels ratio_kernels;
const RatioKernels ratio_kernels{log_likelihoods, full_ratio, batch_ratio};

PYDPMC_ISA_END

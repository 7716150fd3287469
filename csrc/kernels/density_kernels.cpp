// Compiled once per instruction set (see CMakeLists.txt): the loops over records of NUTS.
#include "isa/dispatch.hpp"
#include "kernels/ratio/density.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const DensityKernels density_kernels;
const DensityKernels density_kernels{log_density};

PYDPMC_ISA_END

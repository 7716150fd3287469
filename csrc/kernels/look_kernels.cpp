// Compiled once per instruction set (see CMakeLists.txt): the loops over records of a look.
#include "kernels/curvature/look.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const LookKernels look_table;
const LookKernels look_table{look_sums};

PYDPMC_ISA_END

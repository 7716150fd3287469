// Compiled once per instruction set (see CMakeLists.txt): what turns random words into samples and noise.
#include "isa/dispatch.hpp"
#include "random/chacha20_blocks.hpp"
#include "random/noise/normal_candidates.hpp"
#include "random/sampling/alias_outcomes.hpp"
#include "random/sampling/keep_unmarked.hpp"
#include "random/sampling/running_members.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

extern const RandomKernels random_kernels;
const RandomKernels random_kernels{chacha20_blocks, alias_outcomes, running_members, keep_unmarked,
                                   normal_candidates};

PYDPMC_ISA_END

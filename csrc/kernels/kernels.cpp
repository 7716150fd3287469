// Compiled once per instruction set (see CMakeLists.txt): all loops over records but those of a look.
#include "isa/dispatch.hpp"
#include "kernels/gradient/gradient_kernels.hpp"
#include "kernels/gradient/narrow_gradient.hpp"
#include "kernels/gradient/second_moment.hpp"
#include "kernels/ratio/density.hpp"
#include "kernels/ratio/group_ratio.hpp"
#include "random/chacha20_blocks.hpp"
#include "random/noise/normal_candidates.hpp"
#include "random/sampling/alias_outcomes.hpp"
#include "random/sampling/keep_unmarked.hpp"
#include "random/sampling/running_members.hpp"
#include "simd/isa.hpp"

#define PYDPMC_STRING(x) #x
#define PYDPMC_NAME(x) PYDPMC_STRING(x)

PYDPMC_ISA_BEGIN

extern const KernelTable table;
const KernelTable table{PYDPMC_NAME(PYDPMC_ISA), chacha20_blocks, alias_outcomes,
                        running_members,         keep_unmarked,   normal_candidates,
                        log_likelihoods,         full_ratio,      batch_ratio,
                        gradient_sums,           narrow_sums,     moment_sums,
                        squared_norms,           log_density};

PYDPMC_ISA_END

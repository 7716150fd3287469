// Compiled once per instruction set (see CMakeLists.txt): the only code that loops over records.
#include "dispatch.hpp"
#include "isa.hpp"
#include "kernels/density.hpp"
#include "kernels/gradient_kernels.hpp"
#include "kernels/group_ratio.hpp"
#include "kernels/narrow_gradient.hpp"
#include "kernels/second_moment.hpp"
#include "random/alias_outcomes.hpp"
#include "random/chacha20_blocks.hpp"
#include "random/keep_unmarked.hpp"
#include "random/normal_candidates.hpp"
#include "random/running_members.hpp"

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

// Compiled once per instruction set (see CMakeLists.txt): the loops over records of models that users write.
#include "isa/dispatch.hpp"
#include "kernels/own/user_gradient.hpp"
#include "kernels/own/user_ratio.hpp"

#define PYDPMC_STRING(x) #x
#define PYDPMC_NAME(x) PYDPMC_STRING(x)

PYDPMC_ISA_BEGIN

// A model has loops over its records alone; random numbers come from the table of kernels.cpp.
extern const KernelTable user_table;
const KernelTable user_table{.isa = PYDPMC_NAME(PYDPMC_ISA),
                             .chacha20_blocks = nullptr,
                             .alias_outcomes = nullptr,
                             .running_members = nullptr,
                             .keep_unmarked = nullptr,
                             .normal_candidates = nullptr,
                             .log_likelihoods = user_log_likelihoods,
                             .full_ratio = user_full_ratio,
                             .batch_ratio = user_batch_ratio,
                             .gradient_sums = user_gradient_sums,
                             .narrow_sums = nullptr,
                             .moment_sums = user_moment_sums,
                             .squared_norms = nullptr,
                             .log_density = user_log_density};

PYDPMC_ISA_END

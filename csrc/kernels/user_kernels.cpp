// Compiled once per instruction set (see CMakeLists.txt): the loops over records of models that users write.
#include "isa/dispatch.hpp"
#include "kernels/own/user_gradient.hpp"
#include "kernels/own/user_look.hpp"
#include "kernels/own/user_ratio.hpp"

#define PYDPMC_STRING(x) #x
#define PYDPMC_NAME(x) PYDPMC_STRING(x)

PYDPMC_ISA_BEGIN

// A model has loops over its records alone; random numbers come from random_kernels.cpp.
extern const KernelTable user_table;
const KernelTable user_table{{},
                             {user_log_likelihoods, user_full_ratio, user_batch_ratio},
                             {user_gradient_sums, nullptr},
                             {},
                             {},
                             {user_moment_sums},
                             {user_log_density},
                             PYDPMC_NAME(PYDPMC_ISA)};

extern const LookKernels user_look_table;
const LookKernels user_look_table{user_look_sums};

PYDPMC_ISA_END

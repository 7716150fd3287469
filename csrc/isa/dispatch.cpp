#include "isa/dispatch.hpp"

#include <atomic>
#include <cstdlib>

#include "isa/measure.hpp"

namespace pydpmc {

// The passes of one instruction set. These are constants: nothing compiled for an instruction set runs before
// it is chosen.
#define PYDPMC_KERNELS_OF(isa_name)                                                               \
  namespace isa_name {                                                                            \
  extern const RandomKernels random_kernels;                                                      \
  extern const RatioKernels ratio_kernels;                                                        \
  extern const GradientKernels gradient_kernels;                                                  \
  extern const ChainKernels chain_kernels;                                                        \
  extern const NarrowKernels narrow_kernels;                                                      \
  extern const MomentKernels moment_kernels;                                                      \
  extern const DensityKernels density_kernels;                                                    \
  static const KernelTable& table() {                                                             \
    static const KernelTable all{random_kernels, ratio_kernels,  gradient_kernels, chain_kernels, \
                                 narrow_kernels, moment_kernels, density_kernels,  #isa_name};    \
    return all;                                                                                   \
  }                                                                                               \
  }

PYDPMC_KERNELS_OF(baseline)
#ifdef PYDPMC_HAVE_avx2
PYDPMC_KERNELS_OF(avx2)
#endif
#ifdef PYDPMC_HAVE_avx512
PYDPMC_KERNELS_OF(avx512)
#endif

namespace {

std::vector<const KernelTable*> runnable() {
  std::vector<const KernelTable*> found{&baseline::table()};
#ifdef PYDPMC_HAVE_avx2
  if (__builtin_cpu_supports("avx2")) found.push_back(&avx2::table());
#endif
#ifdef PYDPMC_HAVE_avx512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    found.push_back(&avx512::table());
#endif
  return found;
}

const KernelTable* find(const std::string& isa) {
  for (const KernelTable* t : runnable())
    if (isa == t->isa) return t;
  return nullptr;
}

const KernelTable* choose() {
  const char* wanted = std::getenv("PYDPMC_ISA");
  const KernelTable* named = wanted ? find(wanted) : nullptr;
  return named ? named : fastest(runnable());
}

std::atomic<const KernelTable*>& current() {
  static std::atomic<const KernelTable*> table{choose()};
  return table;
}

}  // namespace

const KernelTable& kernels() { return *current().load(std::memory_order_relaxed); }

std::vector<std::string> available_isas() {
  std::vector<std::string> names;
  for (const KernelTable* t : runnable()) names.emplace_back(t->isa);
  return names;
}

bool use_isa(const std::string& isa) {
  const KernelTable* t = find(isa);
  if (t) current().store(t);
  return t != nullptr;
}

}  // namespace pydpmc

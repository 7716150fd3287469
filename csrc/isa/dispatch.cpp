#include "isa/dispatch.hpp"

#include <atomic>
#include <cstdlib>

namespace pydpmc {

namespace baseline {
extern const KernelTable table;
}
#ifdef PYDPMC_HAVE_avx2
namespace avx2 {
extern const KernelTable table;
}
#endif
#ifdef PYDPMC_HAVE_avx512
namespace avx512 {
extern const KernelTable table;
}
#endif

namespace {

std::vector<const KernelTable*> runnable() {
  std::vector<const KernelTable*> found{&baseline::table};
#ifdef PYDPMC_HAVE_avx2
  if (__builtin_cpu_supports("avx2")) found.push_back(&avx2::table);
#endif
#ifdef PYDPMC_HAVE_avx512
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    found.push_back(&avx512::table);
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
  return named ? named : runnable().back();
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

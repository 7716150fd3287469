#include "isa/network_dispatch.hpp"

#include <array>
#include <cstring>

namespace pydpmc {

namespace baseline {
extern const NetworkKernels network_table;
}
#ifdef PYDPMC_HAVE_avx2
namespace avx2 {
extern const NetworkKernels network_table;
}
#endif
#ifdef PYDPMC_HAVE_avx512
namespace avx512 {
extern const NetworkKernels network_table;
}
#endif

namespace {

KernelTable table_of(const char* isa, const NetworkKernels& kernels) {
  KernelTable table{};
  table.isa = isa;
  table.gradient_sums = kernels.gradient_sums;
  table.log_likelihoods = kernels.log_likelihoods;
  return table;
}

}  // namespace

const NetworkKernels& network_kernels() noexcept {
  [[maybe_unused]] const char* isa = kernels().isa;
#ifdef PYDPMC_HAVE_avx512
  if (std::strcmp(isa, "avx512") == 0) return avx512::network_table;
#endif
#ifdef PYDPMC_HAVE_avx2
  if (std::strcmp(isa, "avx2") == 0) return avx2::network_table;
#endif
  return baseline::network_table;
}

const KernelTable& network_kernel_table() noexcept {
  [[maybe_unused]] const char* isa = kernels().isa;
#ifdef PYDPMC_HAVE_avx512
  static const KernelTable widest = table_of("avx512", avx512::network_table);
  if (std::strcmp(isa, "avx512") == 0) return widest;
#endif
#ifdef PYDPMC_HAVE_avx2
  static const KernelTable wide = table_of("avx2", avx2::network_table);
  if (std::strcmp(isa, "avx2") == 0) return wide;
#endif
  static const KernelTable portable = table_of("baseline", baseline::network_table);
  return portable;
}

}  // namespace pydpmc

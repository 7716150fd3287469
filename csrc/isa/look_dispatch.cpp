#include <cstring>

#include "isa/dispatch.hpp"
#include "kernels/curvature/look_grid.hpp"

namespace pydpmc {

namespace baseline {
extern const LookKernels look_table;
}
#ifdef PYDPMC_HAVE_avx2
namespace avx2 {
extern const LookKernels look_table;
}
#endif
#ifdef PYDPMC_HAVE_avx512
namespace avx512 {
extern const LookKernels look_table;
}
#endif

const LookKernels& look_kernels() noexcept {
  [[maybe_unused]] const char* isa = kernels().isa;
#ifdef PYDPMC_HAVE_avx512
  if (std::strcmp(isa, "avx512") == 0) return avx512::look_table;
#endif
#ifdef PYDPMC_HAVE_avx2
  if (std::strcmp(isa, "avx2") == 0) return avx2::look_table;
#endif
  return baseline::look_table;
}

}  // namespace pydpmc

#include <cstring>

#include "isa/dispatch.hpp"
#include "kernels/curvature/look_grid.hpp"
#include "kernels/own/user_model.hpp"

namespace pydpmc {

namespace baseline {
extern const KernelTable user_table;
extern const LookKernels user_look_table;
}  // namespace baseline
#ifdef PYDPMC_HAVE_avx2
namespace avx2 {
extern const KernelTable user_table;
extern const LookKernels user_look_table;
}  // namespace avx2
#endif
#ifdef PYDPMC_HAVE_avx512
namespace avx512 {
extern const KernelTable user_table;
extern const LookKernels user_look_table;
}  // namespace avx512
#endif

const LookKernels& user_look_kernels() noexcept {
  [[maybe_unused]] const char* isa = kernels().isa;
#ifdef PYDPMC_HAVE_avx512
  if (std::strcmp(isa, "avx512") == 0) return avx512::user_look_table;
#endif
#ifdef PYDPMC_HAVE_avx2
  if (std::strcmp(isa, "avx2") == 0) return avx2::user_look_table;
#endif
  return baseline::user_look_table;
}

const KernelTable& user_kernels() noexcept {
  [[maybe_unused]] const char* isa = kernels().isa;
#ifdef PYDPMC_HAVE_avx512
  if (std::strcmp(isa, "avx512") == 0) return avx512::user_table;
#endif
#ifdef PYDPMC_HAVE_avx2
  if (std::strcmp(isa, "avx2") == 0) return avx2::user_table;
#endif
  return baseline::user_table;
}

}  // namespace pydpmc

#include "random/os_entropy.hpp"

#if defined(_WIN32)
#include <windows.h>
// bcrypt.h needs windows.h first
#include <bcrypt.h>
#elif defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#else
#include <sys/random.h>
#include <unistd.h>
#endif

namespace pydpmc {

#if defined(_WIN32)

bool os_entropy(void* out, std::size_t bytes) noexcept {
  return BCryptGenRandom(nullptr, static_cast<PUCHAR>(out), static_cast<ULONG>(bytes),
                         BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

#elif defined(__linux__)

// Makes the system call: the C library's getrandom may answer from user space, which a fork copies.
bool os_entropy(void* out, std::size_t bytes) noexcept {
  auto* next = static_cast<unsigned char*>(out);
  while (bytes > 0) {
    const long got = syscall(SYS_getrandom, next, bytes, 0U);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

#else

bool os_entropy(void* out, std::size_t bytes) noexcept { return getentropy(out, bytes) == 0; }

#endif

}  // namespace pydpmc

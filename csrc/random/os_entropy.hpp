// Random bytes from the operating system, all of them or none.
#pragma once

#include <cstddef>

namespace pydpmc {

// False if the operating system refused; `out` is then not random.
bool os_entropy(void* out, std::size_t bytes) noexcept;

}  // namespace pydpmc

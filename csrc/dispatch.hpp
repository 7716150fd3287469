// The kernels of one instruction set, and the choice between them at run time.
#pragma once

#include <string>
#include <vector>

namespace pydpmc {

struct KernelTable {
  const char* isa;
};

// The best table this CPU can run; PYDPMC_ISA in the environment names another (for tests).
const KernelTable& kernels();

// Names of all tables this CPU can run, best last.
std::vector<std::string> available_isas();

// Switches to the table of that name; false if this CPU or build lacks it.
bool use_isa(const std::string& isa);

}  // namespace pydpmc

// Which of several instruction sets is fastest here: wider vectors are not so on every CPU.
#pragma once

#include <vector>

#include "isa/dispatch.hpp"

namespace pydpmc {

// Times two passes over made-up records with each table; takes about a millisecond. All tables give the same
// bits, so that the choice changes nothing but the time. At equal speed the later table is chosen.
const KernelTable* fastest(const std::vector<const KernelTable*>& tables);

}  // namespace pydpmc

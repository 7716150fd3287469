// Everything compiled once per instruction set lives in its own namespace, so that the linker can never
// pick an AVX-512 copy of an inline function for a CPU that lacks it.
#pragma once

#ifndef PYDPMC_ISA
#define PYDPMC_ISA baseline
#endif

#define PYDPMC_ISA_BEGIN \
  namespace pydpmc {     \
  namespace PYDPMC_ISA {
#define PYDPMC_ISA_END \
  }                    \
  }

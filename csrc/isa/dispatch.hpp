// The kernels of one instruction set, and the choice between them at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "concepts.hpp"
#include "kernels/gradient/second_moments.hpp"

namespace pydpmc {

struct ProcessPlace;  // random/sampling/running_members.hpp

// The loops are compiled pass by pass (csrc/kernels/*.cpp), each pass once per instruction set.
struct RandomKernels {
  void (*chacha20_blocks)(const std::uint32_t key[8], std::uint32_t counter, const std::uint32_t nonce[3],
                          std::uint32_t* out, std::size_t blocks) noexcept;
  void (*alias_outcomes)(const std::uint32_t* entry, const std::uint64_t* words, std::size_t n,
                         std::uint32_t* out) noexcept;
  std::size_t (*running_members)(const std::uint32_t* gap, std::size_t n, std::uint32_t open,
                                 ProcessPlace& place) noexcept;
  std::size_t (*keep_unmarked)(std::uint32_t* values, std::size_t n) noexcept;
  std::size_t (*normal_candidates)(const std::uint32_t* low, const std::uint16_t* high, std::size_t count,
                                   std::int64_t* values, std::uint16_t* unsettled) noexcept;
};

struct RatioKernels {
  void (*log_likelihoods)(const ModelSpec&, const Records&, const double* theta, double* slopes,
                          std::int64_t begin, std::int64_t end, double* loglik) noexcept;
  RatioSum (*full_ratio)(const ModelSpec&, const Records&, const double* proposal, double* slopes,
                         std::int64_t begin, std::int64_t end, const double* current_loglik,
                         double* proposed_loglik, const Grid&) noexcept;
  RatioSum (*batch_ratio)(const ModelSpec&, const Records&, const double* current, const double* proposal,
                          double* slopes, const Batch&, const Grid&) noexcept;
};

struct GradientKernels {
  void (*gradient_sums)(const ModelSpec&, const Records&, const double* theta, double* slopes, const Batch&,
                        const GradientGrid&, std::int64_t* sums) noexcept;
  void (*squared_norms)(const Records&, double* squares) noexcept;
};

struct ChainKernels {
  // For records with sums_chains_at_once(): adds to sums[chain][dim] the gradients at thetas[chain][dim] of
  // the records begin .. end-1. `scratch` has chains_scratch() numbers.
  void (*chain_sums)(const ModelSpec&, const Records&, const double* thetas, int chains, double* scratch,
                     std::int64_t begin, std::int64_t end, const GradientGrid&, std::int64_t* sums) noexcept;
  // For records with tiles_of_run(): writes that many numbers.
  void (*write_tiles)(const ModelSpec&, const Records&, double* to) noexcept;
};

struct NarrowKernels {
  // For records with has_narrow_sums(), on a narrow_grid().
  void (*narrow_sums)(const ModelSpec&, const Records&, const double* theta, double* slopes, const Batch&,
                      const GradientGrid&, std::int64_t* sums) noexcept;
};

struct MomentKernels {
  void (*moment_sums)(const ModelSpec&, const Records&, const double* theta, double* slopes, const Batch&,
                      const GradientGrid&, const MomentGrid&, std::int64_t* sums) noexcept;
};

struct DensityKernels {
  void (*log_density)(const ModelSpec&, const Records&, const double* theta, double* slopes,
                      std::int64_t begin, std::int64_t end, const LoglikRange&, double* out) noexcept;
};

struct KernelTable : RandomKernels,
                     RatioKernels,
                     GradientKernels,
                     ChainKernels,
                     NarrowKernels,
                     MomentKernels,
                     DensityKernels {
  const char* isa;
};

// The fastest table here, measured once (isa/measure.hpp), or the one that PYDPMC_ISA names.
const KernelTable& kernels();

// The loops over records of this model.
inline const KernelTable& kernels_of(const ModelSpec& model) {
  return model.own ? *model.own->kernels : kernels();
}

// The names of all tables that this CPU can run, the widest vectors last.
std::vector<std::string> available_isas();

// Switches to the table of that name; returns false if this CPU or build lacks it.
bool use_isa(const std::string& isa);

}  // namespace pydpmc

// Compiled once per instruction set (see CMakeLists.txt): the sums of clipped gradients of several chains.
#include "isa/dispatch.hpp"
#include "kernels/gradient/tile_gradient.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

// Adds to sums[chain][dim], for at most most_chains_at_once chains.
inline void chain_sums(const ModelSpec& spec, const Records& records, const double* thetas, int chains,
                       double* scratch, int64_t begin, int64_t end, const GradientGrid& grid,
                       int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes) {
      ChainSums chain[most_chains_at_once];
      const size_t dim = static_cast<size_t>(spec.dim);
      for (int c = 0; c < chains; ++c, scratch += chain_scratch(spec)) {
        chain[c].p = Model::prepare(spec, thetas + static_cast<size_t>(c) * dim, scratch);
        chain[c].slopes = reinterpret_cast<uint64_t*>(scratch + prepared_size(spec));
        chain[c].clear(spec.columns);
      }
      const int64_t places =
          add_tiles<Model>(spec, table, records.squares, begin, end - begin, grid, chain, chains);
      for (int c = 0; c < chains; ++c) chain[c].move_to(sums + static_cast<size_t>(c) * dim, spec, places);
    }
  });
}

extern const ChainKernels chain_kernels;
const ChainKernels chain_kernels{chain_sums};

PYDPMC_ISA_END

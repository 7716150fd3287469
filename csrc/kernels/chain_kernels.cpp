// Compiled once per instruction set (see CMakeLists.txt): the sums of clipped gradients of several chains.
#include "isa/dispatch.hpp"
#include "kernels/gradient/coded_chains.hpp"
#include "kernels/gradient/tile_gradient.hpp"
#include "simd/isa.hpp"

PYDPMC_ISA_BEGIN

// Takes memory for `count` numbers from the front of the scratch memory.
inline double* taken(double*& scratch, size_t count) noexcept {
  scratch += count;
  return scratch - count;
}

// Adds to sums[chain][dim], for at most most_chains_at_once chains.
template <class Model, class Scalar>
inline void add_chains(const ModelSpec& spec, const Records& records, const Table<Scalar>& table,
                       const double* thetas, int chains, double* scratch, int64_t begin, int64_t end,
                       const GradientGrid& grid, int64_t* sums) noexcept {
  ChainSums chain[most_chains_at_once];
  const size_t columns = static_cast<size_t>(spec.columns);
  const int shift = spec.intercept ? 1 : 0, width = padded(chains);
  for (int c = 0; c < chains; ++c) {
    chain[c].p = Model::prepare(spec, thetas + c * spec.dim, taken(scratch, prepared_size(spec)));
    chain[c].slopes = nullptr;
    chain[c].firsts = chain[c].seconds = zero_i8();
  }
  if (records.coded) {
    CodedChains coded(records.coded, spec.columns, width, scratch);
    for (int c = 0; c < chains; ++c) coded.set_slopes(c, chain[c].p.slopes);
    add_coded_chains<Model>(spec, records.coded, begin, end, grid, width, coded, chain, chains);
    for (int c = 0; c < chains; ++c) {
      coded.move_to(c, end - begin, sums + c * spec.dim + shift);
      chain[c].move_scalars_to(sums + c * spec.dim, spec);
    }
    return;
  }
  for (int c = 0; c < chains; ++c) {
    chain[c].slopes = reinterpret_cast<uint64_t*>(taken(scratch, lanes * columns));
    for (int j = 0; j < spec.columns * native_lanes; ++j) chain[c].slopes[j] = 0;
  }
  const int64_t places =
      add_tiles<Model>(spec, table, records.squares, records.tiles, begin, end - begin, grid, chain, chains);
  for (int c = 0; c < chains; ++c) {
    chain[c].move_slopes_to(sums + c * spec.dim + shift, spec.columns, places);
    chain[c].move_scalars_to(sums + c * spec.dim, spec);
  }
}

inline void chain_sums(const ModelSpec& spec, const Records& records, const double* thetas, int chains,
                       double* scratch, int64_t begin, int64_t end, const GradientGrid& grid,
                       int64_t* sums) noexcept {
  with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes)
      add_chains<Model>(spec, records, table, thetas, chains, scratch, begin, end, grid, sums);
  });
}

inline void write_tiles(const ModelSpec& spec, const Records& records, double* to) noexcept {
  with_storage(records, [&]<class Scalar>(const Table<Scalar>& table) {
    const int64_t places = tile_records(records.columns);
    for (int64_t i = 0; i < records.n; i += places, to += tile_size(records.columns))
      write_tile(table, records.squares, i, static_cast<int>(std::min(places, records.n - i)),
                 spec.intercept ? 1 : 0, to);
  });
}

extern const ChainKernels chain_kernels;
const ChainKernels chain_kernels{chain_sums, write_tiles};

PYDPMC_ISA_END

// Ratios of consecutive records by blocks, bit for bit equal to kernels/ratio/ratio.hpp.
#pragma once

#include "kernels/block.hpp"
#include "kernels/ratio/tile_ratio.hpp"

PYDPMC_ISA_BEGIN

template <class Model, class Scalar>
[[gnu::noinline]] RatioSum block_ratio(const Table<Scalar>& table, const Prepared& p, int64_t begin,
                                       int64_t end, const double* current, double* proposed,
                                       const Grid& grid) noexcept {
  I8 total = zero_i8(), clipped = zero_i8();
  Block<Scalar> block(table);
  for (int64_t i = begin; i < end; i += block.most) {
    block.move_to(table, i, end);
    predict_block<Model>(table, p, block);
    int r = 0;
    for (; r + lanes <= block.count; r += lanes) {
      const F8 next = Model::loglik(load(block.eta + r), load(block.y + r), p);
      store(proposed + i + r, next);
      total = total + quantise(clip(next - load(current + i + r), grid, clipped), grid);
    }
    if (r < block.count) {
      double now[lanes], next[lanes];
      store(next, Model::loglik(load(block.eta + r), load(block.y + r), p));
      store(now, load(next));  // the lanes beyond the end get ratio zero
      copy(now, current + i + r, block.count - r);
      copy(proposed + i + r, next, block.count - r);
      total = total + quantise(clip(load(next) - load(now), grid, clipped), grid);
    }
  }
  return RatioSum{sum(total), 0, sum(clipped)};
}

// Where blocks are faster: with wide vectors for all but long rows, otherwise for short rows.
template <class Scalar>
PYDPMC_INLINE bool ratios_by_block(const Table<Scalar>& table) noexcept {
  constexpr int64_t short_row = 128;  // bytes
  return native_lanes == lanes ? makes_blocks(table)
                               : table.stride * static_cast<int64_t>(sizeof(Scalar)) <= short_row;
}

// Ratios of records begin .. end-1, as record_ratio gives them.
inline RatioSum consecutive_ratio(const ModelSpec& spec, const Records& records, const double* proposal,
                                  double* slopes, int64_t begin, int64_t end, const double* current,
                                  double* proposed, const Grid& grid) noexcept {
  return with_types(spec, records, [&]<class Model, class Scalar>(Model, const Table<Scalar>& table) {
    if constexpr (Model::has_slopes && Model::has_target && !Model::has_classes)
      if (records.tiles && begin % tile_records(spec.columns) == 0)
        return tile_ratio<Model>(records.tiles, spec.columns, Model::prepare(spec, proposal, slopes), begin,
                                 end, current, proposed, grid);
    if constexpr (!Model::has_classes)
      if (ratios_by_block(table))
        return block_ratio<Model>(table, Model::prepare(spec, proposal, slopes), begin, end, current,
                                  proposed, grid);
    return record_ratio(spec, records, proposal, slopes, begin, end, current, proposed, grid);
  });
}

PYDPMC_ISA_END

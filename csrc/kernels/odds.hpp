// The odds of some dozens of records, for models whose terms follow from them. All odds are computed first: a
// CPU keeps more records in flight if the chain of operations of each is shorter. The bits are the same.
#pragma once

#include "kernels/gradient/chains.hpp"
#include "models/prepared.hpp"

PYDPMC_ISA_BEGIN

template <class Model>
constexpr bool has_odds = requires(F8 eta) { Model::odds(eta); };

template <class Model>
class Odds {
 public:
  // Of the predictors eta[0 .. count-1], where `count` is at most most_tile_records; whole groups of eight
  // are read.
  PYDPMC_INLINE Odds(const double* eta, int count) noexcept {
    if constexpr (has_odds<Model>)
      for (int r = 0; r < count; r += lanes) {
        const Quotient odds = Model::odds(load(eta + r));
        store(above_ + r, odds.above);
        store(below_ + r, odds.below);
      }
  }

  // Those of the records r .. r+7.
  PYDPMC_INLINE Quotient at(int r) const noexcept { return {load(above_ + r), load(below_ + r)}; }

  PYDPMC_INLINE Score score(F8 eta, F8 y, int r, const Prepared& p) const noexcept {
    if constexpr (has_odds<Model>)
      return Model::score(eta, y, at(r));
    else
      return Model::score(eta, y, p);
  }

 private:
  static constexpr int size = has_odds<Model> ? most_tile_records : lanes;
  alignas(64) double above_[size], below_[size];
};

PYDPMC_ISA_END

// What a look must be before it is taken: shapes, headroom and tables of public numbers.
#pragma once

#include <cmath>
#include <optional>
#include <tuple>

#include "bind/target.hpp"
#include "kernels/curvature/terms.hpp"
#include "models/facts.hpp"
#include "query/newton_query.hpp"

namespace pydpmc {

constexpr double smallest = 0x1p-200, largest = 0x1p200;  // far from underflow and overflow of a grid step
constexpr int most_look_dim = 4096;
constexpr int most_groups = 64;
constexpr int64_t most_look_block = 4096;  // sums over so many records fit into 64 bits

inline bool has_look(ModelKind kind) {
  return PYDPMC_ISA::with_model(kind,
                                []<class Model>(Model) noexcept { return PYDPMC_ISA::has_terms<Model>; });
}

inline bool has_table(ModelKind kind) {
  return PYDPMC_ISA::with_model(kind,
                                []<class Model>(Model) noexcept { return PYDPMC_ISA::has_table<Model>; });
}

// A model of models/all.hpp, as a look can take it.
inline ModelSpec listed_look(const std::string& model, const Records& records, bool intercept,
                             std::array<double, 2> constants, int dim) {
  const ModelSpec spec = model_of(model, records, intercept, constants, dim);
  require(has_look(spec.kind), "the model has no look");
  const Facts& facts = facts_of(spec.kind);
  const int expected =
      facts.has_slopes ? spec.predictors * (records.columns + (intercept ? 1 : 0)) : facts.parameters;
  require(dim == expected, "a look needs theta of an intercept and slopes alone");
  return spec;
}

// A table of (w, v, h) row by row, the predictor of its first row, and its rows per unit of the predictor.
using TermTable = std::optional<std::tuple<Array, double, double>>;

// Requires a table of finite numbers, h >= 0, for the models that read one, and none for others.
inline void require_table(const LookSpec& spec, const ModelSpec& model) {
  require(has_table(model.kind) == !spec.table.empty(), "table is for models of counts, and they need one");
  if (spec.table.empty()) return;
  require(spec.table.size() % 3 == 0 && spec.table.size() >= 6, "table needs three columns and two rows");
  for (size_t k = 0; k < spec.table.size(); ++k)
    require(std::isfinite(spec.table[k]) && (k % 3 != 2 || spec.table[k] >= 0),
            "table must be finite, and its curvatures not negative");
  require(std::isfinite(spec.table_first) && spec.table_per_unit > 0 && spec.table_per_unit <= largest,
          "the table's predictors must be finite and ascending");
  require(spec.limits[0] >= 0 && spec.limits[1] >= 0, "limits must not be negative");
}

// Requires groups of a predictor that the model has, and that only what is summed is released: the squares of
// residuals, which no two groups share.
inline void require_groups(const LookSpec& spec, const ModelSpec& model) {
  require(!model.own && facts_of(model.kind).has_slopes && model.predictors == 1,
          "edges are for models with one predictor");
  require(static_cast<int>(spec.edges.size()) < most_groups, "there are too many groups");
  for (size_t k = 0; k < spec.edges.size(); ++k)
    require(std::isfinite(spec.edges[k]) && (k == 0 || spec.edges[k - 1] < spec.edges[k]),
            "edges must be finite and ascending");
  require(spec.outer, "a look at residuals by group releases their squares");
  require(spec.curvature_clip >= spec.clip * spec.clip * (1 - 1e-12),
          "curvature_clip must be the squared clip");
  for (size_t k = 0; k < spec.block_of.size(); ++k)
    require(spec.block_of[k] == static_cast<int>(k), "block_of must put every group into a block of its own");
}

// Requires that a record's integers stay below 2^50 and the rescaled sums within 128 bits. Public numbers
// alone decide this.
inline void require_look(const LookSpec& spec, const ModelSpec& model) {
  for (double x : {spec.clip, spec.sigma, spec.curvature_clip, spec.tau})
    require(x >= smallest && x <= largest, "clips and noise must lie between 2^-200 and 2^200");
  require(spec.clip / spec.sigma <= 0x1p17, "clip is too large for its noise");
  const double ratio = spec.curvature_clip / spec.tau;
  require(ratio >= 0x1p-60 && ratio <= 0x1p40, "curvature_clip is too large or too small for its noise");
  require(spec.largest_square > 0, "largest_square must be positive");
  require(static_cast<int>(spec.block_of.size()) == curvature_dim(summed_by(spec, model)),
          "block_of needs one entry per row of the curvature");
  require(!spec.outer || model.predictors == 1, "a softmax has no look at outer products");
  if (!spec.edges.empty()) require_groups(spec, model);
}

}  // namespace pydpmc

// The facts of every listed model, for code that has a ModelKind in place of the type. Kernels, which are
// compiled once per instruction set, have the type and do not use this.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "models/all.hpp"

namespace pydpmc {

struct Facts {
  std::string_view name;
  bool has_slopes, has_target, has_classes;
  int parameters;                                    // the length of theta, where there are no slopes
  double (*score_bound)(const ModelSpec&) noexcept;  // on |Score::first|; infinite if there is none
};

template <class Model>
constexpr Facts facts_of() noexcept {
  Facts facts{Model::name,
              Model::has_slopes,
              Model::has_target,
              Model::has_classes,
              0,
              [](const ModelSpec&) noexcept { return std::numeric_limits<double>::infinity(); }};
  if constexpr (!Model::has_slopes) facts.parameters = Model::parameters;
  if constexpr (requires(const ModelSpec& spec) { Model::score_bound(spec); })
    facts.score_bound = Model::score_bound;
  return facts;
}

inline constexpr auto facts_of_models = []<std::size_t... place>(std::index_sequence<place...>) {
  return std::array{facts_of<std::tuple_element_t<place, PYDPMC_ISA::Models>>()...};
}(std::make_index_sequence<PYDPMC_ISA::model_count>());

constexpr const Facts& facts_of(ModelKind kind) noexcept {
  return facts_of_models[static_cast<std::size_t>(kind)];
}

constexpr std::optional<ModelKind> model_named(std::string_view name) noexcept {
  for (std::size_t place = 0; place < facts_of_models.size(); ++place)
    if (facts_of_models[place].name == name) return static_cast<ModelKind>(place);
  return std::nullopt;
}

static_assert(
    [] {
      for (std::size_t place = 0; place < facts_of_models.size(); ++place)
        if (model_named(facts_of_models[place].name) != static_cast<ModelKind>(place)) return false;
      return true;
    }(),
    "two models in models/all.hpp have the same name");

}  // namespace pydpmc

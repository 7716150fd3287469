// The settings of a look as Python passes them, listed once for all methods that take them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/halves.hpp"
#include "bind/look_checks.hpp"
#include "query/newton_query.hpp"

namespace pydpmc {

inline LookSpec look_spec(double clip, double sigma, double curvature_clip, double tau, double largest_square,
                          const std::array<double, 2>& limits, bool outer, std::vector<int> block_of,
                          const TermTable& table, std::vector<double> edges) {
  LookSpec spec{
      clip, sigma, curvature_clip, tau, largest_square, {limits[0], limits[1]}, outer, std::move(block_of)};
  if (table) {
    const auto& [rows, first, per_unit] = *table;
    spec.table.assign(rows.data(), rows.data() + rows.size());
    spec.table_first = first;
    spec.table_per_unit = per_unit;
  }
  spec.edges = std::move(edges);
  return spec;
}

inline auto names_of_settings() {
  using pybind11::arg;
  return std::make_tuple(arg("clip"), arg("sigma"), arg("curvature_clip"), arg("tau"), arg("largest_square"),
                         arg("limits"), arg("outer"), arg("block_of"), arg("table") = pybind11::none(),
                         arg("edges") = std::vector<double>{});
}

template <class Run, class Result, class... Settings>
void bind_look(pybind11::class_<Run>& bound, const char* name,
               Result (Run::*method)(const std::vector<double>&, const LookSpec&, int, int64_t),
               const char* doc, LookSpec (*spec_of)(Settings...)) {
  const auto call = [method, spec_of](Run& run, const std::vector<double>& theta, Settings... settings,
                                      int threads, int64_t block) {
    return (run.*method)(theta, spec_of(std::forward<Settings>(settings)...), threads, block);
  };
  const auto define = [&](const auto&... names) {
    using pybind11::arg;
    bound.def(name, call, pybind11::kw_only(), arg("theta"), names..., arg("threads"), arg("block"), doc);
  };
  std::apply(define, names_of_settings());
}

template <class Run, class... Settings>
void bind_absorb(pybind11::class_<Run>& bound, Array (Run::*method)(const Sums&, const LookSpec&),
                 const char* doc, LookSpec (*spec_of)(Settings...)) {
  const auto call = [method, spec_of](Run& run, const Sums& sums, Settings... settings) {
    return (run.*method)(sums, spec_of(std::forward<Settings>(settings)...));
  };
  const auto define = [&](const auto&... names) {
    bound.def("absorb", call, pybind11::arg("sums").noconvert(), pybind11::kw_only(), names..., doc);
  };
  std::apply(define, names_of_settings());
}

}  // namespace pydpmc

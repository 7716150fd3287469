// Binds Target and Chains, from which every run is constructed.
#include "bind/target.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

void bind_target(py::module_& m) {
  using namespace pydpmc;
  py::class_<BoundTarget, std::shared_ptr<BoundTarget>>(m, "Target")
      .def(py::init([](RowsArray rows, int columns, bool has_target, std::string model, bool intercept,
                       std::array<double, 2> constants, Array prior, Starts group_start, Squares squares,
                       Coded coded, OwnModelHandle own, OwnPriorHandle own_prior, NetworkHandle network,
                       Weights weights) {
             return std::make_shared<BoundTarget>(TargetArguments{
                 std::move(rows), columns, has_target, std::move(model), intercept, constants,
                 std::move(prior), std::move(group_start), std::move(squares), std::move(coded),
                 std::move(own), std::move(own_prior), std::move(network), std::move(weights)});
           }),
           py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"), py::arg("has_target"),
           py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("prior"),
           py::arg("group_start").noconvert() = py::none(), py::arg("squares").noconvert() = py::none(),
           py::arg("coded").noconvert() = py::none(), py::arg("own") = py::none(),
           py::arg("own_prior") = py::none(), py::arg("network") = py::none(),
           py::arg("weights").noconvert() = py::none())
      .def("with_squares", &BoundTarget::with_squares, py::arg("squares").noconvert())
      .def("log_prior", &BoundTarget::log_prior_and_slopes, py::arg("theta"),
           "The log density of the prior at theta, up to a constant, and its gradient.")
      .def_property_readonly("model", [](const BoundTarget& t) { return t.given().model; })
      .def_property_readonly("intercept", [](const BoundTarget& t) { return t.given().intercept; })
      .def_property_readonly("constants", [](const BoundTarget& t) { return t.given().constants; })
      .def_property_readonly("prior", [](const BoundTarget& t) { return t.given().prior; });
  py::class_<BoundChains, std::shared_ptr<BoundChains>>(m, "Chains")
      .def(py::init<Array, Array, int64_t, int64_t, std::optional<uint64_t>>(), py::kw_only(),
           py::arg("init"), py::arg("draws").noconvert(), py::arg("warmup"), py::arg("thin"), py::arg("seed"))
      .def_property_readonly("init", &BoundChains::init)
      .def_property_readonly("draws", &BoundChains::draws)
      .def_property_readonly("warmup", &BoundChains::warmup)
      .def_property_readonly("thin", &BoundChains::thin)
      .def_property_readonly("seed", &BoundChains::seed);
}

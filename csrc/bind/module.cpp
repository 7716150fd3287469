// The table of contents of pydpmc._core.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "isa/dispatch.hpp"

namespace py = pybind11;

void bind_random(py::module_& m);
void bind_accounting(py::module_& m);
void bind_minibatch_profile(py::module_& m);
void bind_target(py::module_& m);
void bind_barker(py::module_& m);
void bind_gradients(py::module_& m);
void bind_langevin(py::module_& m);
void bind_kernels(py::module_& m);
void bind_passes(py::module_& m);
void bind_nuts(py::module_& m);
void bind_newton(py::module_& m);

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  m.doc() = "The compiled core of pydpmc. Private: use the package.";
  m.def("available_isas", &pydpmc::available_isas);
  m.def("isa", [] { return std::string(pydpmc::kernels().isa); });
  m.def("use_isa", &pydpmc::use_isa, py::arg("isa"));
  bind_random(m);
  bind_accounting(m);
  bind_minibatch_profile(m);
  bind_target(m);
  bind_barker(m);
  bind_gradients(m);
  bind_langevin(m);
  bind_kernels(m);
  bind_passes(m);
  bind_nuts(m);
  bind_newton(m);
}

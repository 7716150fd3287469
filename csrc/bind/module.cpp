// The table of contents of pydpmc._core.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "dispatch.hpp"

namespace py = pybind11;

void bind_accounting(py::module_& m);
void bind_minibatch_profile(py::module_&);

PYBIND11_MODULE(_core, m, py::mod_gil_not_used()) {
  m.doc() = "The compiled core of pydpmc. Private: use the package.";
  m.def("available_isas", &pydpmc::available_isas);
  m.def("isa", [] { return std::string(pydpmc::kernels().isa); });
  m.def("use_isa", &pydpmc::use_isa, py::arg("isa"));
  bind_accounting(m);
  bind_minibatch_profile(m);
}

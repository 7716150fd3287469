#include "accounting/minibatch_profile.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>

namespace py = pybind11;

namespace {

py::tuple minibatch_profile(std::vector<double> atoms, std::vector<double> weights, double c, double v_max,
                            double shift, double change, double x_max, const std::vector<double>& nodes,
                            double slack, std::size_t max_cells) {
  if (atoms.size() != weights.size()) throw std::invalid_argument("atoms and weights differ in length");
  if (!(v_max > 0 && v_max < c && shift > 0 && change >= 0 && x_max > 0))
    throw std::invalid_argument("need 0 < v_max < c, shift > 0, change >= 0 and x_max > 0");
  if (nodes.empty()) throw std::invalid_argument("nodes is empty");
  const pydpmc::AcceptBit bit{{std::move(atoms), std::move(weights)}, c, v_max, shift, change, x_max};
  std::vector<double> upper, attained;
  std::size_t cells = 0;
  {
    py::gil_scoped_release nogil;
    pydpmc::ProfileSearch search(bit, nodes, {slack, max_cells});
    upper = search.run();
    attained = search.attained();
    cells = search.cells();
  }
  return py::make_tuple(upper, attained, cells);
}

}  // namespace

void bind_minibatch_profile(py::module_& m) {
  m.def("minibatch_profile", &minibatch_profile, py::kw_only(), py::arg("atoms"), py::arg("weights"),
        py::arg("c"), py::arg("v_max"), py::arg("shift"), py::arg("change"), py::arg("x_max"),
        py::arg("nodes"), py::arg("slack") = 1e-3, py::arg("max_cells") = 400'000,
        "Upper bounds of h at the nodes, values of h that are attained (lower bounds), and the cells "
        "evaluated.");
}

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <stdexcept>

#include "accounting/backward_induction.hpp"
#include "accounting/convex_minorant.hpp"
#include "accounting/normal_law.hpp"

namespace py = pybind11;
using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;

namespace {

std::span<const double> view(const Doubles& a) { return {a.data(), static_cast<std::size_t>(a.size())}; }

Doubles convex_minorant_slopes(const Doubles& rises, const Doubles& widths) {
  if (rises.ndim() != 1 || widths.ndim() != 1 || rises.size() != widths.size())
    throw std::invalid_argument("rises and widths must be vectors of one length");
  Doubles slopes(rises.size());
  pydpmc::accounting::convex_minorant_slopes(
      view(rises), view(widths), {slopes.mutable_data(), static_cast<std::size_t>(slopes.size())});
  return slopes;
}

std::vector<double> bit_induction(double shift, std::size_t steps, int cells, std::size_t depth) {
  if (!(shift > 0.0 && shift <= 100.0) || steps < 1 || cells < 2 || cells % 2 != 0 || depth < 1)
    throw std::invalid_argument(
        "bit_induction needs 0 < shift <= 100, positive steps and depth, and an even number of cells");
  const py::gil_scoped_release nogil;
  pydpmc::accounting::BitInduction induction(shift, cells, depth);
  for (std::size_t n = 1; n <= steps; ++n) {
    const double share = std::sqrt(static_cast<double>(n) / static_cast<double>(steps));
    induction.step(static_cast<std::size_t>(share * static_cast<double>(depth)) +
                   4 * static_cast<std::size_t>(cells));
  }
  return induction.values(steps);
}

}  // namespace

void bind_accounting(py::module_& m) {
  m.def("normal_cdf", py::vectorize(pydpmc::accounting::normal_cdf), py::arg("t"));
  m.def("erfcx", py::vectorize(pydpmc::accounting::erfcx), py::arg("x"));
  m.def("convex_minorant_slopes", &convex_minorant_slopes, py::arg("rises"), py::arg("widths"));
  m.def(
      "bit_induction",
      [](double shift, std::size_t steps, int cells, std::size_t depth) {
        const std::vector<double> values = bit_induction(shift, steps, cells, depth);
        return Doubles(static_cast<py::ssize_t>(values.size()), values.data());
      },
      py::arg("shift"), py::arg("steps"), py::arg("cells"), py::arg("depth"));
}

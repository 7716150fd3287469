// pydpmc._core.random, second part: variates drawn from a stream.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "random/bernoulli.hpp"
#include "random/noise/logistic.hpp"
#include "random/noise/normal.hpp"
#include "random/stream.hpp"
#include "random/uniform.hpp"

namespace py = pybind11;
using namespace pydpmc;

void bind_rounded_normal(py::module_& m);
void bind_subsample(py::module_& m);

namespace {

template <class T, class Draw>
py::array_t<T> repeat(std::size_t size, Draw draw) {
  py::array_t<T> out(static_cast<py::ssize_t>(size));
  T* next = out.mutable_data();
  for (std::size_t i = 0; i < size; ++i) next[i] = draw();
  return out;
}

void bind_variates(py::module_& m) {
  m.def(
      "below",
      [](Stream& s, std::uint64_t n, std::size_t size) {
        if (n == 0) throw py::value_error("n must be at least 1");
        return repeat<std::uint64_t>(size, [&] { return below(s, n); });
      },
      py::arg("stream"), py::arg("n"), py::arg("size"));
  m.def(
      "open_unit",
      [](Stream& s, std::size_t size) { return repeat<double>(size, [&] { return open_unit(s); }); },
      py::arg("stream"), py::arg("size"));
  m.def(
      "logistic",
      [](Stream& s, std::size_t size) { return repeat<double>(size, [&] { return logistic(s); }); },
      py::arg("stream"), py::arg("size"));
  m.def(
      "normal", [](Stream& s, std::size_t size) { return repeat<double>(size, [&] { return normal(s); }); },
      py::arg("stream"), py::arg("size"));
  m.def(
      "fill_normal",
      [](Stream& s, std::size_t size) {
        py::array_t<double> out(static_cast<py::ssize_t>(size));
        fill_normal(s, out.mutable_data(), size);
        return out;
      },
      py::arg("stream"), py::arg("size"));
}

py::tuple to_tuple(Probability p) { return py::make_tuple(p.threshold, p.complement); }

void bind_bernoulli(py::module_& m) {
  m.def("probability_from_logit", [](double d) { return to_tuple(probability_from_logit(d)); }, py::arg("d"));
  m.def(
      "probability_from_pair", [](double p, double q) { return to_tuple(probability_from_pair(p, q)); },
      py::arg("p"), py::arg("q"));
  m.def(
      "bernoulli",
      [](Stream& s, std::uint64_t threshold, bool complement, std::size_t size) {
        return repeat<bool>(size, [&] { return bernoulli(s, {threshold, complement}); });
      },
      py::arg("stream"), py::arg("threshold"), py::arg("complement"), py::arg("size"));
}

}  // namespace

void bind_random_variates(py::module_& m) {
  bind_variates(m);
  bind_bernoulli(m);
  bind_subsample(m);
  bind_rounded_normal(m);
}

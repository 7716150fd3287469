// pydpmc._core.random, the privacy noise: its draws and, for tests, its table and its decisions.
#include "random/noise/rounded_normal.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <vector>

#include "bind/given_words.hpp"

namespace py = pybind11;
using namespace pydpmc;

namespace {

using Words = py::array_t<std::uint64_t, py::array::c_style | py::array::forcecast>;

template <class T, std::size_t n>
py::array_t<T> copy_of(const T (&values)[n]) {
  return py::array_t<T>(static_cast<py::ssize_t>(n), values);
}

py::tuple draw_from_words(const Words& words) {
  GivenWords<Words> given{words};
  const std::int64_t value =
      rounded_normal_detail::draw_from(rounded_normal_detail::first_bits(given), given);
  return py::make_tuple(value, given.used);
}

// The draws that 48 bits decide, and a list of those that they do not decide.
py::tuple candidates(const Words& words) {
  const auto count = static_cast<std::size_t>(words.size());
  if (count > std::size_t{1} << 16) throw py::value_error("at most 2^16 words");
  std::vector<std::uint32_t> low(words.data(), words.data() + count);
  std::vector<std::uint16_t> high(count), unsettled(count);
  for (std::size_t i = 0; i < count; ++i) high[i] = static_cast<std::uint16_t>(words.data()[i] >> 32);
  py::array_t<std::int64_t> values(words.size());
  const std::size_t listed =
      kernels().normal_candidates(low.data(), high.data(), count, values.mutable_data(), unsettled.data());
  return py::make_tuple(values,
                        py::array_t<std::uint16_t>(static_cast<py::ssize_t>(listed), unsettled.data()));
}

py::tuple drop_halves(std::uint64_t bin, std::uint64_t cell) {
  if (bin >= RoundedNormalTable::bins || cell >> rounded_normal_detail::cell_bits)
    throw py::value_error("no such bin or cell");
  const unsigned __int128 drop = rounded_normal_detail::drop(rounded_normal_detail::exponent(bin, cell));
  return py::make_tuple(static_cast<std::uint64_t>(drop >> 64), static_cast<std::uint64_t>(drop));
}

}  // namespace

void bind_rounded_normal(py::module_& m) {
  m.attr("rounded_normal_bits") = rounded_normal_bits;
  m.attr("rounded_normal_error") = rounded_normal_error;
  m.def(
      "rounded_normal",
      [](Stream& s, std::size_t size) {
        py::array_t<std::int64_t> out(static_cast<py::ssize_t>(size));
        std::int64_t* next = out.mutable_data();
        for (std::size_t i = 0; i < size; ++i) next[i] = rounded_normal(s);
        return out;
      },
      py::arg("stream"), py::arg("size"));
  m.def(
      "fill_rounded_normal",
      [](Stream& s, std::size_t size) {
        py::array_t<std::int64_t> out(static_cast<py::ssize_t>(size));
        fill_rounded_normal(s, out.mutable_data(), size);
        return out;
      },
      py::arg("stream"), py::arg("size"));
  m.def("normal_candidates", &candidates, py::arg("words"));
  m.def("rounded_normal_from_words", &draw_from_words, py::arg("words"));
  m.def("rounded_normal_drop", &drop_halves, py::arg("bin"), py::arg("cell"));
  m.def("rounded_normal_table", [] {
    const RoundedNormalTable& t = rounded_normal_table;
    return py::make_tuple(copy_of(t.threshold), copy_of(t.alias), copy_of(t.drop));
  });
}

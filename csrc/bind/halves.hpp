// The arrays of the two halves of a step: thetas out, sums in.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bind/records.hpp"

namespace pydpmc {

using Sums = pybind11::array_t<int64_t, pybind11::array::c_style>;

inline Array as_rows(const std::vector<double>& values, size_t rows) {
  const size_t width = rows == 0 ? 0 : values.size() / rows;
  Array out({static_cast<pybind11::ssize_t>(rows), static_cast<pybind11::ssize_t>(width)});
  std::copy(values.begin(), values.end(), out.mutable_data());
  return out;
}

inline void require_sums(const Sums& sums, size_t rows, size_t width) {
  require(sums.ndim() == 2 && static_cast<size_t>(sums.shape(0)) == rows &&
              static_cast<size_t>(sums.shape(1)) == width,
          "sums do not have the shape of what was wanted");
}

}  // namespace pydpmc

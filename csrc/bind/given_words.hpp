// Words that a test provides in place of a stream.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>

namespace pydpmc {

template <class Words>
struct GivenWords {
  const Words& words;
  pybind11::ssize_t used = 0;

  std::uint64_t next64() {
    if (used == words.size()) throw pybind11::value_error("the draw needs more words");
    return words.at(used++);
  }
};

}  // namespace pydpmc

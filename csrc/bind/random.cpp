// pydpmc._core.random: the random streams, for tests.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstring>
#include <string_view>

#include "dispatch.hpp"
#include "random/bernoulli.hpp"
#include "random/chacha20.hpp"
#include "random/key.hpp"
#include "random/logistic.hpp"
#include "random/normal.hpp"
#include "random/stream.hpp"
#include "random/subsample.hpp"
#include "random/uniform.hpp"

namespace py = pybind11;
using namespace pydpmc;

namespace {

template <class Words>
Words words_from(const py::bytes& bytes, const char* name) {
  const std::string_view view(bytes);
  Words words;
  if (view.size() != sizeof words)
    throw py::value_error(std::string(name) + " must have " + std::to_string(sizeof words) + " bytes");
  std::memcpy(&words, view.data(), sizeof words);
  return words;
}

Key key_from(const py::bytes& bytes) { return words_from<Key>(bytes, "key"); }

struct Nonce {
  std::uint32_t words[3];
};

py::bytes to_bytes(const Key& key) { return {reinterpret_cast<const char*>(key.words), sizeof key.words}; }

py::bytes one_block(const py::bytes& key, std::uint32_t counter, const py::bytes& nonce) {
  std::uint32_t out[chacha20_words];
  chacha20_block(key_from(key).words, counter, words_from<Nonce>(nonce, "nonce").words, out);
  return {reinterpret_cast<const char*>(out), sizeof out};
}

py::bytes many_blocks(const py::bytes& key, std::uint32_t counter, const py::bytes& nonce,
                      std::size_t blocks) {
  std::vector<std::uint32_t> out(blocks * chacha20_words);
  kernels().chacha20_blocks(key_from(key).words, counter, words_from<Nonce>(nonce, "nonce").words, out.data(),
                            blocks);
  return {reinterpret_cast<const char*>(out.data()), out.size() * sizeof out[0]};
}

Stream make_stream(const py::bytes& key, std::uint8_t purpose, std::uint32_t chain, std::uint64_t step) {
  if (chain >= max_chains) throw py::value_error("chain must be below 2^24");
  return {key_from(key), static_cast<Purpose>(purpose), chain, step};
}

template <class T, class Draw>
py::array_t<T> repeat(std::size_t size, Draw draw) {
  py::array_t<T> out(static_cast<py::ssize_t>(size));
  T* next = out.mutable_data();
  for (std::size_t i = 0; i < size; ++i) next[i] = draw();
  return out;
}

void bind_chacha20(py::module_& m) {
  m.def("chacha20_block", &one_block, py::arg("key"), py::arg("counter"), py::arg("nonce"));
  m.def("chacha20_blocks", &many_blocks, py::arg("key"), py::arg("counter"), py::arg("nonce"),
        py::arg("blocks"));
}

void bind_key(py::module_& m) {
  m.def("key_from_os", [] { return to_bytes(key_from_os()); });
  m.def("key_from_seed", [](std::uint64_t seed) { return to_bytes(key_from_seed(seed)); }, py::arg("seed"));
  m.def("fork_generation", &fork_generation);
  m.def(
      "wiped",
      [](const py::bytes& bytes) {
        Key key = key_from(bytes);
        wipe(key);
        return to_bytes(key);
      },
      py::arg("key"));
}

void bind_stream(py::module_& m) {
  py::class_<Stream>(m, "Stream")
      .def(py::init(&make_stream), py::arg("key"), py::arg("purpose"), py::arg("chain"), py::arg("step"))
      .def("next64", &Stream::next64)
      .def(
          "fill",
          [](Stream& s, std::size_t size) {
            py::array_t<std::uint64_t> out(static_cast<py::ssize_t>(size));
            s.fill(out.mutable_data(), size);
            return out;
          },
          py::arg("size"));
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

// Remembers b for the length of the array that draw returns.
struct BoundSubsampler {
  BoundSubsampler(std::uint64_t n, std::uint64_t size) : b(size), sampler(checked(n, size), size) {}

  static std::uint64_t checked(std::uint64_t n, std::uint64_t size) {
    if (n < 1 || n > 0xffffffff || size > n) throw py::value_error("need 1 <= n < 2^32 and b <= n");
    return n;
  }

  std::uint64_t b;
  Subsampler sampler;
};

void bind_subsample(py::module_& m) {
  py::class_<BoundSubsampler>(m, "Subsampler")
      .def(py::init<std::uint64_t, std::uint64_t>(), py::arg("n"), py::arg("b"))
      .def(
          "draw",
          [](BoundSubsampler& self, Stream& stream) {
            py::array_t<std::uint32_t> out(static_cast<py::ssize_t>(self.b));
            self.sampler.draw(stream, out.mutable_data());
            return out;
          },
          py::arg("stream"));
}

}  // namespace

void bind_random(py::module_& core) {
  py::module_ m = core.def_submodule("random", "The only randomness of pydpmc, bound for its tests.");
  bind_chacha20(m);
  bind_key(m);
  bind_stream(m);
  bind_variates(m);
  bind_bernoulli(m);
  bind_subsample(m);
}

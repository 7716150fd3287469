// pydpmc._core.random: keys and streams, bound for the tests.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "isa/dispatch.hpp"
#include "random/chacha20.hpp"
#include "random/key.hpp"
#include "random/stream.hpp"

namespace py = pybind11;
using namespace pydpmc;

void bind_random_variates(py::module_& m);

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

std::unique_ptr<Stream> make_stream(const py::bytes& key, std::uint8_t purpose, std::uint32_t chain,
                                    std::uint64_t step) {
  if (chain >= max_chains) throw py::value_error("chain must be below 2^24");
  return std::make_unique<Stream>(key_from(key), static_cast<Purpose>(purpose), chain, step);
}

void log_streams(bool on) {
  static StreamLog log;
  log.take();
  stream_log.store(on ? &log : nullptr, std::memory_order_relaxed);
}

std::vector<std::array<std::uint64_t, 4>> logged_streams() {
  std::vector<std::array<std::uint64_t, 4>> rows;
  if (StreamLog* log = stream_log.load(std::memory_order_relaxed))
    for (const StreamEntry& entry : log->take())
      rows.push_back({entry.purpose, entry.chain, entry.step, entry.words});
  return rows;
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
  py::dict purposes;
  purposes["proposal"] = static_cast<int>(Purpose::proposal);
  purposes["subsample"] = static_cast<int>(Purpose::subsample);
  purposes["accept"] = static_cast<int>(Purpose::accept);
  purposes["initial"] = static_cast<int>(Purpose::initial);
  purposes["noise"] = static_cast<int>(Purpose::noise);
  purposes["diffusion"] = static_cast<int>(Purpose::diffusion);
  purposes["trajectory"] = static_cast<int>(Purpose::trajectory);
  purposes["adaptation"] = static_cast<int>(Purpose::adaptation);
  purposes["look"] = static_cast<int>(Purpose::look);
  purposes["cell"] = static_cast<int>(Purpose::cell);
  purposes["test"] = static_cast<int>(Purpose::test);
  m.attr("purposes") = purposes;
  m.def("log_streams", &log_streams, py::arg("on"), "For tests: forgets the log, and begins one or ends it.");
  m.def("logged_streams", &logged_streams,
        "For tests: purpose, chain, step and number of words of every stream since the last call.");
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

}  // namespace

void bind_random(py::module_& core) {
  py::module_ m = core.def_submodule("random", "The only randomness of pydpmc, bound for its tests.");
  bind_chacha20(m);
  bind_key(m);
  bind_stream(m);
  bind_random_variates(m);
}

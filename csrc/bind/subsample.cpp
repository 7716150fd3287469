// pydpmc._core.random, third part: the tables of gaps, and the samples drawn with them.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "bind/given_words.hpp"
#include "bind/sampling.hpp"
#include "random/sampling/step_samples.hpp"

namespace py = pybind11;
using namespace pydpmc;

namespace {

template <class T>
using Column = py::array_t<T, py::array::c_style>;
using Columns = std::tuple<Column<std::uint32_t>, Column<std::uint64_t>, Column<std::uint64_t>>;

template <class T>
std::vector<T> copied(const Column<T>& from) {
  require(from.ndim() == 1 && from.size() == alias_field::column + 1, "an alias table has 4096 columns");
  return {from.data(), from.data() + from.size()};
}

AliasTable table_of(const Columns& columns) {
  AliasTable table{copied(std::get<0>(columns)), copied(std::get<1>(columns)), copied(std::get<2>(columns))};
  require(*std::max_element(table.entry.begin(), table.entry.end()) <= alias_field::mask,
          "an entry of an alias table has 21 bits");
  return table;
}

std::shared_ptr<GapTables> gap_tables(double rate, double overflow, const Columns& gap,
                                      const std::optional<Columns>& remainder) {
  require(rate > 0.0 && rate <= 1.0 && overflow >= 0.0 && overflow <= 1.0 - 0x1p-42,
          "rate and overflow are probabilities, and overflow is not 1");
  return std::make_shared<GapTables>(
      GapTables{rate, overflow, table_of(gap), remainder ? table_of(*remainder) : AliasTable{}});
}

py::array_t<std::uint32_t> copied_sample(const std::vector<std::uint32_t>& sample, std::size_t size) {
  return py::array_t<std::uint32_t>(static_cast<py::ssize_t>(size), sample.data());
}

void bind_tables(py::module_& m) {
  py::class_<GapTables, std::shared_ptr<GapTables>>(m, "GapTables")
      .def(py::init(&gap_tables), py::arg("rate"), py::arg("overflow"), py::arg("gap"), py::arg("remainder"))
      .def(
          "settle",
          [](const GapTables& tables, std::uint32_t field, const Column<std::uint64_t>& words) {
            GivenWords<Column<std::uint64_t>> given{words};
            const std::uint32_t outcome = tables.gap.settle(field & alias_field::mask, given);
            return py::make_tuple(outcome, given.used);
          },
          py::arg("field"), py::arg("words"), "For tests: the outcome of a tie, and how many words it took.");
}

Subsampler subsampler(std::shared_ptr<GapTables> tables, std::int64_t n, std::int64_t most) {
  require_sampling(tables.get(), most, n);
  return {std::move(tables), static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(most)};
}

// Samples from the words of one stream, one after the other.
struct SampleLine {
  const Subsampler& sampler;
  ProcessLine line;

  SampleLine(const Subsampler& from, Stream& stream) : sampler(from), line(from.line(stream)) {}
};

// The samples of the steps of a run, as a run draws them.
void bind_step_samples(py::module_& m) {
  py::class_<StepSamples>(m, "StepSamples")
      .def(py::init([](std::shared_ptr<GapTables> tables, std::int64_t n, std::int64_t most,
                       std::optional<std::size_t> b) {
             Subsampler sampler = subsampler(std::move(tables), n, most);
             require(b.value_or(0) <= sampler.most(), "b must be at most `most`");
             return std::make_unique<StepSamples>(std::move(sampler), b);
           }),
           py::arg("gaps"), py::arg("n"), py::arg("most"), py::arg("b"), "b None for Poisson samples.")
      .def(
          "draw",
          [](StepSamples& self, std::uint64_t seed, std::uint32_t chain, std::uint64_t step) {
            require(chain < max_chains, "chain must be below 2^24");
            std::vector<std::uint32_t> sample(self.room());
            return copied_sample(sample, self.draw(key_from_seed(seed), chain, step, sample.data()));
          },
          py::arg("seed"), py::arg("chain"), py::arg("step"))
      .def(
          "count_of_steps",
          [](StepSamples& self, std::uint64_t seed, std::uint64_t steps) {
            const Key key = key_from_seed(seed);
            std::vector<std::uint32_t> sample(self.room());
            std::size_t count = 0;
            for (std::uint64_t step = 0; step < steps; ++step)
              count += self.draw(key, 0, step, sample.data());
            return count;
          },
          py::arg("seed"), py::arg("steps"), "For benchmarks: how many indices the first steps have.");
}

}  // namespace

void bind_subsample(py::module_& m) {
  bind_tables(m);
  bind_step_samples(m);
  py::class_<SampleLine>(m, "SampleLine")
      .def("draw_poisson",
           [](SampleLine& self) {
             std::vector<std::uint32_t> sample(self.sampler.room());
             return copied_sample(sample, self.sampler.draw_poisson(self.line, sample.data()));
           })
      .def(
          "draw_exactly",
          [](SampleLine& self, std::size_t b) {
            require(b <= self.sampler.most(), "b must be at most `most`");
            std::vector<std::uint32_t> sample(self.sampler.room());
            self.sampler.draw_exactly(b, self.line, sample.data());
            return copied_sample(sample, b);
          },
          py::arg("b"));
  py::class_<Subsampler>(m, "Subsampler")
      .def(py::init(&subsampler), py::arg("gaps"), py::arg("n"), py::arg("most"))
      .def(
          "line",
          [](const Subsampler& self, Stream& stream) { return std::make_unique<SampleLine>(self, stream); },
          py::arg("stream"), py::keep_alive<0, 1>(), py::keep_alive<0, 2>());
}

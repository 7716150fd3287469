// GradientRun: checks shapes, keeps the arrays alive, releases the interpreter lock for a chunk of steps.
#include "run/gradients.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "bind/gradient_samplers.hpp"
#include "bind/sampling.hpp"
#include "bind/target.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

Sampling sampling_of(const std::string& name) {
  if (name == "full") return Sampling::full;
  if (name == "without_replacement") return Sampling::without_replacement;
  if (name == "poisson") return Sampling::poisson;
  throw std::invalid_argument("unknown sampling: " + name);
}

constexpr double smallest = 0x1p-200, largest = 0x1p200;  // far from underflow and overflow of the grid step

// The grid must be finer than the noise at every noise level, and so must each record's integers fit. Public
// numbers alone decide.
void require_grids(const QuerySpec& query, const std::vector<double>& noise) {
  for (double sd : noise) {
    require(sd >= smallest && sd <= largest, "noise must lie between 2^-200 and 2^200");
    require(grid_bits(query, sd) >= 1, "clip is too large for its noise");
  }
}

using Squares = py::array_t<double, 0>;

RowSquares squares_of_rows(const Squares& squares, int64_t rows) {
  require(squares.ndim() == 1 && squares.size() == rows, "squares needs one entry per row");
  constexpr py::ssize_t size = sizeof(double);
  require(squares.strides(0) > 0 && squares.strides(0) % size == 0 &&
              reinterpret_cast<uintptr_t>(squares.data()) % alignof(double) == 0,
          "squares needs aligned entries");
  return {squares.data(), squares.strides(0) / size};
}

class BoundGradientRun {
 public:
  BoundGradientRun(RowsArray rows, int columns, bool has_target, const std::string& model, bool intercept,
                   std::array<double, 2> constants, const Array& prior, const std::string& sampler,
                   const Parameters& parameters, const std::string& sampling, double clip, double room,
                   int64_t batch, std::shared_ptr<GapTables> gaps, int64_t most, double weight,
                   std::vector<double> step_size, std::vector<double> noise, Array init, Array draws,
                   int64_t warmup, int64_t thin, std::optional<uint64_t> seed, Starts group_start,
                   std::optional<Squares> squares, Coded coded)
      : rows_(std::move(rows)),
        draws_(std::move(draws)),
        group_start_(std::move(group_start)),
        squares_(std::move(squares)),
        coded_(std::move(coded)) {
    const int dim = require_chains(init, draws_, warmup, thin);
    Records records = records_of(rows_, columns, has_target, group_start_);
    if (squares_) records.squares = squares_of_rows(*squares_, records.n);
    records.coded = coded_of(coded_, records);
    QuerySpec query{sampling_of(sampling),
                    clip,
                    batch,
                    std::move(gaps),
                    most,
                    room,
                    moments_of(sampler, parameters, dim)};
    require(static_cast<double>(records.units()) <= room, "room must be for all units");
    require(clip >= smallest && clip <= largest, "clip must lie between 2^-200 and 2^200");
    require(step_size.size() == noise.size() && !noise.empty(),
            "step_size and noise need one entry per step");
    if (query.sampling != Sampling::full) require_sampling(query.gaps.get(), most, records.units());
    require(query.sampling != Sampling::without_replacement || (batch >= 1 && batch <= most),
            "batch must be 1 to most");
    require_grids(query, noise);
    const ModelSpec spec = model_of(model, records, intercept, constants, dim);
    require(!query.moments.taken() || (spec.predictors == 1 && !records.group_start),
            "second moments are taken of single records with one predictor");
    run_ = std::make_unique<GradientRun>(
        Target{records, spec, prior_of(prior, dim)}, query, weight,
        Schedule{std::move(step_size), std::move(noise)}, sampler_of(sampler, parameters),
        seed ? key_from_seed(*seed) : key_from_os(), !seed.has_value(), static_cast<int>(init.shape(0)),
        init.data(), Draws{draws_.mutable_data(), warmup, thin, draws_.shape(1)});
    dim_ = dim;
  }

  void advance(int64_t steps, int threads, int64_t block) {
    require(steps >= 0 && threads >= 1 && block >= 1, "steps, threads and block must be positive");
    py::gil_scoped_release nogil;
    run_->advance(steps, threads, block);
  }

  Array audit(const std::vector<double>& theta, int64_t first, int64_t count) {
    require(static_cast<int>(theta.size()) == dim_, "theta has the wrong length");
    const std::vector<double> sums = run_->audit(theta, first, count);
    Array out({static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(run_->released())});
    std::copy(sums.begin(), sums.end(), out.mutable_data());
    return out;
  }

  std::vector<std::array<uint64_t, 3>> traced(int64_t steps) {
    std::vector<std::array<uint64_t, 3>> words;
    for (const StreamUse& use : run_->traced(steps))
      words.push_back({use.subsample, use.noise, use.diffusion});
    return words;
  }

  void stop() { run_->stop(); }
  int64_t steps_done() const { return run_->steps_done(); }
  std::vector<double> state() { return run_->state(); }
  void restore(const std::vector<double>& state, int64_t done) { run_->restore(state, done); }

 private:
  RowsArray rows_;
  Array draws_;
  Starts group_start_;
  std::optional<Squares> squares_;
  Coded coded_;
  int dim_ = 0;
  std::unique_ptr<GradientRun> run_;
};

}  // namespace

}  // namespace pydpmc

void bind_gradients(py::module_& m) {
  using namespace pydpmc;
  using Run = BoundGradientRun;
  py::class_<Run>(m, "GradientRun")
      .def(py::init<RowsArray, int, bool, const std::string&, bool, std::array<double, 2>, const Array&,
                    const std::string&, const Parameters&, const std::string&, double, double, int64_t,
                    std::shared_ptr<GapTables>, int64_t, double, std::vector<double>, std::vector<double>,
                    Array, Array, int64_t, int64_t, std::optional<uint64_t>, Starts, std::optional<Squares>,
                    Coded>(),
           py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"), py::arg("has_target"),
           py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("prior"), py::arg("sampler"),
           py::arg("parameters"), py::arg("sampling"), py::arg("clip"), py::arg("room"), py::arg("batch"),
           py::arg("gaps"), py::arg("most"), py::arg("weight"), py::arg("step_size"), py::arg("noise"),
           py::arg("init"), py::arg("draws").noconvert(), py::arg("warmup"), py::arg("thin"), py::arg("seed"),
           py::arg("group_start").noconvert() = py::none(), py::arg("squares").noconvert() = py::none(),
           py::arg("coded").noconvert() = py::none())
      .def("advance", &Run::advance, py::arg("steps"), py::arg("threads"), py::arg("block"))
      .def("stop", &Run::stop)
      .def("state", &Run::state)
      .def("restore", &Run::restore, py::arg("state"), py::arg("steps_done"))
      .def("audit", &Run::audit, py::arg("theta"), py::arg("first"), py::arg("count"))
      .def("traced", &Run::traced, py::arg("steps"),
           "For tests: advances, and returns the random words that each step took to sample, protect and "
           "move.")
      .def_property_readonly("steps_done", &Run::steps_done);
}

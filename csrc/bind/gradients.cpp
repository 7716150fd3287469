// GradientRun: checks shapes, keeps the arrays alive, releases the interpreter lock for a chunk of steps.
#include "run/gradients.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bind/halves.hpp"
#include "bind/queries.hpp"
#include "bind/target.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

class BoundGradientRun {
 public:
  BoundGradientRun(TargetHandle target, ChainsHandle chains, const std::string& sampler,
                   std::map<std::string, std::vector<double>> parameters, const std::string& sampling,
                   double clip, double room, int64_t batch, std::shared_ptr<GapTables> gaps, int64_t most,
                   double weight, std::vector<double> step_size, std::vector<double> noise)
      : target_(std::move(target)), chains_(std::move(chains)) {
    target_->require_gradient();
    const Records& records = target_->records();
    const ModelSpec& model = target_->target().model;
    const Parameters given(std::move(parameters));
    const QuerySpec query{sampling_of(sampling),
                          clip,
                          batch,
                          std::move(gaps),
                          most,
                          room,
                          moments_of(sampler, given, static_cast<size_t>(model.dim))};
    require(static_cast<double>(records.units()) <= room, "room must be for all units");
    require(clip >= smallest_query && clip <= largest_query, "clip must lie between 2^-200 and 2^200");
    require(step_size.size() == noise.size() && !noise.empty(),
            "step_size and noise need one entry per step");
    if (query.sampling != Sampling::full) require_sampling(query.gaps.get(), most, records.units());
    require(query.sampling != Sampling::without_replacement || (batch >= 1 && batch <= most),
            "batch must be 1 to most");
    require_grids(query, noise);
    steps_ = static_cast<int64_t>(noise.size());
    require(!query.moments.taken() || (model.predictors == 1 && !records.group_start),
            "second moments are taken of single records with one predictor");
    run_ = std::make_unique<GradientRun>(target_->target(), chains_->of(target_->target()), query, weight,
                                         Schedule{std::move(step_size), std::move(noise)},
                                         sampler_of(sampler, given));
  }

  void advance(int64_t steps, int threads, int64_t block) {
    require(steps >= 0 && threads >= 1 && block >= 1, "steps, threads and block must be positive");
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    run_->advance(steps, threads, block);
  }

  Array audit(const std::vector<double>& theta, int64_t first, int64_t count) {
    require(static_cast<int>(theta.size()) == target_->target().model.dim, "theta has the wrong length");
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

  Array wanted() const { return as_rows(run_->wanted(), chain_count()); }
  double noise() const {
    require(run_->steps_done() < steps_, "all steps are done");
    return run_->noise();
  }

  void absorb(const Sums& sums) {
    require_sums(sums, chain_count(), run_->released());
    require(run_->steps_done() < steps_, "all steps are done");
    const Turn turn(turns_);
    run_->absorb(sums.data());
  }

  std::vector<py::bytes> cell_keys(int cells) {
    require(cells >= 1 && cells <= 1024, "cells must be 1 to 1024");
    std::vector<py::bytes> keys;
    for (Key& key : run_->cell_keys(cells)) {
      keys.emplace_back(reinterpret_cast<const char*>(key.words), sizeof key.words);
      wipe(key);
    }
    return keys;
  }

  void stop() { run_->stop(); }
  int64_t steps_done() const { return run_->steps_done(); }
  std::vector<double> state() { return run_->state(); }
  void restore(const std::vector<double>& state, int64_t done) { run_->restore(state, done); }

 private:
  size_t chain_count() const { return static_cast<size_t>(chains_->init().shape(0)); }

  TargetHandle target_;
  ChainsHandle chains_;
  int64_t steps_ = 0;
  std::unique_ptr<GradientRun> run_;
  Turns turns_;
};

}  // namespace

}  // namespace pydpmc

void bind_gradients(py::module_& m) {
  using namespace pydpmc;
  using Run = BoundGradientRun;
  py::class_<Run>(m, "GradientRun")
      .def(py::init<TargetHandle, ChainsHandle, const std::string&,
                    std::map<std::string, std::vector<double>>, const std::string&, double, double, int64_t,
                    std::shared_ptr<GapTables>, int64_t, double, std::vector<double>, std::vector<double>>(),
           py::arg("target"), py::arg("chains"), py::kw_only(), py::arg("sampler"), py::arg("parameters"),
           py::arg("sampling"), py::arg("clip"), py::arg("room"), py::arg("batch"), py::arg("gaps"),
           py::arg("most"), py::arg("weight"), py::arg("step_size"), py::arg("noise"))
      .def("advance", &Run::advance, py::arg("steps"), py::arg("threads"), py::arg("block"))
      .def("stop", &Run::stop)
      .def("wanted", &Run::wanted)
      .def_property_readonly("noise", &Run::noise)
      .def("absorb", &Run::absorb, py::arg("sums").noconvert())
      .def("cell_keys", &Run::cell_keys, py::arg("cells"))
      .def("state", &Run::state)
      .def("restore", &Run::restore, py::arg("state"), py::arg("steps_done"))
      .def("audit", &Run::audit, py::arg("theta"), py::arg("first"), py::arg("count"))
      .def("traced", &Run::traced, py::arg("steps"),
           "For tests: advances, and returns the random words that each step took to sample, protect and "
           "move.")
      .def_property_readonly("steps_done", &Run::steps_done);
}

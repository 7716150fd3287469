// NutsRun, and for tests the log density that it samples from. What these return is not private.
#include "run/nuts.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "bind/target.hpp"
#include "run/tiles.hpp"
#include "threads/parallel.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

Tempering tempering_of(double weight, double prior_weight, std::array<double, 2> loglik_range) {
  require(weight > 0 && prior_weight > 0, "weights must be positive");
  require(loglik_range[0] <= 0 && loglik_range[1] >= 0, "loglik_range must hold zero");
  return {weight, prior_weight, {loglik_range[0], loglik_range[1]}};
}

class BoundNutsRun {
 public:
  BoundNutsRun(TargetHandle target, ChainsHandle chains, double weight, double prior_weight,
               std::array<double, 2> loglik_range, double target_accept, int max_depth, double jitter)
      : target_(std::move(target)), chains_(std::move(chains)) {
    target_->require_single_records();
    target_->require_gradient();
    target_->require_no_network();
    target_->require_unweighted();
    require(target_accept > 0 && target_accept < 1, "target_accept must lie in (0, 1)");
    require(max_depth >= 1 && max_depth <= 20, "max_depth must be 1 to 20");
    require(jitter >= 0 && std::isfinite(jitter), "jitter must be at least 0");
    const Target& of = target_->target();
    run_ = std::make_unique<NutsRun>(of, chains_->of(of), tempering_of(weight, prior_weight, loglik_range),
                                     NutsSpec{chains_->warmup(), target_accept, max_depth, jitter});
  }

  // The block size is fixed: sums of doubles must not depend on the caller's choice.
  void advance(int64_t steps, int threads, int64_t) {
    require(steps >= 0 && threads >= 1, "steps and threads must be positive");
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    run_->advance(steps, threads);
  }

  void start_steps() { run_->start_steps(); }
  void finish_steps(int64_t steps) { run_->finish_steps(steps); }

  // Several chains may be in this at once, each in a thread of its own.
  void advance_one(size_t id, int64_t steps, const py::function& sums) {
    require(id < run_->chains().size() && steps >= 0, "there is no such chain");
    const size_t width = static_cast<size_t>(target_->target().model.dim) + 1;
    const auto called = [&](const Vector& theta) {
      const py::gil_scoped_acquire gil;
      const Array found =
          py::cast<Array>(sums(py::array_t<double>(static_cast<py::ssize_t>(theta.size()), theta.data())));
      require(found.ndim() == 1 && static_cast<size_t>(found.shape(0)) == width,
              "sums do not have the shape of what was wanted");
      return Vector(found.data(), found.data() + width);
    };
    py::gil_scoped_release nogil;
    run_->advance_one(id, steps, called);
  }

  void stop() { run_->stop(); }
  int64_t steps_done() const { return run_->steps_done(); }

  template <class Number, class Read>
  std::vector<Number> each(const Read& read) const {
    std::vector<Number> values;
    for (const auto& chain : run_->chains()) values.push_back(static_cast<Number>(read(*chain)));
    return values;
  }

 private:
  TargetHandle target_;
  ChainsHandle chains_;
  std::unique_ptr<NutsRun> run_;
  Turns turns_;
};

py::tuple density_at(const RowsArray& rows, int columns, bool has_target, const std::string& model,
                     bool intercept, std::array<double, 2> constants, const Array& prior,
                     const std::vector<double>& theta, double weight, double prior_weight,
                     std::array<double, 2> loglik_range, int threads, bool tiles) {
  const Records records = records_of(rows, columns, has_target);
  const int dim = static_cast<int>(theta.size());
  Target target{records, model_of(model, records, intercept, constants, dim), prior_of(prior, dim)};
  std::vector<double> copy;
  if (tiles) copy = make_tiles(target.model, target.records);
  require(threads >= 1, "threads must be positive");
  LogDensity density(target, tempering_of(weight, prior_weight, loglik_range));
  std::vector<DensityWorkspace> own(static_cast<size_t>(threads), DensityWorkspace(target.model));
  std::vector<double> gradient(theta.size());
  const Stop never;
  Team team(records.n, density_block, threads, never);
  double value = 0.0;
  const auto leader = [&] {
    value = density(theta, gradient, team, own.data());
    team.dismiss();
  };
  with_team(threads, leader, [&](int thread) { team.work(thread); });
  return py::make_tuple(value, py::array_t<double>(dim, gradient.data()));
}

template <class Class>
void bind_statistics(Class& run) {
  using Run = BoundNutsRun;
  run.def_property_readonly("step_size", [](const Run& r) {
    return r.each<double>([](const NutsChain& c) { return c.nuts.step_size; });
  });
  run.def_property_readonly("gradients", [](const Run& r) {
    return r.each<int64_t>([](const NutsChain& c) { return c.statistics.gradients; });
  });
  run.def_property_readonly("divergences", [](const Run& r) {
    return r.each<int64_t>([](const NutsChain& c) { return c.statistics.divergences; });
  });
  run.def_property_readonly("deepest", [](const Run& r) {
    return r.each<int64_t>([](const NutsChain& c) { return c.statistics.deepest; });
  });
  run.def_property_readonly("depth_sum", [](const Run& r) {
    return r.each<double>([](const NutsChain& c) { return c.statistics.depth_sum; });
  });
  run.def_property_readonly("accept_sum", [](const Run& r) {
    return r.each<double>([](const NutsChain& c) { return c.statistics.accept_sum; });
  });
}

}  // namespace

}  // namespace pydpmc

void bind_nuts(py::module_& m) {
  using namespace pydpmc;
  using Run = BoundNutsRun;
  auto run = py::class_<Run>(m, "NutsRun")
                 .def(py::init<TargetHandle, ChainsHandle, double, double, std::array<double, 2>, double, int,
                               double>(),
                      py::arg("target"), py::arg("chains"), py::kw_only(), py::arg("weight"),
                      py::arg("prior_weight"), py::arg("loglik_range"), py::arg("target_accept"),
                      py::arg("max_depth"), py::arg("jitter"))
                 .def("advance", &Run::advance, py::arg("steps"), py::arg("threads"), py::arg("block"))
                 .def("start_steps", &Run::start_steps)
                 .def("advance_one", &Run::advance_one, py::arg("chain"), py::arg("steps"), py::arg("sums"))
                 .def("finish_steps", &Run::finish_steps, py::arg("steps"))
                 .def("stop", &Run::stop)
                 .def_property_readonly("steps_done", &Run::steps_done);
  bind_statistics(run);
  m.def("log_density", &density_at, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("has_target"), py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("prior"),
        py::arg("theta"), py::arg("weight"), py::arg("prior_weight"), py::arg("loglik_range"),
        py::arg("threads") = 1, py::arg("tiles") = false,
        "For tests: the log density of the target and its gradient, from rows or, where a run has them, from "
        "tiles.");
}

// LangevinRun: checks shapes and headroom, keeps the arrays alive, releases the interpreter lock.
#include "run/langevin.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <vector>

#include "bind/halves.hpp"
#include "bind/target.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

constexpr double farthest_noise = 0x1p37;  // in grid steps: twice the largest draw
constexpr double headroom = 0x1p61;

Box box_of(const std::vector<double>& centre, const std::vector<double>& radius, double unit, int dim) {
  require(static_cast<int>(centre.size()) == dim && radius.size() == centre.size(),
          "centre and radius need one entry per parameter");
  Box box;
  for (size_t j = 0; j < centre.size(); ++j) {
    const double low = (centre[j] - radius[j]) / unit, high = (centre[j] + radius[j]) / unit;
    require(radius[j] > 0 && low > -headroom / 4 && high < headroom / 4, "radius leaves the grid of theta");
    box.low.push_back(static_cast<int64_t>(std::floor(low)));
    box.high.push_back(static_cast<int64_t>(std::floor(high)));
  }
  return box;
}

// The kernel rounds a record's gradient exactly below 2^50; sums and one drift must fit into 64 bits.
void require_headroom(double clip, double gradient_unit, int64_t n, double weight, double step_size,
                      const Prior& prior, const Box& box) {
  const double one = clip / gradient_unit, unit = Langevin::grid_unit(step_size);
  require(gradient_unit > 0 && one > 0 && one < 0x1p50 && static_cast<double>(n) * one < headroom,
          "clip over gradient_unit overflows a 64-bit sum");
  for (size_t j = 0; j < prior.size(); ++j) {
    require(prior[j].kind == PriorKind::flat || prior[j].kind == PriorKind::normal,
            "the prior must be normal or flat");
    const double low = static_cast<double>(box.low[j]) * unit, high = static_cast<double>(box.high[j]) * unit;
    const double steepest = std::fmax(std::fabs(log_prior_slope(prior[j], low)),
                                      std::fabs(log_prior_slope(prior[j], high + unit))) +
                            weight * static_cast<double>(n) * clip;
    require(step_size / unit * steepest + farthest_noise < headroom / 2, "a step leaves the grid of theta");
  }
}

class BoundLangevinRun {
 public:
  BoundLangevinRun(TargetHandle target, ChainsHandle chains, double step_size, int64_t steps, double weight,
                   double clip, double gradient_unit, const std::vector<double>& centre,
                   const std::vector<double>& radius)
      : target_(std::move(target)), chains_(std::move(chains)), steps_(steps) {
    target_->require_single_records();
    target_->require_listed_prior();
    target_->require_gradient();
    target_->require_no_network();
    target_->require_unweighted();
    require(steps >= 1 && chains_->kept() == 1 && chains_->warmup() == steps - 1 && chains_->thin() == 1,
            "only the last iterate of each chain may be kept");
    require(step_size > 0 && std::isfinite(step_size) && weight > 0 && std::isfinite(weight),
            "step_size and weight must be positive and finite");
    const Target& of = target_->target();
    Box box = box_of(centre, radius, Langevin::grid_unit(step_size), of.model.dim);
    require_headroom(clip, gradient_unit, of.records.n, weight, step_size, of.prior, box);
    run_ = std::make_unique<LangevinRun>(of, chains_->of(of), GradientGrid{clip, 1.0 / gradient_unit, false},
                                         Langevin(step_size, weight, gradient_unit, std::move(box)), steps);
  }

  void advance(int64_t steps, int threads, int64_t block) {
    require(steps >= 0 && threads >= 1 && block >= 1, "steps, threads and block must be positive");
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    run_->advance(steps, threads, block);
  }

  void stop() { run_->stop(); }
  int64_t steps_done() const { return run_->steps_done(); }

 protected:
  size_t chain_count() const { return static_cast<size_t>(chains_->init().shape(0)); }

  TargetHandle target_;
  ChainsHandle chains_;
  int64_t steps_;
  std::unique_ptr<LangevinRun> run_;
  Turns turns_;
};

// The run over records that are elsewhere. Only here the hidden thetas can be asked for: they go to the
// workers.
class BoundLangevinHalves : public BoundLangevinRun {
 public:
  using BoundLangevinRun::BoundLangevinRun;

  Array wanted() {
    require(run_->steps_done() < steps_, "all steps are done");
    return as_rows(run_->wanted(), chain_count());
  }

  void absorb(const Sums& sums) {
    require_sums(sums, chain_count(), static_cast<size_t>(target_->target().model.dim));
    require(run_->steps_done() < steps_, "all steps are done");
    const Turn turn(turns_);
    run_->absorb(sums.data());
  }
};

template <class Run>
pybind11::class_<Run> bind_run(pybind11::module_& m, const char* name) {
  py::class_<Run> bound(m, name);
  bound
      .def(py::init<TargetHandle, ChainsHandle, double, int64_t, double, double, double,
                    const std::vector<double>&, const std::vector<double>&>(),
           py::arg("target"), py::arg("chains"), py::kw_only(), py::arg("step_size"), py::arg("steps"),
           py::arg("weight"), py::arg("clip"), py::arg("gradient_unit"), py::arg("centre"), py::arg("radius"))
      .def("stop", &Run::stop)
      .def_property_readonly("steps_done", &Run::steps_done);
  return bound;
}

}  // namespace

}  // namespace pydpmc

void bind_langevin(py::module_& m) {
  using namespace pydpmc;
  bind_run<BoundLangevinRun>(m, "LangevinRun")
      .def("advance", &BoundLangevinRun::advance, py::arg("steps"), py::arg("threads"), py::arg("block"));
  bind_run<BoundLangevinHalves>(m, "LangevinHalves")
      .def("wanted", &BoundLangevinHalves::wanted)
      .def("absorb", &BoundLangevinHalves::absorb, py::arg("sums").noconvert());
}

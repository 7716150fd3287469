// BarkerRun: checks shapes, keeps the arrays alive, releases the interpreter lock for a chunk of steps.
#include "run/barker.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <vector>

#include "bind/halves.hpp"
#include "bind/sampling.hpp"
#include "bind/target.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

Barker barker_of(double shift_per_clip, double clip, int bits, int64_t batch, int64_t n, double v_max,
                 double c, double x_max, std::vector<double> atoms, std::vector<double> weights,
                 std::shared_ptr<const GapTables> gaps, int64_t most) {
  require_grid(clip, bits);
  require(bits >= 1 && bits <= (batch > 0 ? 25 : 50), "bits must be 1 to 50, or 1 to 25 for batches");
  require(std::ldexp(static_cast<double>(n), bits) < 0x1p62, "n times 2^bits overflows a 64-bit sum");
  require(batch == 0 || (batch >= 2 && batch < n), "batch must be 0 or 2 to n - 1");
  require(batch == 0 || std::ldexp(static_cast<double>(batch), 2 * bits) < 0x1p62,
          "squares overflow 64 bits");
  require(batch == 0 || (v_max > 0 && v_max < c), "v_max must lie between 0 and c");
  require(atoms.size() == weights.size(), "atoms and weights differ in length");
  if (batch > 0) require_sampling(gaps.get(), most, n);
  require(batch <= most, "batch must be at most `most`");
  const double units = std::ldexp(1.0, bits);
  const double scale = shift_per_clip * clip / units;
  return {scale,
          {clip, units / clip},
          batch,
          v_max / (units * units),
          v_max,
          c,
          x_max,
          std::move(atoms),
          std::move(weights),
          std::move(gaps),
          most};
}

class BoundRun {
 public:
  BoundRun(TargetHandle target, ChainsHandle chains, int proposal, double radius, std::vector<double> factor,
           double shift_per_clip, double clip, int bits, int64_t batch, double v_max, double c, double x_max,
           std::vector<double> atoms, std::vector<double> weights, std::shared_ptr<GapTables> gaps,
           int64_t most, bool cached, std::vector<bool> whole, OwnProposalHandle own)
      : target_(std::move(target)), chains_(std::move(chains)), own_(std::move(own)) {
    target_->require_no_network();
    target_->require_unweighted();
    const Target& of = target_->target();
    const size_t d = static_cast<size_t>(of.model.dim);
    require(factor.size() == d || factor.size() == d * d, "factor must be a diagonal or a square matrix");
    require(proposal >= 0 && proposal <= 3 && radius > 0, "unknown proposal");
    require(whole.empty() || whole.size() == d, "whole must have an entry for each coordinate");
    require(!of.records.group_start || batch == 0, "groups have no minibatch test");
    run_ =
        std::make_unique<BarkerRun>(of, chains_->of(of),
                                    barker_of(shift_per_clip, clip, bits, batch, units(), v_max, c, x_max,
                                              std::move(atoms), std::move(weights), std::move(gaps), most),
                                    Proposal{static_cast<ProposalKind>(proposal), radius, std::move(factor),
                                             std::move(whole), own_ ? &own_->proposal : nullptr},
                                    cached);
    full_ = batch == 0;
  }

  void advance(int64_t steps, int threads, int64_t block) {
    require(steps >= 0 && threads >= 1 && block >= 1, "steps, threads and block must be positive");
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    run_->advance(steps, threads, block);
  }

  Array audit(const std::vector<double>& theta, const std::vector<double>& proposal, int64_t first,
              int64_t count) {
    require(theta.size() == proposal.size() && static_cast<int>(theta.size()) == target_->target().model.dim,
            "theta and proposal must have dim entries");
    require(count >= 0, "count must not be negative");
    const auto bits = run_->audit(theta, proposal, first, count);
    Array out(static_cast<py::ssize_t>(bits.size()));
    std::copy(bits.begin(), bits.end(), out.mutable_data());
    return out;
  }

  // theta and proposal of every chain.
  Array wanted() {
    require(full_, "a minibatch test has no sums over all records");
    return as_rows(run_->wanted(), 2 * chain_count());
  }

  void absorb(const Sums& sums) {
    require_sums(sums, chain_count(), 2);
    const Turn turn(turns_);
    std::vector<RatioSum> ratios;
    for (py::ssize_t c = 0; c < sums.shape(0); ++c) ratios.push_back({sums.at(c, 0), 0, sums.at(c, 1)});
    run_->absorb(ratios.data());
  }

  BarkerRun& run() { return *run_; }
  int64_t units() const { return target_->records().units(); }

 private:
  size_t chain_count() const { return static_cast<size_t>(chains_->init().shape(0)); }

  bool full_ = false;
  TargetHandle target_;
  ChainsHandle chains_;
  OwnProposalHandle own_;
  std::unique_ptr<BarkerRun> run_;
  Turns turns_;
};

}  // namespace

}  // namespace pydpmc

void bind_barker(py::module_& m) {
  using namespace pydpmc;
  m.def("has_openmp", &has_openmp);
  m.def("hardware_threads", &hardware_threads);
  py::class_<BoundRun>(m, "BarkerRun")
      .def(py::init<TargetHandle, ChainsHandle, int, double, std::vector<double>, double, double, int,
                    int64_t, double, double, double, std::vector<double>, std::vector<double>,
                    std::shared_ptr<GapTables>, int64_t, bool, std::vector<bool>, OwnProposalHandle>(),
           py::arg("target"), py::arg("chains"), py::kw_only(), py::arg("proposal"), py::arg("radius"),
           py::arg("factor"), py::arg("shift_per_clip"), py::arg("clip"), py::arg("bits"), py::arg("batch"),
           py::arg("v_max"), py::arg("c"), py::arg("x_max"), py::arg("atoms"), py::arg("weights"),
           py::arg("gaps") = py::none(), py::arg("most") = 0, py::arg("cached") = true,
           py::arg("whole") = std::vector<bool>(), py::arg("own") = py::none())
      .def("advance", &BoundRun::advance, py::arg("steps"), py::arg("threads"), py::arg("block"))
      .def("stop", [](BoundRun& r) { r.run().stop(); })
      .def("wanted", &BoundRun::wanted)
      .def("absorb", &BoundRun::absorb, py::arg("sums").noconvert())
      .def("state", [](BoundRun& r) { return r.run().state(); })
      .def(
          "restore",
          [](BoundRun& r, const std::vector<double>& state, int64_t steps_done) {
            r.run().restore(state, steps_done);
          },
          py::arg("state"), py::arg("steps_done"))
      .def("audit", &BoundRun::audit, py::arg("theta"), py::arg("proposal"), py::arg("first"),
           py::arg("count"))
      .def_property_readonly("steps_done", [](BoundRun& r) { return r.run().steps_done(); })
      .def_property_readonly("accepted", [](BoundRun& r) { return r.run().accepted(); })
      .def_property_readonly("units", [](BoundRun& r) { return r.units(); })
      .def_property_readonly("clipped", [](BoundRun& r) { return r.run().clipped(); });
}

// BarkerRun: checks shapes, keeps the arrays alive, releases the interpreter lock for a chunk of steps.
#include "run/barker.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <string>

#include "bind/sampling.hpp"
#include "bind/target.hpp"

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
  BoundRun(RowsArray rows, int columns, bool has_target, const std::string& model, bool intercept,
           std::array<double, 2> constants, const Array& prior, int proposal, double radius,
           std::vector<double> factor, double shift_per_clip, double clip, int bits, int64_t batch,
           double v_max, double c, double x_max, std::vector<double> atoms, std::vector<double> weights,
           Array init, Array draws, int64_t warmup, int64_t thin, std::optional<uint64_t> seed,
           Starts group_start, std::shared_ptr<GapTables> gaps, int64_t most)
      : rows_(std::move(rows)), draws_(std::move(draws)), group_start_(std::move(group_start)) {
    const int dim = require_chains(init, draws_, warmup, thin);
    const size_t d = static_cast<size_t>(dim);
    require(factor.size() == d || factor.size() == d * d, "factor must be a diagonal or a square matrix");
    require(proposal >= 0 && proposal <= 3 && radius > 0, "unknown proposal");
    const Records records = records_of(rows_, columns, has_target, group_start_);
    require(!group_start_ || batch == 0, "groups have no minibatch test");
    units_ = records.units();
    const ModelSpec spec = model_of(model, records, intercept, constants, dim);
    run_ = std::make_unique<BarkerRun>(
        Target{records, spec, prior_of(prior, dim)},
        barker_of(shift_per_clip, clip, bits, batch, records.units(), v_max, c, x_max, std::move(atoms),
                  std::move(weights), std::move(gaps), most),
        Proposal{static_cast<ProposalKind>(proposal), radius, std::move(factor)},
        seed ? key_from_seed(*seed) : key_from_os(), !seed.has_value(), static_cast<int>(init.shape(0)),
        init.data(), Draws{draws_.mutable_data(), warmup, thin, draws_.shape(1)});
  }

  void advance(int64_t steps, int threads, int64_t block) {
    require(steps >= 0 && threads >= 1 && block >= 1, "steps, threads and block must be positive");
    py::gil_scoped_release nogil;
    run_->advance(steps, threads, block);
  }

  Array audit(const std::vector<double>& theta, const std::vector<double>& proposal, int64_t first,
              int64_t count) {
    require(theta.size() == proposal.size() && static_cast<py::ssize_t>(theta.size()) == draws_.shape(2),
            "theta and proposal must have dim entries");
    require(count >= 0, "count must not be negative");
    const auto bits = run_->audit(theta, proposal, first, count);
    Array out(static_cast<py::ssize_t>(bits.size()));
    std::copy(bits.begin(), bits.end(), out.mutable_data());
    return out;
  }

  BarkerRun& run() { return *run_; }
  int64_t units() const { return units_; }

 private:
  RowsArray rows_;
  Array draws_;
  Starts group_start_;
  int64_t units_ = 0;
  std::unique_ptr<BarkerRun> run_;
};

}  // namespace

}  // namespace pydpmc

void bind_barker(py::module_& m) {
  using namespace pydpmc;
  m.def("has_openmp", &has_openmp);
  m.def("hardware_threads", &hardware_threads);
  py::class_<BoundRun>(m, "BarkerRun")
      .def(py::init<RowsArray, int, bool, const std::string&, bool, std::array<double, 2>, const Array&, int,
                    double, std::vector<double>, double, double, int, int64_t, double, double, double,
                    std::vector<double>, std::vector<double>, Array, Array, int64_t, int64_t,
                    std::optional<uint64_t>, Starts, std::shared_ptr<GapTables>, int64_t>(),
           py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"), py::arg("has_target"),
           py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("prior"),
           py::arg("proposal"), py::arg("radius"), py::arg("factor"), py::arg("shift_per_clip"),
           py::arg("clip"), py::arg("bits"), py::arg("batch"), py::arg("v_max"), py::arg("c"),
           py::arg("x_max"), py::arg("atoms"), py::arg("weights"), py::arg("init"),
           py::arg("draws").noconvert(), py::arg("warmup"), py::arg("thin"), py::arg("seed"),
           py::arg("group_start").noconvert() = py::none(), py::arg("gaps") = py::none(), py::arg("most") = 0)
      .def("advance", &BoundRun::advance, py::arg("steps"), py::arg("threads"), py::arg("block"))
      .def("stop", [](BoundRun& r) { r.run().stop(); })
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

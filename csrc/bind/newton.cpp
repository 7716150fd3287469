// NewtonRun: checks shapes and headroom, keeps the arrays alive, releases the interpreter lock.
#include "run/newton.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bind/halves.hpp"
#include "bind/look_checks.hpp"
#include "bind/target.hpp"
#include "models/facts.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

class BoundNewtonRun {
 public:
  BoundNewtonRun(RowsArray rows, int columns, bool has_target, const std::string& model, bool intercept,
                 std::array<double, 2> constants, int dim, std::optional<uint64_t> seed,
                 std::optional<Array> weights, Squares squares, OwnModelHandle own)
      : rows_(std::move(rows)),
        weights_(std::move(weights)),
        squares_(std::move(squares)),
        own_(std::move(own)) {
    Records records = records_of(rows_, columns, has_target);
    require(!weights_ || (weights_->ndim() == 1 && weights_->size() == records.n),
            "weights needs one entry per row");
    if (weights_) records.weights = weights_->data();
    records.squares = squares_of_rows(squares_, records.n);
    require(dim <= most_look_dim, "too many parameters for a look");
    if (own_) {
      require(!weights_, "a model of your own takes no weights");
      require(own_->gradient, "a look needs gradients, and the model has none");
      user_ = std::make_unique<const UserModel>(own_->of(records.columns, dim));
    }
    const ModelSpec spec = own_ ? ModelSpec{ModelKind{}, records.columns, false, {}, dim, 1, user_.get()}
                                : listed(model, records, intercept, constants, dim);
    run_ = std::make_unique<NewtonRun>(records, spec, seed ? key_from_seed(*seed) : key_from_os(),
                                       !seed.has_value());
  }

  Array look(const std::vector<double>& theta, double clip, double sigma, double curvature_clip, double tau,
             double largest_square, std::array<double, 2> limits, bool outer, std::vector<int> block_of,
             const TermTable& table, int threads, int64_t block) {
    LookSpec spec{
        clip, sigma, curvature_clip, tau, largest_square, {limits[0], limits[1]}, outer, std::move(block_of)};
    check(spec, table, theta, threads, block);
    const Turn turn(turns_);
    std::vector<double> released;
    {
      py::gil_scoped_release nogil;
      released = run_->look(spec, theta, threads, block);
    }
    return Array(static_cast<py::ssize_t>(released.size()), released.data());
  }

  // Exact sums as pairs (high, low) of high 2^40 + low, so that those of several shards can be added.
  Sums sums(const std::vector<double>& theta, double clip, double sigma, double curvature_clip, double tau,
            double largest_square, std::array<double, 2> limits, bool outer, std::vector<int> block_of,
            const TermTable& table, int threads, int64_t block) {
    LookSpec spec{
        clip, sigma, curvature_clip, tau, largest_square, {limits[0], limits[1]}, outer, std::move(block_of)};
    check(spec, table, theta, threads, block);
    std::vector<Int128> found;
    {
      py::gil_scoped_release nogil;
      found = run_->sums(spec, theta, threads, block);
    }
    Sums out({static_cast<py::ssize_t>(found.size()), py::ssize_t{2}});
    for (size_t j = 0; j < found.size(); ++j) {
      out.mutable_at(static_cast<py::ssize_t>(j), 0) = static_cast<int64_t>(found[j] >> 40);
      out.mutable_at(static_cast<py::ssize_t>(j), 1) =
          static_cast<int64_t>(found[j] & ((Int128{1} << 40) - 1));
    }
    return out;
  }

  Array absorb(const Sums& sums, double clip, double sigma, double curvature_clip, double tau,
               double largest_square, std::array<double, 2> limits, bool outer, std::vector<int> block_of) {
    const LookSpec spec{
        clip, sigma, curvature_clip, tau, largest_square, {limits[0], limits[1]}, outer, std::move(block_of)};
    require_look(spec, run_->model());
    const size_t width = look_width(curvature_dim(run_->model()));
    require_sums(sums, static_cast<size_t>(run_->model().dim) + width * width, 2);
    const Turn turn(turns_);
    std::vector<Int128> all;
    for (py::ssize_t j = 0; j < sums.shape(0); ++j)
      all.push_back(Int128{sums.at(j, 0)} * (Int128{1} << 40) + sums.at(j, 1));
    const std::vector<double> released = run_->absorb(spec, all);
    return Array(static_cast<py::ssize_t>(released.size()), released.data());
  }

  // Returned as doubles in units of the noise's grid, which is exact below 2^53.
  Array bare(const std::vector<double>& theta, double clip, double sigma, double curvature_clip, double tau,
             double largest_square, std::array<double, 2> limits, bool outer, std::vector<int> block_of,
             const TermTable& table, int threads, int64_t block) {
    LookSpec spec{
        clip, sigma, curvature_clip, tau, largest_square, {limits[0], limits[1]}, outer, std::move(block_of)};
    check(spec, table, theta, threads, block);
    std::vector<Int128> sums;
    {
      py::gil_scoped_release nogil;
      sums = run_->bare(spec, theta, threads, block);
    }
    Array out(static_cast<py::ssize_t>(sums.size()));
    for (size_t j = 0; j < sums.size(); ++j) out.mutable_data()[j] = static_cast<double>(sums[j]);
    return out;
  }

  int64_t taken() const { return run_->taken(); }
  void stop() { run_->stop(); }

 private:
  static ModelSpec listed(const std::string& model, const Records& records, bool intercept,
                          std::array<double, 2> constants, int dim) {
    const ModelSpec spec = model_of(model, records, intercept, constants, dim);
    require(has_look(spec.kind), "the model has no look");
    const Facts& facts = facts_of(spec.kind);
    const int expected =
        facts.has_slopes ? spec.predictors * (records.columns + (intercept ? 1 : 0)) : facts.parameters;
    require(dim == expected, "a look needs theta of an intercept and slopes alone");
    return spec;
  }

  void check(LookSpec& spec, const TermTable& table, const std::vector<double>& theta, int threads,
             int64_t block) const {
    if (table) {
      const auto& [rows, first, per_unit] = *table;
      spec.table.assign(rows.data(), rows.data() + rows.size());
      spec.table_first = first;
      spec.table_per_unit = per_unit;
    }
    require(static_cast<int>(theta.size()) == run_->model().dim, "theta has the wrong length");
    for (double x : theta) require(std::isfinite(x), "theta must be finite");
    require(threads >= 1 && block >= 1 && block <= most_look_block, "threads and block must be positive");
    require_look(spec, run_->model());
    if (own_)
      require(spec.outer || user_->roots, "a look at curvatures needs their roots, and the model has none");
    else
      require_table(spec, run_->model());
  }

  RowsArray rows_;
  std::optional<Array> weights_;
  Squares squares_;
  OwnModelHandle own_;
  std::unique_ptr<const UserModel> user_;
  std::unique_ptr<NewtonRun> run_;
  Turns turns_;
};

}  // namespace

}  // namespace pydpmc

void bind_newton(py::module_& m) {
  using namespace pydpmc;
  using Run = BoundNewtonRun;
  const auto with_spec = [](auto& bound, const char* name, auto method, const char* doc) {
    bound.def(name, method, py::kw_only(), py::arg("theta"), py::arg("clip"), py::arg("sigma"),
              py::arg("curvature_clip"), py::arg("tau"), py::arg("largest_square"), py::arg("limits"),
              py::arg("outer"), py::arg("block_of"), py::arg("table") = py::none(), py::arg("threads"),
              py::arg("block"), doc);
  };
  py::class_<Run> bound(m, "NewtonRun");
  bound.def(py::init<RowsArray, int, bool, const std::string&, bool, std::array<double, 2>, int,
                     std::optional<uint64_t>, std::optional<Array>, Squares, OwnModelHandle>(),
            py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"), py::arg("has_target"),
            py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("dim"), py::arg("seed"),
            py::arg("weights").noconvert() = py::none(), py::arg("squares").noconvert() = py::none(),
            py::arg("own") = py::none());
  with_spec(bound, "look", &Run::look, "The noised gradient and upper triangle of the curvature at theta.");
  with_spec(bound, "bare", &Run::bare,
            "For tests: the same without noise, in integers of the noise's grid. Not private.");
  with_spec(bound, "sums", &Run::sums, "One half of a look: exact sums over these records. Not private.");
  bound.def("absorb", &Run::absorb, py::arg("sums").noconvert(), py::kw_only(), py::arg("clip"),
            py::arg("sigma"), py::arg("curvature_clip"), py::arg("tau"), py::arg("largest_square"),
            py::arg("limits"), py::arg("outer"), py::arg("block_of"),
            "The other half: the noised look made of the sums over all records.");
  bound.def_property_readonly("taken", &Run::taken);
  bound.def("stop", &Run::stop, "From another thread: the look under way returns nothing.");
}

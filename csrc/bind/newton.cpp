// NewtonRun: checks shapes and headroom, keeps the arrays alive, releases the interpreter lock.
#include "run/newton.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind/halves.hpp"
#include "bind/look_arguments.hpp"
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
                 std::array<double, 2> constants, int dim, std::optional<uint64_t> seed, Weights weights,
                 Squares squares, OwnModelHandle own)
      : rows_(std::move(rows)),
        weights_(std::move(weights)),
        squares_(std::move(squares)),
        own_(std::move(own)) {
    Records records = records_of(rows_, columns, has_target);
    records.weights = weights_of_rows(weights_, records.n);
    records.squares = squares_of_rows(squares_, records.n);
    require(dim <= most_look_dim, "too many parameters for a look");
    if (own_) {
      require(!weights_, "a model of your own takes no weights");
      require(own_->gradient, "a look needs gradients, and the model has none");
      user_ = std::make_unique<const UserModel>(own_->of(records.columns, dim));
    }
    const ModelSpec spec = own_ ? ModelSpec{ModelKind{}, records.columns, false, {}, dim, 1, user_.get()}
                                : listed_look(model, records, intercept, constants, dim);
    run_ = std::make_unique<NewtonRun>(records, spec, seed ? key_from_seed(*seed) : key_from_os(),
                                       !seed.has_value());
  }

  Array look(const std::vector<double>& theta, const LookSpec& spec, int threads, int64_t block) {
    check(spec, theta, threads, block);
    const Turn turn(turns_);
    std::vector<double> released;
    {
      py::gil_scoped_release nogil;
      released = run_->look(spec, theta, threads, block);
    }
    return Array(static_cast<py::ssize_t>(released.size()), released.data());
  }

  // Exact sums as pairs (high, low) of high 2^40 + low, so that those of several shards can be added.
  Sums sums(const std::vector<double>& theta, const LookSpec& spec, int threads, int64_t block) {
    const std::vector<Int128> found = without_lock(&NewtonRun::sums, theta, spec, threads, block);
    Sums out({static_cast<py::ssize_t>(found.size()), py::ssize_t{2}});
    for (size_t j = 0; j < found.size(); ++j) {
      out.mutable_at(static_cast<py::ssize_t>(j), 0) = static_cast<int64_t>(found[j] >> 40);
      out.mutable_at(static_cast<py::ssize_t>(j), 1) =
          static_cast<int64_t>(found[j] & ((Int128{1} << 40) - 1));
    }
    return out;
  }

  Array absorb(const Sums& sums, const LookSpec& spec) {
    require_look(spec, run_->model());
    require_sums(sums, sums_of(summed_by(spec, run_->model())), 2);
    const Turn turn(turns_);
    std::vector<Int128> all;
    for (py::ssize_t j = 0; j < sums.shape(0); ++j)
      all.push_back(Int128{sums.at(j, 0)} * (Int128{1} << 40) + sums.at(j, 1));
    const std::vector<double> released = run_->absorb(spec, all);
    return Array(static_cast<py::ssize_t>(released.size()), released.data());
  }

  // Returned as doubles in units of the noise's grid, which is exact below 2^53.
  Array bare(const std::vector<double>& theta, const LookSpec& spec, int threads, int64_t block) {
    const std::vector<Int128> sums = without_lock(&NewtonRun::bare, theta, spec, threads, block);
    Array out(static_cast<py::ssize_t>(sums.size()));
    for (size_t j = 0; j < sums.size(); ++j) out.mutable_data()[j] = static_cast<double>(sums[j]);
    return out;
  }

  int64_t taken() const { return run_->taken(); }
  void stop() { run_->stop(); }

 private:
  template <class Summing>
  std::vector<Int128> without_lock(Summing sum, const std::vector<double>& theta, const LookSpec& spec,
                                   int threads, int64_t block) {
    check(spec, theta, threads, block);
    py::gil_scoped_release nogil;
    return ((*run_).*sum)(spec, theta, threads, block);
  }

  void check(const LookSpec& spec, const std::vector<double>& theta, int threads, int64_t block) const {
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
  Weights weights_;
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
  py::class_<Run> bound(m, "NewtonRun");
  bound.def(py::init<RowsArray, int, bool, const std::string&, bool, std::array<double, 2>, int,
                     std::optional<uint64_t>, Weights, Squares, OwnModelHandle>(),
            py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"), py::arg("has_target"),
            py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("dim"), py::arg("seed"),
            py::arg("weights").noconvert() = py::none(), py::arg("squares").noconvert() = py::none(),
            py::arg("own") = py::none());
  bind_look(bound, "look", &Run::look, "The noised gradient and upper triangle of the curvature at theta.",
            &look_spec);
  bind_look(bound, "bare", &Run::bare,
            "For tests: the same without noise, in integers of the noise's grid. Not private.", &look_spec);
  bind_look(bound, "sums", &Run::sums, "One half of a look: exact sums over these records. Not private.",
            &look_spec);
  bind_absorb(bound, &Run::absorb, "The other half: the noised look made of the sums over all records.",
              &look_spec);
  bound.def_property_readonly("taken", &Run::taken);
  bound.def("stop", &Run::stop, "From another thread: the look under way returns nothing.");
}

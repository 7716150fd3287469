// Binds OwnModel, OwnPrior and OwnProposal. A Python function is called with the interpreter lock, on views
// of the core's memory. What it raises is dropped: a message would say something of a record. The core then
// tries its records one by one.
#include "bind/own.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <limits>

#include "bind/records.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

py::array view(double* numbers, std::initializer_list<py::ssize_t> shape) {
  return py::array_t<double>(shape, numbers, py::none());
}

// Records and theta are not the function's to change.
py::array frozen(const double* numbers, std::initializer_list<py::ssize_t> shape) {
  py::array made = view(const_cast<double*>(numbers), shape);
  py::detail::array_proxy(made.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return made;
}

enum class Writes { loglik, gradient, roots };  // for each record

// Whether a function takes theta, x and y, or all of them in one array: features, targets and theta, as they
// lie in a RecordBlock. Each array that a backend is given costs it about a microsecond.
enum class Takes { three, one };

template <Writes what, Takes how>
int call_python(int64_t count, int64_t columns, int64_t dim, const double* theta, const double* x,
                const double* y, double* out, void* user) noexcept {
  const py::gil_scoped_acquire locked;
  try {
    const py::handle function(static_cast<PyObject*>(user));
    const py::array to = what == Writes::loglik     ? view(out, {count})
                         : what == Writes::gradient ? view(out, {count, dim})
                                                    : view(out, {count, 1 + dim, dim});
    if constexpr (how == Takes::one) {
      function(frozen(x, {count * (columns + 1) + dim}), to);
    } else {
      const py::object targets = y ? py::object(frozen(y, {count})) : py::object(py::none());
      function(frozen(theta, {dim}), frozen(x, {count, columns}), targets, to);
    }
    return 0;
  } catch (py::error_already_set&) {
    return 1;
  } catch (...) {
    PyErr_Clear();
    return 1;
  }
}

double call_python_prior(int64_t dim, const double* theta, double* slopes, void* user) noexcept {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  const py::gil_scoped_acquire locked;
  try {
    for (int64_t j = 0; slopes && j < dim; ++j) slopes[j] = unknown;
    const py::object to = slopes ? py::object(view(slopes, {dim})) : py::object(py::none());
    return py::handle(static_cast<PyObject*>(user))(frozen(theta, {dim}), to).cast<double>();
  } catch (...) {
    PyErr_Clear();
    return unknown;
  }
}

// The function returns the log-ratio, after it wrote the proposal.
double call_python_proposal(int64_t dim, const double* theta, const uint64_t* words, double* out,
                            void* user) noexcept {
  const py::gil_scoped_acquire locked;
  try {
    const py::tuple given = py::make_tuple(words[0], words[1]);
    return py::handle(static_cast<PyObject*>(user))(frozen(theta, {dim}), given, view(out, {dim}))
        .cast<double>();
  } catch (...) {
    PyErr_Clear();
    return std::numeric_limits<double>::quiet_NaN();
  }
}

void require_block(int64_t block) {
  require(block >= 1 && block <= 65536, "block must be a whole number from 1 to 65536");
}

template <Takes how>
OwnModelHandle bound(const py::object& loglik, const py::object& gradient, int64_t block,
                     const py::object& roots) {
  return std::make_shared<BoundOwnModel>(BoundOwnModel{
      call_python<Writes::loglik, how>, gradient.is_none() ? nullptr : call_python<Writes::gradient, how>,
      loglik.ptr(), gradient.ptr(), block, py::make_tuple(loglik, gradient, roots),
      roots.is_none() ? nullptr : call_python<Writes::roots, how>, roots.ptr()});
}

OwnModelHandle of_python(const py::object& loglik, const py::object& gradient, int64_t block,
                         const py::object& roots, bool in_one_array) {
  require_block(block);
  require(!in_one_array || block > 1, "theta lies beside the records in blocks of several records only");
  return in_one_array ? bound<Takes::one>(loglik, gradient, block, roots)
                      : bound<Takes::three>(loglik, gradient, block, roots);
}

OwnModelHandle of_addresses(std::uintptr_t loglik, std::uintptr_t gradient, std::uintptr_t loglik_user,
                            std::uintptr_t gradient_user, int64_t block, py::object keep) {
  require_block(block);
  require(loglik != 0, "a model needs the address of its log-likelihood");
  return std::make_shared<BoundOwnModel>(BoundOwnModel{
      reinterpret_cast<pydpmc_function>(loglik), reinterpret_cast<pydpmc_function>(gradient),
      reinterpret_cast<void*>(loglik_user), reinterpret_cast<void*>(gradient_user), block, std::move(keep)});
}

OwnPriorHandle prior_of_address(std::uintptr_t log_density, std::uintptr_t user, py::object keep) {
  require(log_density != 0, "a prior needs the address of its log density");
  return std::make_shared<BoundOwnPrior>(BoundOwnPrior{
      {reinterpret_cast<pydpmc_prior>(log_density), reinterpret_cast<void*>(user)}, std::move(keep)});
}

}  // namespace

}  // namespace pydpmc

void bind_own(py::module_& m) {
  using namespace pydpmc;
  py::class_<BoundOwnModel, OwnModelHandle>(m, "OwnModel")
      .def_static("of_python", &of_python, py::kw_only(), py::arg("loglik"), py::arg("gradient"),
                  py::arg("block"), py::arg("roots") = py::none(), py::arg("in_one_array") = false)
      .def_static("of_addresses", &of_addresses, py::kw_only(), py::arg("loglik"), py::arg("gradient") = 0,
                  py::arg("loglik_user") = 0, py::arg("gradient_user") = 0, py::arg("block") = 1,
                  py::arg("keep") = py::none())
      .def_property_readonly("has_gradient",
                             [](const BoundOwnModel& own) { return own.gradient != nullptr; });
  py::class_<BoundOwnPrior, OwnPriorHandle>(m, "OwnPrior")
      .def_static(
          "of_python",
          [](const py::object& log_density) {
            return std::make_shared<BoundOwnPrior>(
                BoundOwnPrior{{call_python_prior, log_density.ptr()}, log_density});
          },
          py::arg("log_density"))
      .def_static("of_address", &prior_of_address, py::arg("log_density"), py::arg("user") = 0,
                  py::arg("keep") = py::none());
  py::class_<BoundOwnProposal, OwnProposalHandle>(m, "OwnProposal")
      .def_static(
          "of_python",
          [](const py::object& propose) {
            return std::make_shared<BoundOwnProposal>(
                BoundOwnProposal{{call_python_proposal, propose.ptr()}, propose});
          },
          py::arg("propose"));
  m.attr("model_version") = PYDPMC_MODEL_VERSION;
}

// The bare loops over records, for tests and audits only. What these functions return is not private.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cmath>
#include <optional>
#include <vector>

#include "bind/records.hpp"
#include "isa/dispatch.hpp"
#include "query/gradient_query.hpp"
#include "run/tiles.hpp"
#include "threads/parallel.hpp"
#include "threads/team.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

using Theta = std::vector<double>;
using Index = py::array_t<uint32_t, py::array::c_style>;

Array log_likelihoods(const RowsArray& rows, int columns, bool has_target, const std::string& model,
                      bool intercept, std::array<double, 2> constants, const Theta& theta) {
  const Records records = records_of(rows, columns, has_target);
  const ModelSpec spec = model_of(model, records, intercept, constants, static_cast<int>(theta.size()));
  Theta slopes(slopes_size(spec));
  Array out(records.n);
  kernels().log_likelihoods(spec, records, theta.data(), slopes.data(), 0, records.n, out.mutable_data());
  return out;
}

RatioSum full_sum(const ModelSpec& spec, const Records& records, const Theta& current, const Theta& proposal,
                  const Grid& grid, int threads, int64_t block) {
  Theta now(static_cast<size_t>(records.n)), next(static_cast<size_t>(records.n)), first(slopes_size(spec));
  kernels().log_likelihoods(spec, records, current.data(), first.data(), 0, records.n, now.data());
  Theta slopes(slopes_size(spec) * static_cast<size_t>(threads));
  const Stop never;
  Team team(records.units(), block, threads, never);
  RatioSum total;
  const auto leader = [&] {
    total = team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
      double* own = slopes.data() + static_cast<size_t>(thread) * slopes_size(spec);
      return kernels().full_ratio(spec, records, proposal.data(), own, begin, end, now.data(), next.data(),
                                  grid);
    });
    team.dismiss();
  };
  with_team(threads, leader, [&](int thread) { team.work(thread); });
  return total;
}

void require_index(const Index& index, int64_t n) {
  for (py::ssize_t i = 0; i < index.size(); ++i)
    require(index.at(i) < n, "index names a record that is not there");
}

py::tuple ratio_sum(const RowsArray& rows, int columns, bool has_target, const std::string& model,
                    bool intercept, std::array<double, 2> constants, const Theta& current,
                    const Theta& proposal, double clip, int bits, std::optional<Index> index, int threads,
                    int64_t block, const Starts& group_start, bool tiles) {
  Records records = records_of(rows, columns, has_target, group_start);
  require(!index || !group_start, "groups have no minibatch test");
  const ModelSpec spec = model_of(model, records, intercept, constants, static_cast<int>(current.size()));
  require(proposal.size() == current.size(), "current and proposal differ in length");
  require_grid(clip, bits);
  require(bits >= 1 && bits <= (index ? 25 : 50), "bits must be 1 to 50, or 1 to 25 for batches");
  require(threads >= 1 && block >= 1, "threads and block must be positive");
  std::vector<double> copy;
  if (tiles) copy = make_finite_tiles(spec, records);
  const Grid grid{clip, std::ldexp(1.0, bits) / clip};
  RatioSum r;
  if (index) {
    require_index(*index, records.units());
    Theta slopes(slopes_size(spec));
    r = kernels().batch_ratio(spec, records, current.data(), proposal.data(), slopes.data(),
                              {index->data(), index->size()}, grid);
  } else {
    r = full_sum(spec, records, current, proposal, grid, threads, block);
  }
  return py::make_tuple(r.sum, r.sum_squares, r.clipped);
}

py::array_t<double> squared_norms(const RowsArray& rows, int columns, bool has_target) {
  const Records records = records_of(rows, columns, has_target);
  py::array_t<double> squares(static_cast<py::ssize_t>(records.n));
  kernels().squared_norms(records, squares.mutable_data());
  return squares;
}

py::array_t<int64_t> gradient_sum(const RowsArray& rows, int columns, bool has_target,
                                  const std::string& model, bool intercept, std::array<double, 2> constants,
                                  const Theta& theta, double clip, double per_unit,
                                  std::optional<Index> index, double moment_scale,
                                  std::optional<double> moment_clip, const Starts& group_start, bool narrow,
                                  const Coded& coded) {
  Records records = records_of(rows, columns, has_target, group_start);
  records.coded = coded_of(coded, records);
  const Theta squares = squares_of(records);
  records.squares = {squares.data()};
  const int dim = static_cast<int>(theta.size());
  const ModelSpec spec = model_of(model, records, intercept, constants, dim);
  const SecondMoments moments{moment_scale, clip};
  require(!moments.taken() || (dim <= most_moment_dim && spec.predictors == 1 && !records.group_start),
          "too many parameters for second moments, or a model that has none");
  require(clip >= 1e-100 && std::hypot(clip, moments.bound()) * per_unit < 0x1p50,
          "clip is too small, or its grid too fine");
  if (index) require_index(*index, records.units());
  const int released = static_cast<int>(moments.coordinates(dim));
  require(!narrow || (!moments.taken() && has_narrow_sums(spec, records)),
          "these records have no narrow sums");
  const size_t dims = static_cast<size_t>(dim);
  const GradientGrid grid = narrow ? narrow_grid(records.storage, clip, 1.0 / per_unit, dims)
                                   : grid_within(clip, 1.0 / per_unit, released);
  require(!narrow || records.storage == Storage::fixed16 || clip * per_unit <= largest_float_integer,
          "the grid is too fine for narrow sums");
  Workspaces workspaces(1, spec, static_cast<size_t>(released));
  workspaces.clear(0, 1);
  const Batch batch = index ? Batch{index->data(), index->size()} : Batch{nullptr, records.units()};
  double* slopes = workspaces.slopes(0);
  if (moments.taken())
    kernels().moment_sums(spec, records, theta.data(), slopes, batch, grid,
                          {std::fmin(moment_clip.value_or(clip), grid.clip), moment_scale * grid.per_unit},
                          workspaces.sums(0));
  else if (narrow)
    kernels().narrow_sums(spec, records, theta.data(), slopes, batch, grid, workspaces.sums(0));
  else
    kernels().gradient_sums(spec, records, theta.data(), slopes, batch, grid, workspaces.sums(0));
  return py::array_t<int64_t>(released, workspaces.sums(0));
}

}  // namespace

}  // namespace pydpmc

void bind_kernels(py::module_& m) {
  using namespace pydpmc;
  m.def("log_likelihoods", &log_likelihoods, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("has_target"), py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("theta"),
        "For tests: the log-likelihood of every record, up to terms free of theta.");
  m.def("ratio_sum", &ratio_sum, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("has_target"), py::arg("model"), py::arg("intercept"), py::arg("constants"),
        py::arg("current"), py::arg("proposal"), py::arg("clip"), py::arg("bits"),
        py::arg("index") = py::none(), py::arg("threads") = 1, py::arg("block") = 4096,
        py::arg("group_start").noconvert() = py::none(), py::arg("tiles") = false,
        "For tests: (sum, sum of squares, clipped) of the quantised ratios, of all records (from rows or, "
        "where "
        "a run has them, from tiles) or of a batch.");
  m.def("squared_norms", &squared_norms, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("has_target"), "|x|^2 of every row.");
  m.def("gradient_sum", &gradient_sum, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("has_target"), py::arg("model"), py::arg("intercept"), py::arg("constants"), py::arg("theta"),
        py::arg("clip"), py::arg("per_unit"), py::arg("index") = py::none(), py::arg("moment_scale") = 0.0,
        py::arg("moment_clip") = py::none(), py::arg("group_start").noconvert() = py::none(),
        py::arg("narrow") = false, py::arg("coded").noconvert() = py::none(),
        "For tests: the integer sum of the clipped gradients, of all records or of a batch, and of their "
        "scaled second moments if moment_scale is positive.");
}

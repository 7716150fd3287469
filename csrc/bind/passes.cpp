// The time of each pass over all records, for bench/passes.py. What the passes compute is dropped.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "bind/records.hpp"
#include "isa/dispatch.hpp"
#include "kernels/curvature/look_grid.hpp"
#include "kernels/gradient/chains.hpp"
#include "query/gradient_query.hpp"
#include "run/tiles.hpp"
#include "samplers/nuts/log_density.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

// Of this thread where the system counts it, so that other processes disturb little.
double processor_seconds() {
#if defined(CLOCK_THREAD_CPUTIME_ID)
  std::timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#else
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

template <class Pass>
double shortest(int repeats, const Pass& pass) {
  double best = 1e300;
  for (int k = 0; k <= repeats; ++k) {
    const double started = processor_seconds();
    pass();
    if (k > 0) best = std::min(best, processor_seconds() - started);
  }
  return best;
}

std::map<std::string, double> pass_seconds(const RowsArray& rows, int columns, bool intercept,
                                           const std::vector<double>& theta, int chains, int repeats) {
  Records records = records_of(rows, columns, true);
  const int dim = static_cast<int>(theta.size());
  const ModelSpec spec = model_of("logistic_regression", records, intercept, {0.0, 0.0}, dim);
  require(chains >= 1 && chains <= most_chains_at_once && repeats >= 1, "chains or repeats out of range");
  const std::vector<double> squares = squares_of(records);
  records.squares = {squares.data()};
  const int64_t n = records.n;
  const size_t dims = theta.size(), many = static_cast<size_t>(chains), width = look_width(dim);
  std::vector<double> scratch(std::max({slopes_size(spec), look_scratch(spec), chains_scratch(spec, many)}));
  std::vector<double> now(static_cast<size_t>(n)), next(now.size()), density(dims + 1), thetas;
  for (size_t c = 0; c < many; ++c) thetas.insert(thetas.end(), theta.begin(), theta.end());
  std::vector<int64_t> sums(many * dims + 8), products(width * width);
  const KernelTable& kernel = kernels();
  const GradientGrid grid{0.9, 0x1p30}, unclipped{2.0, 0x1p30, false};
  const LoglikRange unclamped{-HUGE_VAL, HUGE_VAL};
  const double radius2 = 1.0 + intercept;  // rows of norm 1, as a run of Newton bounds them
  const LookGrid look{
      {std::sqrt(radius2), 0x1p30}, radius2 / 4, longest_root / std::sqrt(radius2 / 4), radius2, {}};
  double* own = scratch.data();
  kernel.log_likelihoods(spec, records, theta.data(), own, 0, n, now.data());
  std::map<std::string, double> seconds;
  seconds["clipped"] = shortest(repeats, [&] {
    kernel.gradient_sums(spec, records, theta.data(), own, {nullptr, n}, grid, sums.data());
  });
  const std::vector<double> tiles = make_tiles(spec, records);
  seconds["look"] = shortest(repeats, [&] {
    look_kernels().look_sums(spec, records, theta.data(), own, 0, n, look, sums.data(), products.data());
  });
  seconds["barker"] = shortest(repeats, [&] {
    kernel.full_ratio(spec, records, theta.data(), own, 0, n, now.data(), next.data(), {1.0, 0x1p30});
  });
  seconds["density"] = shortest(repeats, [&] {
    for (int64_t i = 0; i < n; i += density_block)
      kernel.log_density(spec, records, theta.data(), own, i, std::min(n, i + density_block), unclamped,
                         density.data());
  });
  if (sums_chains_at_once(spec, records))
    for (const auto& [name, count] : {std::pair{"gradient", 1}, {"chains", chains}})
      seconds[name] = shortest(repeats, [&, count = count] {
        kernel.chain_sums(spec, records, thetas.data(), count, own, 0, n, unclipped, sums.data());
      });
  return seconds;
}

}  // namespace

}  // namespace pydpmc

void bind_passes(py::module_& m) {
  using namespace pydpmc;
  m.def("pass_seconds", &pass_seconds, py::kw_only(), py::arg("rows").noconvert(), py::arg("columns"),
        py::arg("intercept"), py::arg("theta"), py::arg("chains"), py::arg("repeats"),
        "For benchmarks: the shortest processor time of each pass over all records of a logistic regression, "
        "on one thread. The pass `chains` serves that many chains.");
}

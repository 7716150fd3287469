// ShardSums: sums over the records of one shard, several thetas in a call, without the interpreter lock.
#include "run/shard_sums.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bind/halves.hpp"
#include "bind/queries.hpp"
#include "bind/target.hpp"
#include "threads/chains.hpp"
#include "threads/turn.hpp"

namespace py = pybind11;

namespace pydpmc {

namespace {

class BoundShardSums {
 public:
  explicit BoundShardSums(TargetHandle target) : target_(std::move(target)), sums_(target_->target()) {}

  Sums gradient(const Array& thetas, double clip, double per_unit, int threads) {
    const py::ssize_t count = rows_of(thetas);
    target_->require_unweighted();
    require(clip > 0 && per_unit > 0 && clip * per_unit < 0x1p50, "clip overflows its grid");
    Sums out({count, thetas.shape(1)});
    int64_t* to = out.mutable_data();
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    sums_.gradient(thetas.data(), count, {clip, per_unit}, usable(threads), to);
    return out;
  }

  void start_queries(const std::string& sampler, std::map<std::string, std::vector<double>> parameters,
                     const std::string& sampling, double clip, double room, std::shared_ptr<GapTables> gaps,
                     int64_t most, int chains) {
    const ModelSpec& model = sums_.target().model;
    const QuerySpec query{
        sampling_of(sampling),
        clip,
        0,
        std::move(gaps),
        most,
        room,
        moments_of(sampler, Parameters(std::move(parameters)), static_cast<size_t>(model.dim))};
    require(query.sampling != Sampling::without_replacement, "a shard cannot draw batches of a fixed size");
    if (query.sampling != Sampling::full)
      require_sampling(query.gaps.get(), most, sums_.target().records.units());
    require(clip >= smallest_query && clip <= largest_query, "clip must lie between 2^-200 and 2^200");
    require(!query.moments.taken() || (model.predictors == 1 && !sums_.target().records.group_start),
            "second moments are taken of single records with one predictor");
    require(chains >= 1, "chains must be positive");
    const Turn turn(turns_);
    sums_.start_queries(query, chains);
  }

  Sums query(const Array& thetas, uint64_t step, double sd, const py::bytes& key, int threads) {
    const std::string_view words(key);
    Key own;
    require(words.size() == sizeof own.words, "key must have 32 bytes");
    std::memcpy(own.words, words.data(), sizeof own.words);
    require(rows_of(thetas) == sums_.chains(), "thetas needs a row per chain");
    require(sd >= smallest_query && sd <= largest_query, "noise must lie between 2^-200 and 2^200");
    Sums out({thetas.shape(0), static_cast<py::ssize_t>(sums_.released())});
    int64_t* to = out.mutable_data();
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    sums_.query(thetas.data(), step, sd, own, usable(threads), to);
    wipe(own);
    return out;
  }

  Sums ratio(const Array& states, double clip, int bits, int threads) {
    require(rows_of(states) % 2 == 0, "states and proposals alternate");
    target_->require_unweighted();
    require_grid(clip, bits);
    require(bits >= 1 && bits <= 50, "bits must be 1 to 50");
    std::vector<RatioSum> ratios(static_cast<size_t>(states.shape(0) / 2));
    {
      const Turn turn(turns_);
      py::gil_scoped_release nogil;
      sums_.ratio(states.data(), static_cast<int64_t>(ratios.size()), {clip, std::ldexp(1.0, bits) / clip},
                  usable(threads), ratios.data());
    }
    Sums out({states.shape(0) / 2, py::ssize_t{2}});
    for (size_t c = 0; c < ratios.size(); ++c) {
      out.mutable_at(static_cast<py::ssize_t>(c), 0) = ratios[c].sum;
      out.mutable_at(static_cast<py::ssize_t>(c), 1) = ratios[c].clipped;
    }
    return out;
  }

  Sums density(const Array& thetas, std::array<double, 2> loglik_range, int threads) {
    const py::ssize_t count = rows_of(thetas);
    target_->require_single_records();
    target_->require_gradient();
    target_->require_no_network();
    require(loglik_range[0] <= 0 && loglik_range[1] >= 0, "loglik_range must hold zero");
    Sums out({count, thetas.shape(1) + 1, static_cast<py::ssize_t>(exact_width)});
    int64_t* to = out.mutable_data();
    const Turn turn(turns_);
    py::gil_scoped_release nogil;
    sums_.density(thetas.data(), count, {loglik_range[0], loglik_range[1]}, usable(threads), to);
    return out;
  }

 private:
  static int usable(int threads) { return std::clamp(threads, 1, most_threads); }

  py::ssize_t rows_of(const Array& thetas) const {
    require(thetas.ndim() == 2 && thetas.shape(1) == sums_.target().model.dim,
            "thetas must have a row per theta");
    return thetas.shape(0);
  }

  TargetHandle target_;
  ShardSums sums_;
  Turns turns_;
};

// The doubles of exact sums, each rounded once.
py::array_t<double> doubles_of(const Sums& digits) {
  require(digits.ndim() == 2 && digits.shape(1) == static_cast<py::ssize_t>(exact_width),
          "digits must have a row per sum");
  py::array_t<double> out(digits.shape(0));
  for (py::ssize_t k = 0; k < digits.shape(0); ++k)
    out.mutable_at(k) = rounded(digits.data(k, 0), 0, exact_digits - 1);
  return out;
}

}  // namespace

}  // namespace pydpmc

void bind_shard_sums(py::module_& m) {
  using namespace pydpmc;
  using Shard = BoundShardSums;
  m.attr("density_block") = density_block;
  m.attr("exact_width") = exact_width;
  m.def("doubles_of", &doubles_of, py::arg("digits"));
  py::class_<Shard>(m, "ShardSums",
                    "Exact sums over the records of a shard. Not private: noise is added once, "
                    "to the sums over all shards.")
      .def(py::init<TargetHandle>(), py::arg("target"))
      .def("gradient", &Shard::gradient, py::arg("thetas"), py::kw_only(), py::arg("clip"),
           py::arg("per_unit"), py::arg("threads"))
      .def("start_queries", &Shard::start_queries, py::kw_only(), py::arg("sampler"), py::arg("parameters"),
           py::arg("sampling"), py::arg("clip"), py::arg("room"), py::arg("gaps"), py::arg("most"),
           py::arg("chains"))
      .def("query", &Shard::query, py::arg("thetas"), py::kw_only(), py::arg("step"), py::arg("noise"),
           py::arg("key"), py::arg("threads"))
      .def("density", &Shard::density, py::arg("thetas"), py::kw_only(), py::arg("loglik_range"),
           py::arg("threads"))
      .def("ratio", &Shard::ratio, py::arg("states"), py::kw_only(), py::arg("clip"), py::arg("bits"),
           py::arg("threads"));
}

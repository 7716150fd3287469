// Target and Chains as Python constructs them: checked once for all runs. Both keep their arrays alive.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/network.hpp"
#include "bind/own.hpp"
#include "bind/records.hpp"
#include "models/prior_slopes.hpp"
#include "models/target.hpp"
#include "run/chains.hpp"

namespace pydpmc {

inline Prior prior_of(const Array& table, int dim) {
  require(table.ndim() == 2 && table.shape(0) == dim && table.shape(1) == 5,
          "prior must have a row per parameter");
  Prior prior;
  for (pybind11::ssize_t j = 0; j < dim; ++j)
    prior.push_back({static_cast<PriorKind>(static_cast<int>(table.at(j, 0))), table.at(j, 1), table.at(j, 2),
                     table.at(j, 3), table.at(j, 4) != 0.0});
  return prior;
}

// The arguments of Target in Python. Further facts about records belong here.
struct TargetArguments {
  RowsArray rows;
  int columns;
  bool has_target;
  std::string model;
  bool intercept;
  std::array<double, 2> constants;
  Array prior;
  Starts group_start;
  Squares squares;
  Coded coded;
  OwnModelHandle own;
  OwnPriorHandle own_prior;
  NetworkHandle network;
  Weights weights;
};

class BoundTarget {
 public:
  explicit BoundTarget(TargetArguments given) : given_(std::move(given)) {
    require(given_.prior.ndim() == 2, "prior must have a row per parameter");
    Records& records = target_.records;
    records = records_of(given_.rows, given_.columns, given_.has_target, given_.group_start);
    records.squares = squares_of_rows(given_.squares, records.n);
    records.coded = coded_of(given_.coded, records);
    records.weights = weights_of_rows(given_.weights, records.n);
    require(!records.weights || !given_.network, "a network takes no weights of records");
    const int dim = static_cast<int>(given_.prior.shape(0));
    if (given_.own) {
      own_ = std::make_unique<const UserModel>(given_.own->of(records.columns, dim));
      target_.model = {ModelKind{}, records.columns, false, {}, dim, 1, own_.get()};
    } else if (given_.network) {
      target_.model = network_of(*given_.network, records, dim);
    } else {
      target_.model = model_of(given_.model, records, given_.intercept, given_.constants, dim);
    }
    target_.prior = prior_of(given_.prior, dim);
    if (given_.own_prior) target_.prior.own = &given_.own_prior->prior;
  }

  BoundTarget with_squares(Squares squares) const {
    TargetArguments changed = given_;
    changed.squares = std::move(squares);
    return BoundTarget(std::move(changed));
  }

  const Target& target() const { return target_; }
  const Records& records() const { return target_.records; }
  const TargetArguments& given() const { return given_; }

  std::pair<double, std::vector<double>> log_prior_and_slopes(const std::vector<double>& theta) const {
    require(static_cast<int>(theta.size()) == target_.model.dim, "theta has the wrong length");
    std::vector<double> slopes(theta.size()), scratch(theta.size());
    PriorSlopes{target_.prior}(theta.data(), slopes.data(), scratch.data());
    return {log_prior(target_.prior, theta.data()), slopes};
  }

  // Called by every run that moves along gradients.
  void require_gradient() const {
    require(!own_ || own_->gradient, "this run needs gradients, and the model has none");
  }

  // Called by runs whose proof is for models of models/all.hpp.
  void require_listed() const {
    require(!target_.model.own && !target_.prior.own, "this run takes no model or prior of your own");
  }
  // Called by runs whose proof is for normal priors of models/prior.hpp.
  void require_listed_prior() const { require(!target_.prior.own, "this run takes no prior of your own"); }
  // Called by every run but those of gradient samplers, which alone have loops for networks.
  void require_no_network() const { require(!given_.network, "a network is sampled by gradient samplers"); }

  // Called by every run but those of gradient samplers, whose loops alone read weights.
  void require_unweighted() const {
    require(!target_.records.weights, "this run takes records without weights");
  }

  // Called by every run that cannot handle groups.
  void require_single_records() const {
    require(!target_.records.group_start, "this run takes single records, not groups");
  }

 private:
  TargetArguments given_;
  std::unique_ptr<const UserModel> own_;
  Target target_{};
};

class BoundChains {
 public:
  BoundChains(Array init, Array draws, int64_t warmup, int64_t thin, std::optional<uint64_t> seed)
      : init_(std::move(init)), draws_(std::move(draws)), warmup_(warmup), thin_(thin), seed_(seed) {
    require(init_.ndim() == 2 && init_.shape(0) >= 1 && init_.shape(0) < (1 << 24),
            "init must be (chains, dim)");
    require(draws_.ndim() == 3 && draws_.shape(0) == init_.shape(0) && draws_.shape(2) == init_.shape(1),
            "draws must be (chains, kept, dim)");
    require(warmup >= 0 && thin >= 1, "warmup must be at least 0 and thin at least 1");
  }

  // Every run gets a key of its own, unless a seed is given.
  Chains of(const Target& target) {
    require(init_.shape(1) == target.model.dim, "init and prior differ in the length of theta");
    return {seed_ ? key_from_seed(*seed_) : key_from_os(), !seed_.has_value(),
            static_cast<int>(init_.shape(0)), init_.data(),
            Draws{draws_.mutable_data(), warmup_, thin_, draws_.shape(1)}};
  }

  const Array& init() const { return init_; }
  const Array& draws() const { return draws_; }
  int64_t warmup() const { return warmup_; }
  int64_t thin() const { return thin_; }
  int64_t kept() const { return draws_.shape(1); }
  std::optional<uint64_t> seed() const { return seed_; }

 private:
  Array init_, draws_;
  int64_t warmup_, thin_;
  std::optional<uint64_t> seed_;
};

// Keeps the Python objects alive that a run refers to.
using TargetHandle = std::shared_ptr<BoundTarget>;
using ChainsHandle = std::shared_ptr<BoundChains>;

}  // namespace pydpmc

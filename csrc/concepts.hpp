// READ FIRST. The vocabulary of the core.
//
// Records    (records.hpp) are the private rows, [x_0 .. x_{d-1}, y], stored once by pydpmc.Data and never
//            copied. Arithmetic is in double precision whatever the storage, except for the sums of
//            kernels/gradient/narrow_gradient.hpp. The unit, which is sampled, clipped and protected, is a
//            record, or a group of records if there are groups.
// ModelSpec  names the likelihood and its public constants. theta = ([intercept,] slopes [, log sigma]);
//            with a predictor per class (softmax): ([intercepts by class,] slopes class by class).
// Model      (csrc/models) has facts; prepare(spec, theta), which computes what all records need; loglik and
//            score of (predictor, target, prepared) for eight records, up to terms free of theta.
// Grid       the public integer grid to which a record's clipped contribution is rounded.
// GradientSampler  (csrc/samplers) moves theta by a noised gradient: start, step, state.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "records.hpp"

namespace pydpmc {

// A model's position in the list of models/all.hpp; models/facts.hpp finds it by name.
enum class ModelKind : int {};

struct KernelTable;  // isa/dispatch.hpp

// A likelihood that is not in models/all.hpp: it brings its own loops over records. Derived classes hold
// what those loops need.
struct OwnModel {
  const KernelTable* kernels;
  std::size_t workspace = 0;     // doubles of scratch memory that its loops need for each thread
  double largest_integer = 0.0;  // bound on clip / unit, if the grid must be coarser than for other models
};

struct ModelSpec {
  ModelKind kind;
  int columns;
  bool intercept;
  double constants[2];
  int dim;             // length of theta
  int predictors = 1;  // linear predictors of a record: the classes of a softmax
  const OwnModel* own = nullptr;
};

// The number of doubles that the kernels keep for one theta: slopes padded to a multiple of eight; with
// several predictors also an offset for each, and their values for eight records.
[[gnu::always_inline]] inline size_t prepared_size(const ModelSpec& spec) noexcept {
  const size_t slopes = static_cast<size_t>((spec.columns + 7) / 8 * 8);
  const size_t predictors = static_cast<size_t>(spec.predictors);
  return predictors == 1 ? slopes : predictors * (slopes + 9);
}

struct Grid {
  double clip;      // B: a ratio lies in [-B, B]
  double per_unit;  // 2^bits / B: integers per unit of log-likelihood
};

// The range to which a record's log-likelihood is clamped; infinite ends clamp nothing.
struct LoglikRange {
  double low, high;
};

struct GradientGrid {
  double clip;      // a record's gradient is scaled down to this norm before rounding
  double per_unit;  // integers per unit of gradient
  // False if the caller has proved that no gradient is longer than `clip`. Then one that is longer all the
  // same is left out, which takes no root and no quotient.
  bool clips = true;
};

// What the accept test needs from the records. `clipped` is secret: only unsafe diagnostics release it.
struct RatioSum {
  int64_t sum = 0;
  int64_t sum_squares = 0;
  int64_t clipped = 0;

  RatioSum& operator+=(const RatioSum& o) noexcept {
    sum += o.sum;
    sum_squares += o.sum_squares;
    clipped += o.clipped;
    return *this;
  }
};

// What the core knows about a model before it sees a record. A model without slopes has a fixed number of
// parameters, and its predictor is the record's only column.
template <class M>
concept ModelFacts = requires {
  { M::name } -> std::convertible_to<std::string_view>;
  requires std::same_as<decltype(M::has_slopes), const bool>;
  requires std::same_as<decltype(M::has_target), const bool>;
  requires std::same_as<decltype(M::has_classes), const bool>;
} && (M::has_slopes || requires { requires M::parameters >= 1; });

// log p(x | theta) and its gradient for eight records. A softmax has its own (kernels/softmax.hpp).
template <class M, class Types>
concept Likelihood = requires(typename Types::Doubles predictor, typename Types::Doubles target,
                              const typename Types::Prepared& prepared) {
  { M::loglik(predictor, target, prepared) } noexcept -> std::same_as<typename Types::Doubles>;
  { M::score(predictor, target, prepared) } noexcept -> std::same_as<typename Types::Score>;
};

// `Types` is ModelTypes (models/prepared.hpp) of one instruction set.
template <class M, class Types>
concept Model = ModelFacts<M> && (M::has_classes || Likelihood<M, Types>) &&
                requires(const ModelSpec& spec, const double* theta, double* slopes) {
                  { M::prepare(spec, theta, slopes) } noexcept -> std::same_as<typename Types::Prepared>;
                };

class Stream;
class Parameters;  // the public numbers of a sampler by name: samplers/parameters.hpp

// theta moves along g, the noised gradient of minus the log density. Everything that a sampler keeps between
// steps is a function of released quantities. start(dim) allocates it, and state() returns it as a tuple of
// references (samplers/state.hpp), so that a checkpoint can hold it.
template <class S>
concept GradientSampler = std::constructible_from<S, const Parameters&> && std::copyable<S> &&
                          requires(S sampler, std::vector<double>& theta, std::vector<double>& g,
                                   double step_size, Stream& diffusion, std::size_t dim) {
                            { S::name } -> std::convertible_to<std::string_view>;
                            sampler.start(dim);
                            { sampler.step(theta, g, step_size, diffusion) } noexcept;
                            sampler.state();
                          };

}  // namespace pydpmc

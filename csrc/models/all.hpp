// The list of models: add yours here. Everything else finds it through the list, by its name and its facts.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "models/bernoulli_logit.hpp"
#include "models/gaussian_mean.hpp"
#include "models/gaussian_mixture.hpp"
#include "models/hinge_classifier.hpp"
#include "models/huber_regression.hpp"
#include "models/linear_regression.hpp"
#include "models/logistic_regression.hpp"
#include "models/negative_binomial_regression.hpp"
#include "models/poisson_regression.hpp"
#include "models/probit_regression.hpp"
#include "models/softmax_regression.hpp"

PYDPMC_ISA_BEGIN

// clang-format off: one to a line
using Models = std::tuple<
    LogisticRegression,
    LinearRegression,
    BernoulliLogit,
    GaussianMean,
    GaussianMixture,
    PoissonRegression,
    HingeClassifier,
    HuberRegression,
    ProbitRegression,
    NegativeBinomialRegression,
    SoftmaxRegression>;
// clang-format on

constexpr std::size_t model_count = std::tuple_size_v<Models>;

// What is listed but is no Model does not compile; the compiler names the struct and what it lacks.
template <class M>
consteval bool is_model() {
  static_assert(Model<M, ModelTypes>, "a struct listed in models/all.hpp is no Model: see concepts.hpp");
  return true;
}

template <class... M>
consteval bool are_models(std::type_identity<std::tuple<M...>>) {
  return (is_model<M>() && ...);
}

static_assert(are_models(std::type_identity<Models>{}));

template <std::size_t place = 0, class Call>
inline auto with_model(ModelKind kind, const Call& call) noexcept {
  using M = std::tuple_element_t<place, Models>;
  if constexpr (place + 1 == model_count)
    return call(M{});
  else
    return kind == static_cast<ModelKind>(place) ? call(M{}) : with_model<place + 1>(kind, call);
}

PYDPMC_ISA_END

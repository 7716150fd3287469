// The list of models: add yours here and to ModelKind.
#pragma once

#include "models/bernoulli_logit.hpp"
#include "models/gaussian_mean.hpp"
#include "models/gaussian_mixture.hpp"
#include "models/hinge_classifier.hpp"
#include "models/huber_regression.hpp"
#include "models/linear_regression.hpp"
#include "models/logistic_regression.hpp"
#include "models/poisson_regression.hpp"
#include "models/softmax_regression.hpp"

PYDPMC_ISA_BEGIN

template <class Call>
inline auto with_model(ModelKind kind, Call call) noexcept {
  switch (kind) {
    case ModelKind::logistic_regression:
      return call(LogisticRegression{});
    case ModelKind::linear_regression:
      return call(LinearRegression{});
    case ModelKind::bernoulli_logit:
      return call(BernoulliLogit{});
    case ModelKind::gaussian_mean:
      return call(GaussianMean{});
    case ModelKind::gaussian_mixture:
      return call(GaussianMixture{});
    case ModelKind::poisson_regression:
      return call(PoissonRegression{});
    case ModelKind::hinge_classifier:
      return call(HingeClassifier{});
    case ModelKind::huber_regression:
      return call(HuberRegression{});
    case ModelKind::softmax_regression:
      return call(SoftmaxRegression{});
  }
  __builtin_unreachable();
}

PYDPMC_ISA_END

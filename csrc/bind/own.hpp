// Models and priors that users write, as Python gives them: addresses of compiled functions, or Python
// functions. Both keep alive what their functions need.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "kernels/own/user_model.hpp"
#include "models/prior.hpp"
#include "samplers/proposal.hpp"

namespace pydpmc {

// The model's own functions, and for how many records they are called at a time.
struct BoundOwnModel {
  pydpmc_function loglik = nullptr, gradient = nullptr;
  void *loglik_user = nullptr, *gradient_user = nullptr;
  int64_t block = 1;
  pybind11::object keep{};  // whatever the functions refer to; for Python functions, a tuple of them
  pydpmc_function roots = nullptr;
  void* roots_user = nullptr;

  UserModel of(int columns, int dim) const {
    UserModel model;
    model.kernels = &user_kernels();
    model.workspace = static_cast<std::size_t>(
        BlockLayout(block, columns, dim, UserModel::width(dim, roots != nullptr)).end);
    model.loglik = loglik;
    model.gradient = gradient;
    model.loglik_user = loglik_user;
    model.gradient_user = gradient_user;
    model.roots = roots;
    model.roots_user = roots_user;
    model.block = block;
    return model;
  }
};

struct BoundOwnPrior {
  OwnPrior prior{};
  pybind11::object keep{};
};

struct BoundOwnProposal {
  OwnProposal proposal{};
  pybind11::object keep{};
};

using OwnModelHandle = std::shared_ptr<BoundOwnModel>;
using OwnPriorHandle = std::shared_ptr<BoundOwnPrior>;
using OwnProposalHandle = std::shared_ptr<BoundOwnProposal>;

}  // namespace pydpmc

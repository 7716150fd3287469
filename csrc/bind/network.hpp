// Networks as Python gives them: checked once, and then described for the kernels.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bind/records.hpp"
#include "isa/network_dispatch.hpp"
#include "models/network.hpp"

namespace pydpmc {

struct BoundNetwork {
  NetworkModel model;
  int dim;
};

using NetworkHandle = std::shared_ptr<BoundNetwork>;

inline ModelSpec network_of(BoundNetwork& network, const Records& records, int dim) {
  require(records.has_target && !records.group_start, "a network needs a target, and single records");
  require(records.columns == network.model.inputs(), "the network reads another number of columns");
  require(dim == network.dim, "theta has the wrong length for the network");
  network.model.kernels = &network_kernel_table();
  return {ModelKind{}, records.columns, false, {0.0, 0.0}, dim, 1, &network.model};
}

}  // namespace pydpmc

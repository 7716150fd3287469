// The state of a sampler between steps, flattened to numbers for a checkpoint. `state()` returns it as a
// tuple of references to numbers and vectors of numbers, all of them functions of released quantities.
#pragma once

#include <cstddef>
#include <tuple>
#include <vector>

namespace pydpmc {

template <class Sampler, class Visit>
void for_each_state(Sampler& sampler, const Visit& visit) {
  std::apply([&](auto&... part) { (visit(part), ...); }, sampler.state());
}

struct AppendState {
  std::vector<double>& out;

  void operator()(double& value) const { out.push_back(value); }
  void operator()(std::vector<double>& values) const { out.insert(out.end(), values.begin(), values.end()); }
};

struct TakeState {
  const double*& next;

  void operator()(double& value) const { value = *next++; }
  void operator()(std::vector<double>& values) const {
    for (double& value : values) value = *next++;
  }
};

}  // namespace pydpmc

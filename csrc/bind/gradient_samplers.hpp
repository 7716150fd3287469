// A gradient sampler from its name and its public numbers.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "bind/target.hpp"
#include "kernels/gradient/second_moments.hpp"
#include "samplers/all.hpp"

namespace pydpmc {

// Public numbers of a sampler by name, a list each.
using Parameters = std::map<std::string, std::vector<double>>;

inline const std::vector<double>& list_of(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) throw std::invalid_argument("the sampler needs " + name);
  return found->second;
}

inline double one_of(const Parameters& parameters, const std::string& name) {
  const std::vector<double>& list = list_of(parameters, name);
  if (list.size() != 1) throw std::invalid_argument(name + " must be one number");
  return list.front();
}

inline AnyGradientSampler sampler_of(const std::string& name, const Parameters& parameters) {
  const auto one = [&](const char* of) { return one_of(parameters, of); };
  if (name == "sgld") return Sgld{};
  if (name == "psgld") return Psgld{one("largest_curvature"), one("stability"), one("heat")};
  if (name == "sghmc") return Sghmc{one("friction"), {}};
  if (name == "sgnht") return Sgnht{one("friction"), {}};
  if (name == "sgfs")
    return Sgfs{list_of(parameters, "noise_matrix"),
                list_of(parameters, "prior_precision"),
                one("weight"),
                one("centred"),
                one("moment_scale"),
                one("heat")};
  throw std::invalid_argument("unknown sampler: " + name);
}

// Second moments are taken exactly for the sampler that uses them.
inline SecondMoments moments_of(const std::string& name, const Parameters& parameters, int dim) {
  if (name != "sgfs") return {};
  const SecondMoments moments{one_of(parameters, "moment_scale"), one_of(parameters, "moment_clip"),
                              one_of(parameters, "moments_noised") != 0.0};
  const size_t length = static_cast<size_t>(dim);
  require(dim <= most_moment_dim, "too many parameters for second moments");
  require(moments.taken() && moments.clip > 0.0, "moment_scale and moment_clip must be positive");
  require(list_of(parameters, "noise_matrix").size() == length &&
              list_of(parameters, "prior_precision").size() == length,
          "noise_matrix and prior_precision need one entry per parameter");
  return moments;
}

}  // namespace pydpmc

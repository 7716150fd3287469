// The list of gradient samplers: add yours here. Everything else finds it through the list, by its name.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <variant>

#include "concepts.hpp"
#include "kernels/gradient/second_moments.hpp"
#include "samplers/dpvi.hpp"
#include "samplers/parameters.hpp"
#include "samplers/psgld.hpp"
#include "samplers/sgfs.hpp"
#include "samplers/sghmc.hpp"
#include "samplers/sgld.hpp"
#include "samplers/sgnht.hpp"

namespace pydpmc {

// clang-format off: one to a line
using AnyGradientSampler = std::variant<
    Sgld,
    Psgld,
    Sghmc,
    Sgnht,
    Sgfs,
    Dpvi>;
// clang-format on

// What is listed but is no GradientSampler does not compile; the compiler names the struct and what it lacks.
template <class S>
consteval bool is_gradient_sampler() {
  static_assert(GradientSampler<S>,
                "a struct listed in samplers/all.hpp is no GradientSampler: see concepts.hpp");
  return true;
}

template <class... S>
consteval bool are_gradient_samplers(std::type_identity<std::variant<S...>>) {
  return (is_gradient_sampler<S>() && ...);
}

static_assert(are_gradient_samplers(std::type_identity<AnyGradientSampler>{}));

// Calls the function with the listed type of that name.
template <std::size_t place = 0, class Call>
auto with_gradient_sampler(const std::string& name, const Call& call) {
  if constexpr (place == std::variant_size_v<AnyGradientSampler>) {
    throw std::invalid_argument("unknown sampler: " + name);
    return call(std::type_identity<std::variant_alternative_t<0, AnyGradientSampler>>{});
  } else {
    using S = std::variant_alternative_t<place, AnyGradientSampler>;
    return name == S::name ? call(std::type_identity<S>{}) : with_gradient_sampler<place + 1>(name, call);
  }
}

inline AnyGradientSampler sampler_of(const std::string& name, const Parameters& given) {
  return with_gradient_sampler(name,
                               [&]<class S>(std::type_identity<S>) { return AnyGradientSampler(S(given)); });
}

// Second moments are taken if and only if the sampler asks for them.
inline SecondMoments moments_of(const std::string& name, const Parameters& given, std::size_t dim) {
  return with_gradient_sampler(name, [&]<class S>(std::type_identity<S>) {
    if constexpr (requires { S::second_moments(given, dim); })
      return S::second_moments(given, dim);
    else
      return SecondMoments{};
  });
}

}  // namespace pydpmc

// The gradient samplers: add yours here.
#pragma once

#include <variant>

#include "samplers/sghmc.hpp"
#include "samplers/sgld.hpp"
#include "samplers/sgnht.hpp"

namespace pydpmc {

using AnyGradientSampler = std::variant<Sgld, Sghmc, Sgnht>;

}  // namespace pydpmc

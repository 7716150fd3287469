// The gradient samplers: add yours here.
#pragma once

#include <variant>

#include "samplers/psgld.hpp"
#include "samplers/sgfs.hpp"
#include "samplers/sghmc.hpp"
#include "samplers/sgld.hpp"
#include "samplers/sgnht.hpp"

namespace pydpmc {

using AnyGradientSampler = std::variant<Sgld, Psgld, Sghmc, Sgnht, Sgfs>;

}  // namespace pydpmc

#include "run/nuts.hpp"

#include <exception>
#include <limits>
#include <stdexcept>
#include <utility>

#include "run/tiles.hpp"
#include "threads/chains.hpp"

namespace pydpmc {

NutsRun::NutsRun(Target target, const Chains& chains, const Tempering& tempering, const NutsSpec& spec)
    : target_(std::move(target)),
      spec_(spec),
      key_(chains.key),
      key_is_secret_(chains.key_is_secret),
      generation_(fork_generation()),
      draws_(chains.draws),
      tiles_(make_finite_tiles(target_.model, target_.records)) {
  const size_t dim = static_cast<size_t>(target_.model.dim);
  for (int c = 0; c < chains.count; ++c) {
    chains_.push_back(std::make_unique<NutsChain>(target_, tempering, spec));
    const double* start = chains.init + static_cast<size_t>(c) * dim;
    chains_.back()->state.theta.assign(start, start + dim);
  }
}

void NutsRun::advance(int64_t steps, int threads) {
  if (stop_.requested()) return;
  start_steps();
  threads = std::clamp(threads, 1, most_threads);
  while (workspaces_.size() < static_cast<size_t>(threads)) workspaces_.emplace_back(target_.model);
  for_each_chain(static_cast<int64_t>(chains_.size()), target_.records.n, density_block, threads, true, stop_,
                 [&](uint32_t id, Team& team, int first_thread) {
                   NutsChain& chain = *chains_[id];
                   DensityWorkspace* own = workspaces_.data() + first_thread;
                   // A trajectory ends where the density is NaN.
                   const auto density = [&](const Vector& theta, Vector& gradient) noexcept {
                     if (stop_.requested()) return std::numeric_limits<double>::quiet_NaN();
                     ++chain.statistics.gradients;
                     return chain.density(theta, gradient, team, own);
                   };
                   advance_chain(chain, id, steps, density);
                 });
  finish_steps(steps);
}

void NutsRun::advance_one(size_t id, int64_t steps, const SumsElsewhere& sums) {
  NutsChain& chain = *chains_.at(id);
  std::exception_ptr failure;
  const auto density = [&](const Vector& theta, Vector& gradient) noexcept {
    if (stop_.requested()) return std::numeric_limits<double>::quiet_NaN();
    ++chain.statistics.gradients;
    try {
      const Vector found = sums(theta);
      return chain.density.tempered(theta, found.data(), gradient);
    } catch (...) {
      failure = std::current_exception();
      stop_.request();
      return std::numeric_limits<double>::quiet_NaN();
    }
  };
  advance_chain(chain, static_cast<uint32_t>(id), steps, density);
  if (failure) std::rethrow_exception(failure);
}

template <class Density>
void NutsRun::advance_chain(NutsChain& chain, uint32_t id, int64_t steps, Density& density) noexcept {
  if (done_ == 0) {
    place(chain, id, density);
    if (chain.lost) return;
    search_step_size(chain, id, 0, density);
  }
  for (int64_t t = done_; t < done_ + steps && !stop_.requested(); ++t) {
    Stream stream(key_, Purpose::trajectory, id, static_cast<uint64_t>(t));
    const Transition made = chain.nuts.transition(chain.state, stream, density);
    if (t < spec_.warmup)
      learn(chain, id, t, made, density);
    else
      count(chain, made);
    draws_.record(chain.state.theta, id, t + 1);
  }
}

// Moves the given start at random within `jitter`, less far after every failure.
template <class Density>
void NutsRun::place(NutsChain& chain, uint32_t id, Density& density) noexcept {
  constexpr int attempts = 60;
  const Vector start = chain.state.theta;
  double spread = spec_.jitter;
  for (int attempt = 0; attempt < attempts; ++attempt, spread *= 0.5) {
    Stream stream(key_, Purpose::adaptation, id, static_cast<uint64_t>(attempt));
    for (size_t j = 0; j < start.size(); ++j)
      chain.state.theta[j] = start[j] + spread * (2.0 * open_unit(stream) - 1.0);
    chain.state.log_density = density(chain.state.theta, chain.state.gradient);
    bool finite = std::isfinite(chain.state.log_density);
    for (double g : chain.state.gradient) finite = finite && std::isfinite(g);
    if (finite) return;
  }
  chain.lost = true;
}

// Doubles or halves the step size until one step's acceptance probability crosses 0.8.
template <class Density>
void NutsRun::search_step_size(NutsChain& chain, uint32_t id, int64_t step, Density& density) noexcept {
  constexpr int most = 200;
  constexpr uint64_t after_starts = 1000;
  const double level = std::log(0.8);
  Stream stream(key_, Purpose::adaptation, id, after_starts + static_cast<uint64_t>(step));
  Nuts& nuts = chain.nuts;
  Point probe = chain.state;
  double factor = 0.0;
  for (int k = 0; k < most; ++k) {
    probe = chain.state;
    draw_momentum(probe, nuts.inverse_mass, stream);
    const double before = energy(probe, nuts.inverse_mass);
    leapfrog(probe, nuts.step_size, nuts.inverse_mass, density);
    const bool accepted = before - energy(probe, nuts.inverse_mass) > level;
    if (factor == 0.0) factor = accepted ? 2.0 : 0.5;
    if (accepted != (factor == 2.0)) break;
    nuts.step_size *= factor;
  }
  chain.step_size.restart(nuts.step_size);
}

template <class Density>
void NutsRun::learn(NutsChain& chain, uint32_t id, int64_t step, const Transition& made,
                    Density& density) noexcept {
  chain.step_size.learn(made.accept);
  chain.nuts.step_size = chain.step_size.exploring();
  if (chain.windows.holds(step)) {
    chain.theta.add(chain.state.theta);
    chain.gradient.add(chain.state.gradient);
  }
  if (chain.windows.closes(step)) {
    learn_mass(chain.theta, chain.gradient, chain.nuts.inverse_mass);
    chain.theta.clear();
    chain.gradient.clear();
    search_step_size(chain, id, step + 1, density);
  }
  if (step + 1 == spec_.warmup) chain.nuts.step_size = chain.step_size.settled();
}

void NutsRun::count(NutsChain& chain, const Transition& made) noexcept {
  chain.statistics.divergences += made.diverged;
  chain.statistics.deepest += made.depth == spec_.max_depth;
  chain.statistics.depth_sum += made.depth;
  chain.statistics.accept_sum += made.accept;
}

}  // namespace pydpmc

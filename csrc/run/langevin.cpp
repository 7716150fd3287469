#include "run/langevin.hpp"

#include <algorithm>
#include <utility>

#include "isa/dispatch.hpp"
#include "kernels/gradient/chains.hpp"
#include "query/gradient_query.hpp"
#include "run/tiles.hpp"
#include "threads/chains.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

LangevinRun::LangevinRun(Target target, const Chains& chains, const GradientGrid& grid, Langevin sampler,
                         int64_t steps)
    : target_(std::move(target)),
      grid_(grid),
      sampler_(std::move(sampler)),
      steps_(steps),
      key_(chains.key),
      key_is_secret_(chains.key_is_secret),
      generation_(fork_generation()),
      chains_(static_cast<size_t>(chains.count)),
      out_(chains.draws.out) {
  if (!target_.records.squares) {
    squares_ = squares_of(target_.records);
    target_.records.squares = {squares_.data()};
  }
  tiles_ = make_tiles(target_.model, target_.records);
  const size_t dim = static_cast<size_t>(target_.model.dim);
  for (size_t c = 0; c < chains_.size(); ++c) {
    chains_[c].resize(dim);
    for (size_t j = 0; j < dim; ++j) chains_[c][j] = sampler_.nearest_state(chains.init[c * dim + j], j);
  }
}

void LangevinRun::advance(int64_t steps, int threads, int64_t block) {
  if (stop_.requested()) return;
  rekey_after_fork(key_, key_is_secret_, generation_);
  threads = std::clamp(threads, 1, most_threads);
  steps = std::min(steps, steps_ - done_);
  const size_t together = chains_at_once(threads), dim = static_cast<size_t>(target_.model.dim);
  const size_t each = std::max(slopes_size(target_.model), chains_scratch(target_.model, together));
  workspaces_.assign(static_cast<size_t>(threads),
                     {apart(together * dim), apart(each), std::vector<int64_t>(together * dim + 8),
                      std::vector<int64_t>(dim)});
  const size_t groups = (chains_.size() + together - 1) / together;
  for_each_chain(static_cast<int64_t>(groups), target_.records.n, block, threads, true, stop_,
                 [&](uint32_t group, Team& team, int first_thread) {
                   const size_t first = group * together;
                   const size_t count = std::min(together, chains_.size() - first);
                   for (int64_t t = done_; t < done_ + steps && !stop_.requested(); ++t)
                     step(first, count, t, team, first_thread);
                 });
  if (stop_.requested()) return;  // chains have made different numbers of steps; none is released
  done_ += steps;
  if (steps > 0 && done_ == steps_) release();
}

// All chains that one thread has to run; all chains of the run if the threads share the records.
size_t LangevinRun::chains_at_once(int threads) const noexcept {
  const size_t chains = chains_.size(), workers = static_cast<size_t>(threads);
  const bool sharing = target_.records.n >= fewest_records_per_thread * threads;
  const size_t wanted = chains < workers ? (sharing ? chains : 1) : (chains + workers - 1) / workers;
  return std::min<size_t>(wanted, most_chains_at_once);
}

void LangevinRun::step(size_t first, size_t count, int64_t step, Team& team, int first_thread) noexcept {
  Workspace& own = workspaces_[static_cast<size_t>(first_thread)];
  const size_t dim = static_cast<size_t>(target_.model.dim);
  for (size_t c = 0; c < count; ++c) place(chains_[first + c], own.thetas.data() + c * dim);
  sum_gradients(count, team, first_thread);
  for (size_t c = 0; c < count; ++c) absorb(first + c, step, own.sums.data() + c * dim, own.noise);
}

void LangevinRun::place(const Chain& chain, double* theta) const noexcept {
  for (size_t j = 0; j < chain.size(); ++j) theta[j] = sampler_.theta(chain[j]);
}

void LangevinRun::absorb(size_t chain, int64_t step, const int64_t* sums,
                         std::vector<int64_t>& noise) noexcept {
  Stream stream(key_, Purpose::noise, static_cast<uint32_t>(chain), static_cast<uint64_t>(step));
  fill_rounded_normal(stream, noise.data(), chains_[chain].size());
  if (step + 1 < steps_)
    sampler_.step(chains_[chain], target_.prior, sums, noise.data());
  else
    sampler_.last_step(chains_[chain], target_.prior, sums, noise.data());
}

void LangevinRun::sum_gradients(size_t count, Team& team, int first_thread) noexcept {
  const size_t length = count * static_cast<size_t>(target_.model.dim);
  Workspace* const workspace = workspaces_.data() + first_thread;
  for (int k = 0; k < team.threads(); ++k) std::fill_n(workspace[k].sums.begin(), length, 0);
  team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
    add_gradients(workspace->thetas.data(), count, begin, end, workspace[thread]);
    return RatioSum{};
  });
  for (int k = 1; k < team.threads(); ++k)
    for (size_t j = 0; j < length; ++j) workspace->sums[j] += workspace[k].sums[j];
}

// Without a pass for all chains, each takes its turn at a few records, which stay in the cache.
void LangevinRun::add_gradients(const double* thetas, size_t count, int64_t begin, int64_t end,
                                Workspace& own) noexcept {
  constexpr int64_t few = 256;
  const KernelTable& kernel = kernels_of(target_.model);
  const Records& records = target_.records;
  if ((count > 1 || records.tiles) && sums_chains_at_once(target_.model, records)) {
    kernel.chain_sums(target_.model, records, thetas, static_cast<int>(count), own.scratch.data(), begin, end,
                      grid_, own.sums.data());
    return;
  }
  const size_t dim = static_cast<size_t>(target_.model.dim);
  const int64_t stride = count > 1 ? few : end - begin;
  for (int64_t i = begin; i < end; i += stride)
    for (size_t c = 0; c < count; ++c)
      kernel.gradient_sums(target_.model, records, thetas + c * dim, own.scratch.data(),
                           {nullptr, std::min(stride, end - i), i}, grid_, own.sums.data() + c * dim);
}

void LangevinRun::release() const noexcept {
  double* to = out_;
  for (const Chain& chain : chains_)
    for (int64_t state : chain) *to++ = sampler_.released(state);
}

}  // namespace pydpmc

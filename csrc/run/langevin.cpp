#include "run/langevin.hpp"

#include <utility>

#include "isa/dispatch.hpp"
#include "query/gradient_query.hpp"
#include "threads/chains.hpp"

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
  const size_t dim = static_cast<size_t>(target_.model.dim);
  for (size_t c = 0; c < chains_.size(); ++c) {
    Chain& chain = chains_[c];
    chain.state.resize(dim);
    chain.noise.resize(dim);
    chain.theta.resize(dim);
    for (size_t j = 0; j < dim; ++j) chain.state[j] = sampler_.nearest_state(chains.init[c * dim + j], j);
  }
}

void LangevinRun::advance(int64_t steps, int threads, int64_t block) {
  if (stop_.requested()) return;
  rekey_after_fork(key_, key_is_secret_, generation_);
  threads = std::clamp(threads, 1, most_threads);
  steps = std::min(steps, steps_ - done_);
  workspaces_ = std::make_unique<Workspaces>(threads, target_.model);
  for_each_chain(static_cast<int64_t>(chains_.size()), target_.records.n, block, threads, true, stop_,
                 [&](uint32_t id, Team& team, int first_thread) {
                   for (int64_t t = done_; t < done_ + steps && !stop_.requested(); ++t)
                     step(chains_[id], id, t, team, first_thread);
                 });
  if (stop_.requested()) return;  // chains have made different numbers of steps; none is released
  done_ += steps;
  if (steps > 0 && done_ == steps_) release();
}

void LangevinRun::step(Chain& chain, uint32_t id, int64_t step, Team& team, int first_thread) noexcept {
  place(chain);
  sum_gradients(chain.theta.data(), team, first_thread);
  absorb(chain, id, step, workspaces_->sums(first_thread));
}

void LangevinRun::place(Chain& chain) const noexcept {
  for (size_t j = 0; j < chain.state.size(); ++j) chain.theta[j] = sampler_.theta(chain.state[j]);
}

void LangevinRun::absorb(Chain& chain, uint32_t id, int64_t step, const int64_t* sums) noexcept {
  Stream stream(key_, Purpose::noise, id, static_cast<uint64_t>(step));
  fill_rounded_normal(stream, chain.noise.data(), chain.noise.size());
  sampler_.step(chain.state, target_.prior, sums, chain.noise.data());
}

void LangevinRun::sum_gradients(const double* theta, Team& team, int first_thread) noexcept {
  const KernelTable& kernel = kernels_of(target_.model);
  workspaces_->clear(first_thread, team.threads());
  team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
    const int worker = first_thread + thread;
    kernel.gradient_sums(target_.model, target_.records, theta, workspaces_->slopes(worker),
                         {nullptr, end - begin, begin}, grid_, workspaces_->sums(worker));
    return RatioSum{};
  });
  workspaces_->gather(first_thread, team.threads());
}

void LangevinRun::release() const noexcept {
  double* to = out_;
  for (const Chain& chain : chains_)
    for (int64_t state : chain.state) *to++ = sampler_.theta(state);
}

}  // namespace pydpmc

#include "run/gradients.hpp"

#include <algorithm>
#include <utility>

namespace pydpmc {

namespace {

AnyGradientSampler at_rest(const AnyGradientSampler& sampler, size_t dim) {
  AnyGradientSampler started = sampler;
  std::visit([&](auto& s) { s.start(dim); }, started);
  return started;
}

}  // namespace

GradientRun::GradientRun(Target target, const Chains& chains, const QuerySpec& query, double weight,
                         Schedule schedule, const AnyGradientSampler& sampler)
    : target_(std::move(target)),
      prior_slopes_(target_.prior),
      full_(query.sampling == Sampling::full),
      released_(query.moments.coordinates(target_.model.dim)),
      weight_(weight),
      schedule_(std::move(schedule)),
      key_(chains.key),
      key_is_secret_(chains.key_is_secret),
      generation_(fork_generation()),
      draws_(chains.draws) {
  if (!target_.records.squares) {
    squares_ = squares_of(target_.records);
    target_.records.squares = {squares_.data()};
  }
  const size_t dim = static_cast<size_t>(target_.model.dim);
  const size_t count = static_cast<size_t>(chains.count);
  chains_.reserve(count);
  for (size_t c = 0; c < count; ++c) {
    chains_.push_back({apart(dim), apart(released_), apart(dim), apart(dim), at_rest(sampler, dim),
                       std::make_unique<GradientQuery>(query, target_.model, target_.records)});
    std::copy_n(chains.init + c * dim, dim, chains_.back().theta.begin());
  }
}

void GradientRun::advance(int64_t steps, int threads, int64_t block) {
  if (stop_.requested()) return;
  const std::vector<double> before = state();
  rekey_after_fork(key_, key_is_secret_, generation_);
  threads = std::clamp(threads, 1, most_threads);
  steps = std::min(steps, static_cast<int64_t>(schedule_.step_size.size()) - done_);
  workspaces_ = std::make_unique<Workspaces>(threads, target_.model, released_);
  for_each_chain(
      static_cast<int64_t>(chains_.size()), target_.records.units(), block, threads, full_, stop_,
      [&](uint32_t id, Team& team, int first_thread) { advance_chain(id, steps, team, first_thread); });
  if (stop_.requested()) return restore(before, done_);
  done_ += steps;
}

void GradientRun::advance_chain(uint32_t id, int64_t steps, Team& team, int first_thread) {
  if (steps > 0) chains_[id].query->start(key_, id, static_cast<uint64_t>(done_));
  for (int64_t t = done_; t < done_ + steps && !stop_.requested(); ++t) {
    step(chains_[id], id, t, team, first_thread);
    draws_.record(chains_[id].theta, id, t + 1);
  }
  if (steps > 0 && !stop_.requested()) finish(id, done_ + steps);
}

// A sampler that fits a law draws from it after its last step, from a stream that no step has.
void GradientRun::finish(uint32_t id, int64_t steps_done) {
  if (steps_done != static_cast<int64_t>(schedule_.step_size.size())) return;
  const GradientChain& chain = chains_[id];
  std::visit(
      [&](const auto& sampler) {
        if constexpr (requires(double* out, Stream& stream) { sampler.draw(out, stream); }) {
          Stream stream(key_, Purpose::diffusion, id, static_cast<uint64_t>(steps_done));
          const size_t dim = chain.theta.size(), kept = static_cast<size_t>(draws_.kept);
          for (size_t k = 0; k < kept; ++k) sampler.draw(draws_.out + (id * kept + k) * dim, stream);
        }
      },
      chain.sampler);
}

// g = -grad log prior - (w N / b) G, G the noised sum of clipped gradients.
void GradientRun::step(GradientChain& chain, uint32_t id, int64_t step, Team& team, int first_thread) {
  StreamUse use;
  chain.query->sum(key_, id, static_cast<uint64_t>(step), chain.theta.data(),
                   schedule_.noise[static_cast<size_t>(step)], team, first_thread, *workspaces_,
                   trace_ ? &use : nullptr);
  absorb(chain, id, step, workspaces_->sums(first_thread), use);
}

void GradientRun::absorb(GradientChain& chain, uint32_t id, int64_t step, const int64_t* sums,
                         StreamUse& use) {
  const size_t t = static_cast<size_t>(step);
  chain.query->absorb(key_, id, static_cast<uint64_t>(step), schedule_.noise[t], sums, chain.noised_sum,
                      trace_ ? &use : nullptr);
  prior_slopes_(chain.theta.data(), chain.gradient.data(), chain.scratch.data());
  for (size_t j = 0; j < chain.theta.size(); ++j)
    chain.gradient[j] = -chain.gradient[j] - weight_ * chain.noised_sum[j];
  Stream diffusion(key_, Purpose::diffusion, id, static_cast<uint64_t>(step));
  std::visit(
      [&](auto& sampler) {
        sampler.step(chain.theta, chain.gradient, schedule_.step_size[t], diffusion);
        if constexpr (requires { sampler.observe(chain.noised_sum, 1.0); })
          sampler.observe(chain.noised_sum, schedule_.noise[t]);
      },
      chain.sampler);
  if (!trace_) return;
  use.diffusion = diffusion.words_used();
  trace_->push_back(use);
}

std::vector<StreamUse> GradientRun::traced(int64_t steps) {
  std::vector<StreamUse> uses;
  trace_ = &uses;
  advance(steps, 1, 4096);
  trace_ = nullptr;
  return uses;
}

std::vector<double> GradientRun::audit(const std::vector<double>& theta, int64_t first, int64_t count) {
  constexpr int64_t block = 4096;
  rekey_after_fork(key_, key_is_secret_, generation_);
  Workspaces workspaces(1, target_.model, released_);
  Team alone(target_.records.units(), block, 1, stop_);
  std::vector<double> sums(static_cast<size_t>(count) * released_), one(released_);
  chains_.front().query->start(key_, 0, static_cast<uint64_t>(first));
  for (int64_t t = 0; t < count; ++t) {
    (*chains_.front().query)(key_, 0, static_cast<uint64_t>(first + t), theta.data(), schedule_.noise.front(),
                             alone, 0, workspaces, one);
    std::copy(one.begin(), one.end(),
              sums.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(t) * released_));
  }
  return sums;
}

}  // namespace pydpmc

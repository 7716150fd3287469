#include "run/barker.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "run/tiles.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

BarkerRun::BarkerRun(Target target, const Chains& chains, Barker barker, Proposal proposal, bool cached)
    : target_(std::move(target)),
      barker_(std::move(barker)),
      proposal_(std::move(proposal)),
      key_(chains.key),
      key_is_secret_(chains.key_is_secret),
      generation_(fork_generation()),
      chains_(static_cast<size_t>(chains.count)),
      draws_(chains.draws),
      cached_(cached),
      slopes_stride_(slopes_size(target_.model)) {
  if (barker_.batch == 0 && cached_) tiles_ = make_finite_tiles(target_.model, target_.records);
  const size_t dim = static_cast<size_t>(target_.model.dim);
  const size_t n = static_cast<size_t>(target_.records.n);
  for (size_t c = 0; c < chains_.size(); ++c) {
    Chain& chain = chains_[c];
    chain.theta = apart(dim);
    std::copy_n(chains.init + c * dim, dim, chain.theta.begin());
    chain.proposal = apart(dim);
    chain.direction = apart(dim);
    chain.log_prior = log_prior(target_.prior, chain.theta.data());
    if (barker_.batch == 0) {
      chain.loglik.resize(cached_ ? n : 0);
      chain.proposed_loglik.resize(cached_ ? n : 0);
    } else {
      chain.samples =
          std::make_unique<StepSamples>(Subsampler(barker_.gaps, n, static_cast<uint64_t>(barker_.most)),
                                        static_cast<size_t>(barker_.batch));
      chain.batch.resize(chain.samples->room());
      chain.next_batch.resize(chain.batch.size());
    }
  }
}

void BarkerRun::advance(int64_t steps, int threads, int64_t block) {
  if (stop_.requested()) return;
  const std::vector<double> before = state();
  const std::vector<int64_t> clipped_before = each_clipped();
  rekey_after_fork(key_, key_is_secret_, generation_);
  threads = std::clamp(threads, 1, most_threads);
  slopes_.resize(static_cast<size_t>(threads) * slopes_stride_);
  if (!cached_) logliks_ = BlockLogliks(target_.records, block, threads);
  for_each_chain(static_cast<int64_t>(chains_.size()), target_.records.units(), block, threads,
                 barker_.batch == 0, stop_, [&](uint32_t id, Team& team, int first_thread) {
                   advance_chain(id, steps, team, first_thread);
                 });
  if (stop_.requested()) {
    restore(before, done_);
    for (size_t c = 0; c < chains_.size(); ++c) chains_[c].clipped = clipped_before[c];
    return;
  }
  done_ += steps;
  logliks_known_ = true;
}

void BarkerRun::advance_chain(uint32_t id, int64_t steps, Team& team, int first_thread) {
  Chain& chain = chains_[id];
  if (!logliks_known_ && barker_.batch == 0 && cached_) refresh_loglik(chain, team, first_thread);
  draw_next_batch(chain, id, static_cast<uint64_t>(done_));
  for (int64_t t = done_; t < done_ + steps && !stop_.requested(); ++t) {
    step(chain, id, static_cast<uint64_t>(t), team, first_thread);
    draws_.record(chain.theta, id, t + 1);
  }
}

void BarkerRun::step(Chain& chain, uint32_t id, uint64_t step, Team& team, int first_thread) {
  propose_move(chain, id, step);
  absorb(chain, id, step, ratios(chain, id, step, team, first_thread));
}

void BarkerRun::propose_move(Chain& chain, uint32_t id, uint64_t step) {
  Stream walk(key_, Purpose::proposal, id, step);
  const double walked = propose(proposal_, walk, chain.theta, chain.direction, chain.proposal);
  chain.proposed_prior = log_prior(target_.prior, chain.proposal.data());
  chain.public_ratio = chain.proposed_prior - chain.log_prior + walked;
  if (chain.proposed_prior > -std::numeric_limits<double>::infinity()) return;
  // Where the prior is zero, or no number, nobody calls the likelihood: the proposal is to stay.
  chain.proposal = chain.theta;
  chain.proposed_prior = chain.log_prior;
  chain.public_ratio = -largest_prior_ratio;
}

void BarkerRun::absorb(Chain& chain, uint32_t id, uint64_t step, const RatioSum& r) {
  chain.clipped += r.clipped;
  Stream coin(key_, Purpose::accept, id, step);
  if (!accepts(barker_, r, chain.public_ratio, coin)) return;
  chain.theta.swap(chain.proposal);
  chain.loglik.swap(chain.proposed_loglik);
  chain.log_prior = chain.proposed_prior;
  ++chain.accepted;
}

RatioSum BarkerRun::ratios(Chain& chain, uint32_t id, uint64_t step, Team& team, int first_thread) {
  const KernelTable& kernel = kernels_of(target_.model);
  if (barker_.batch > 0) {
    chain.batch.swap(chain.next_batch);
    draw_next_batch(chain, id, step + 1);
    return kernel.batch_ratio(
        target_.model, target_.records, chain.theta.data(), chain.proposal.data(), slopes_of(first_thread),
        {chain.batch.data(), barker_.batch, 0, chain.next_batch.data(), barker_.batch}, barker_.grid);
  }
  return team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
    if (!cached_)
      return block_ratio(target_.model, target_.records, chain.theta.data(), chain.proposal.data(),
                         slopes_of(first_thread + thread), begin, end, barker_.grid,
                         logliks_.of(first_thread + thread));
    return kernel.full_ratio(target_.model, target_.records, chain.proposal.data(),
                             slopes_of(first_thread + thread), begin, end, chain.loglik.data(),
                             chain.proposed_loglik.data(), barker_.grid);
  });
}

void BarkerRun::draw_next_batch(Chain& chain, uint32_t id, uint64_t step) {
  if (barker_.batch == 0 || chain.samples->last_was(key_, id, step)) return;
  chain.samples->draw(key_, id, step, chain.next_batch.data());
}

void BarkerRun::refresh_loglik(Chain& chain, Team& team, int first_thread) {
  team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
    kernels_of(target_.model)
        .log_likelihoods(target_.model, target_.records, chain.theta.data(), slopes_of(first_thread + thread),
                         target_.records.first_row(begin), target_.records.first_row(end),
                         chain.loglik.data());
    return RatioSum{};
  });
}

std::vector<int64_t> BarkerRun::accepted() const {
  std::vector<int64_t> counts;
  for (const Chain& chain : chains_) counts.push_back(chain.accepted);
  return counts;
}

std::vector<int64_t> BarkerRun::each_clipped() const {
  std::vector<int64_t> counts;
  for (const Chain& chain : chains_) counts.push_back(chain.clipped);
  return counts;
}

int64_t BarkerRun::clipped() const {
  const std::vector<int64_t> counts = each_clipped();
  return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::vector<uint8_t> BarkerRun::audit(const std::vector<double>& theta, const std::vector<double>& proposal,
                                      int64_t first, int64_t count) {
  constexpr int64_t block = 4096;
  rekey_after_fork(key_, key_is_secret_, generation_);
  slopes_.resize(slopes_stride_);
  Chain& chain = chains_.front();
  Team alone(target_.records.units(), block, 1, stop_);
  chain.theta = theta;
  chain.proposal = proposal;
  if (!cached_) logliks_ = BlockLogliks(target_.records, block, 1);
  if (barker_.batch == 0 && cached_) refresh_loglik(chain, alone, 0);
  draw_next_batch(chain, 0, static_cast<uint64_t>(first));
  const double prior_ratio =
      log_prior(target_.prior, proposal.data()) - log_prior(target_.prior, theta.data());
  std::vector<uint8_t> bits(static_cast<size_t>(count));
  for (int64_t t = 0; t < count; ++t) {
    const uint64_t step = static_cast<uint64_t>(first + t);
    const RatioSum r = ratios(chain, 0, step, alone, 0);
    Stream coin(key_, Purpose::accept, 0, step);
    bits[static_cast<size_t>(t)] = accepts(barker_, r, prior_ratio, coin);
  }
  return bits;
}

}  // namespace pydpmc

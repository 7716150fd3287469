// Chains of Barker steps, a chunk at a time. Everything is allocated here, before the first step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "concepts.hpp"
#include "isa/dispatch.hpp"
#include "models/target.hpp"
#include "query/block_ratio.hpp"
#include "random/key.hpp"
#include "random/sampling/step_samples.hpp"
#include "run/chains.hpp"
#include "samplers/barker.hpp"
#include "samplers/proposal.hpp"
#include "threads/chains.hpp"
#include "threads/parallel.hpp"
#include "threads/team.hpp"

namespace pydpmc {

struct alignas(cache_line) Chain {
  std::vector<double> theta, proposal, direction;
  std::vector<double> loglik, proposed_loglik;  // full data
  std::unique_ptr<StepSamples> samples;         // minibatch
  std::vector<uint32_t> batch, next_batch;      // of the next step: drawn early and prefetched
  double log_prior = 0.0;
  double proposed_prior = 0.0, public_ratio = 0.0;  // of the proposal; the ratio has that of the proposal too
  int64_t accepted = 0, clipped = 0;
};

class BarkerRun {
 public:
  // Without `cached` no log-likelihood is kept from step to step: twice the work in memory that does not grow
  // with the records.
  BarkerRun(Target target, const Chains& chains, Barker barker, Proposal proposal, bool cached = true);
  ~BarkerRun() { wipe(key_); }
  BarkerRun(const BarkerRun&) = delete;
  BarkerRun& operator=(const BarkerRun&) = delete;

  void advance(int64_t steps, int threads, int64_t block);

  // Called from another thread: drops the chunk of steps under way; no step is made afterwards.
  void stop() noexcept { stop_.request(); }

  int64_t steps_done() const { return done_; }

  // theta and the number of accepted proposals of each chain, both functions of accept bits alone. The
  // log-likelihoods are not, and are recomputed.
  std::vector<double> state() const;
  void restore(const std::vector<double>& state, int64_t steps_done);

  // The two halves of a step of all chains on all records, which are elsewhere: sums of ratios are wanted
  // from theta to the proposal, both of every chain, and are absorbed chain by chain.
  std::vector<double> wanted();
  void absorb(const RatioSum* ratios);

  std::vector<int64_t> accepted() const;
  int64_t clipped() const;

  // Accept bits of the fixed move theta -> proposal at steps first .. first+count-1, for audits of the test
  // itself.
  std::vector<uint8_t> audit(const std::vector<double>& theta, const std::vector<double>& proposal,
                             int64_t first, int64_t count);

 private:
  // `first_thread` is the first of the team's workspaces; chains that run in parallel are teams of one.
  void advance_chain(uint32_t id, int64_t steps, Team& team, int first_thread);
  void step(Chain& chain, uint32_t id, uint64_t step, Team& team, int first_thread);
  void propose_move(Chain& chain, uint32_t id, uint64_t step);
  void absorb(Chain& chain, uint32_t id, uint64_t step, const RatioSum& ratios);
  RatioSum ratios(Chain& chain, uint32_t id, uint64_t step, Team& team, int first_thread);
  void draw_next_batch(Chain& chain, uint32_t id, uint64_t step);
  std::vector<int64_t> each_clipped() const;
  void refresh_loglik(Chain& chain, Team& team, int first_thread);
  double* slopes_of(int thread) { return slopes_.data() + static_cast<size_t>(thread) * slopes_stride_; }

  Target target_;
  Barker barker_;
  Proposal proposal_;
  Key key_;
  bool key_is_secret_;
  uint64_t generation_;
  std::vector<Chain> chains_;
  Draws draws_;
  std::vector<double> tiles_;
  int64_t done_ = 0;
  bool logliks_known_ = false;
  Stop stop_;
  bool cached_;
  size_t slopes_stride_;
  std::vector<double> slopes_;  // one workspace per thread
  BlockLogliks logliks_;
};

}  // namespace pydpmc

// Chains of gradient steps, a chunk at a time. Everything is allocated here, before the first step.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/prior_slopes.hpp"
#include "models/target.hpp"
#include "query/gradient_query.hpp"
#include "random/key.hpp"
#include "run/chains.hpp"
#include "samplers/all.hpp"
#include "threads/chains.hpp"
#include "threads/team.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

// What changes from step to step, all public: the step size, and the sd of the noise on the clipped sum.
struct Schedule {
  std::vector<double> step_size, noise;
};

struct alignas(cache_line) GradientChain {
  std::vector<double> theta, noised_sum, gradient, scratch;
  AnyGradientSampler sampler;
  std::unique_ptr<GradientQuery> query;
};

class GradientRun {
 public:
  GradientRun(Target target, const Chains& chains, const QuerySpec& query, double weight, Schedule schedule,
              const AnyGradientSampler& sampler);
  ~GradientRun() {
    wipe(key_);
    wipe(sampling_);
  }
  GradientRun(const GradientRun&) = delete;
  GradientRun& operator=(const GradientRun&) = delete;

  void advance(int64_t steps, int threads, int64_t block);
  // Called from another thread: drops the chunk of steps under way; no step is made afterwards.
  void stop() noexcept { stop_.request(); }
  int64_t steps_done() const { return done_; }

  // theta and the sampler's state, for all chains: functions of released quantities alone.
  std::vector<double> state();
  void restore(const std::vector<double>& state, int64_t steps_done);

  // Noised sums at a fixed theta for steps first .. first+count-1, `released` numbers each, for audits of the
  // query itself.
  std::vector<double> audit(const std::vector<double>& theta, int64_t first, int64_t count);
  size_t released() const { return released_; }

  // The two halves of a step of all chains, for records that are elsewhere: what is wanted of them, namely
  // sums at the chains' thetas at this noise, and what becomes of the sums, chain by chain.
  std::vector<double> wanted() const;
  double noise() const { return schedule_.noise[static_cast<size_t>(done_)]; }
  void absorb(const int64_t* sums);
  // Keys of the cells' samples, from which the noise cannot be computed unless a seed was given.
  std::vector<Key> cell_keys(int cells);

  // Advances, and reports how many words each step took from its streams: for tests.
  std::vector<StreamUse> traced(int64_t steps);

 private:
  void finish(uint32_t id, int64_t steps_done);
  void advance_chain(uint32_t id, int64_t steps, Team& team, int first_thread);
  void step(GradientChain& chain, uint32_t id, int64_t step, Team& team, int first_thread);
  void absorb(GradientChain& chain, uint32_t id, int64_t step, const int64_t* sums, StreamUse& use);

  Target target_;
  PriorSlopes prior_slopes_;
  std::vector<double> squares_;
  bool full_;
  size_t released_;  // length of a noised sum
  double weight_;    // w N / b
  Schedule schedule_;
  Key key_;
  bool key_is_secret_;
  uint64_t generation_;
  Key sampling_{};
  bool has_sampling_ = false;
  std::vector<GradientChain> chains_;
  Draws draws_;
  int64_t done_ = 0;
  Stop stop_;
  std::unique_ptr<Workspaces> workspaces_;
  std::vector<StreamUse>* trace_ = nullptr;
};

}  // namespace pydpmc

// Chains of NUTS transitions, a chunk at a time. Everything is allocated here, before the first step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "models/target.hpp"
#include "random/key.hpp"
#include "run/chains.hpp"
#include "samplers/nuts/log_density.hpp"
#include "samplers/nuts/nuts.hpp"
#include "samplers/nuts/warmup.hpp"
#include "threads/stop.hpp"

namespace pydpmc {

struct NutsSpec {
  int64_t warmup;
  double target_accept;
  int max_depth;
  double jitter;  // half-width of the uniform spread of starts
};

// Statistics of the draws after the warm-up; `gradients` counts the warm-up too.
struct NutsStatistics {
  int64_t gradients = 0, divergences = 0, deepest = 0;
  double depth_sum = 0.0, accept_sum = 0.0;
};

struct NutsChain {
  Point state;
  Nuts nuts;
  LogDensity density;
  StepSize step_size;
  Windows windows;
  RunningVariance theta, gradient;
  NutsStatistics statistics;
  bool lost = false;  // true if no start of finite density was found

  NutsChain(const Target& target, const Tempering& tempering, const NutsSpec& spec)
      : state(static_cast<size_t>(target.model.dim)),
        nuts(static_cast<size_t>(target.model.dim), spec.max_depth),
        density(target, tempering),
        step_size(spec.target_accept),
        windows(spec.warmup),
        theta(static_cast<size_t>(target.model.dim)),
        gradient(static_cast<size_t>(target.model.dim)) {}
};

class NutsRun {
 public:
  NutsRun(Target target, const Chains& chains, const Tempering& tempering, const NutsSpec& spec);
  ~NutsRun() { wipe(key_); }
  NutsRun(const NutsRun&) = delete;
  NutsRun& operator=(const NutsRun&) = delete;

  // Throws std::domain_error if a chain finds no start of finite density.
  void advance(int64_t steps, int threads);

  // The same for records that are elsewhere: between the two calls each chain is advanced, in any thread,
  // with sums over all records that `sums` returns, those of log-likelihoods first.
  using SumsElsewhere = std::function<Vector(const Vector& theta)>;
  void start_steps();
  void advance_one(size_t id, int64_t steps, const SumsElsewhere& sums);
  void finish_steps(int64_t steps);

  // Called from another thread: drops the chunk of steps under way; no step is made afterwards.
  void stop() noexcept { stop_.request(); }

  int64_t steps_done() const { return done_; }
  const std::vector<std::unique_ptr<NutsChain>>& chains() const { return chains_; }

 private:
  template <class Density>
  void advance_chain(NutsChain& chain, uint32_t id, int64_t steps, Density& density) noexcept;
  template <class Density>
  void place(NutsChain& chain, uint32_t id, Density& density) noexcept;
  template <class Density>
  void search_step_size(NutsChain& chain, uint32_t id, int64_t step, Density& density) noexcept;
  template <class Density>
  void learn(NutsChain& chain, uint32_t id, int64_t step, const Transition& made, Density& density) noexcept;
  void count(NutsChain& chain, const Transition& made) noexcept;

  Target target_;
  NutsSpec spec_;
  Key key_;
  bool key_is_secret_;
  uint64_t generation_;
  std::vector<std::unique_ptr<NutsChain>> chains_;
  Draws draws_;
  std::vector<double> tiles_;
  int64_t done_ = 0;
  Stop stop_;
  std::vector<NutsStatistics> before_;        // what a chunk of steps that is dropped goes back to
  std::vector<DensityWorkspace> workspaces_;  // one per thread
};

}  // namespace pydpmc

// Independent Langevin chains with hidden iterates: nothing is written before the last step of all chains.
// Chains that share a thread step together, so that a pass over the records serves all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "concepts.hpp"
#include "models/target.hpp"
#include "random/key.hpp"
#include "run/chains.hpp"
#include "samplers/langevin.hpp"
#include "threads/team.hpp"

namespace pydpmc {

class LangevinRun {
 public:
  // The draws, one per chain, are written once, after `steps` steps.
  LangevinRun(Target target, const Chains& chains, const GradientGrid& grid, Langevin sampler, int64_t steps);
  ~LangevinRun() { wipe(key_); }
  LangevinRun(const LangevinRun&) = delete;
  LangevinRun& operator=(const LangevinRun&) = delete;

  void advance(int64_t steps, int threads, int64_t block);
  // Called from another thread: no step is made afterwards, and nothing is released.
  void stop() noexcept { stop_.request(); }
  int64_t steps_done() const { return done_; }

  // The two halves of a step of all chains, for records that are elsewhere: sums are wanted at the chains'
  // thetas, which are secret, and are absorbed chain by chain.
  std::vector<double> wanted();
  void absorb(const int64_t* sums);

 private:
  using Chain = std::vector<int64_t>;  // its state

  // Scratch memory of one thread, for the chains that step together.
  struct Workspace {
    std::vector<double> thetas, scratch;  // thetas: [chain][dim]
    std::vector<int64_t> sums, noise;     // sums: [chain][dim]
  };

  size_t chains_at_once(int threads) const noexcept;
  void step(size_t first, size_t count, int64_t step, Team& team, int first_thread) noexcept;
  void place(const Chain& chain, double* theta) const noexcept;
  void absorb(size_t chain, int64_t step, const int64_t* sums, std::vector<int64_t>& noise) noexcept;
  void sum_gradients(size_t count, Team& team, int first_thread) noexcept;
  void add_gradients(const double* thetas, size_t count, int64_t begin, int64_t end, Workspace& own) noexcept;
  void release() const noexcept;

  Target target_;
  std::vector<double> squares_, tiles_;
  GradientGrid grid_;
  Langevin sampler_;
  int64_t steps_;
  Key key_;
  bool key_is_secret_;
  uint64_t generation_;
  std::vector<Chain> chains_;
  double* out_;
  int64_t done_ = 0;
  Stop stop_;
  std::vector<Workspace> workspaces_;
};

}  // namespace pydpmc

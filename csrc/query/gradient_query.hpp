// The one private look at the records in a gradient step: it samples units, sums their clipped gradients on
// an integer grid, and adds Gaussian noise on the same grid. The grid step is the noise's standard deviation
// over a power of two, so the noised sum is floor(sum + N(0, sd^2)) in grid units: post-processing of the
// continuous Gaussian mechanism.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "concepts.hpp"
#include "isa/dispatch.hpp"
#include "kernels/gradient/second_moments.hpp"
#include "query/gradient_grid.hpp"
#include "random/noise/rounded_normal.hpp"
#include "random/sampling/step_samples.hpp"
#include "threads/team.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

// The number of random words that a step has taken from each stream. Tests show that no record changes
// it.
struct StreamUse {
  uint64_t subsample = 0, noise = 0, diffusion = 0;
};

// |x|^2 of every row, computed once for all steps.
inline std::vector<double> squares_of(const Records& records) {
  std::vector<double> squares(static_cast<size_t>(records.n));
  kernels().squared_norms(records, squares.data());
  return squares;
}

class alignas(64) GradientQuery {  // one per chain, on cache lines of its own
 public:
  GradientQuery(const QuerySpec& spec, const ModelSpec& model, const Records& records)
      : spec_(spec), model_(model), records_(records), noise_(spec.moments.coordinates(model.dim)) {
    if (spec.sampling == Sampling::full) return;
    Subsampler sampler(spec.gaps, static_cast<uint64_t>(records.units()), static_cast<uint64_t>(spec.most));
    std::optional<size_t> b;
    if (spec.sampling != Sampling::poisson) b = static_cast<size_t>(spec.batch);
    samples_ = std::make_unique<StepSamples>(std::move(sampler), b);
    for (Sample* sample : {&now_, &next_}) sample->index.resize(samples_->room());
  }

  // Call before the first of consecutive steps. Samples are drawn one step early, so that their records can
  // be prefetched; a sample is a function of its step, so nothing changes. No sample outlives its key.
  void start(const Key& key, uint32_t chain, uint64_t step) noexcept {
    if (samples_ && !samples_->last_was(key, chain, step)) draw(key, chain, step, next_);
  }

  // Writes the noised sum of gradients of log p(x | theta), with noise of standard deviation sd per
  // coordinate, to out, followed by the second moments if they are asked for.
  void operator()(const Key& key, uint32_t chain, uint64_t step, const double* theta, double sd, Team& team,
                  int first_thread, Workspaces& workspaces, std::vector<double>& out,
                  StreamUse* use = nullptr) noexcept {
    sum(key, chain, step, theta, sd, team, first_thread, workspaces, use);
    absorb(key, chain, step, sd, workspaces.sums(first_thread), out, use);
  }

  // What is wanted of these records: their sums on the grid, which the team's first workspace holds
  // afterwards.
  void sum(const Key& key, uint32_t chain, uint64_t step, const double* theta, double sd, Team& team,
           int first_thread, Workspaces& workspaces, StreamUse* use = nullptr) noexcept {
    sum(key, chain, step, theta, step_grid(spec_, model_, records_, sd), team, first_thread, workspaces, use);
  }

  // Adds the noise, once, to the sums over all records, wherever they were taken.
  void absorb(const Key& key, uint32_t chain, uint64_t step, double sd, const int64_t* sums,
              std::vector<double>& out, StreamUse* use = nullptr) noexcept {
    const StepGrid grid = step_grid(spec_, model_, records_, sd);
    const double unit = std::ldexp(sd, -grid.bits);
    Stream stream(key, Purpose::noise, chain, step);
    const size_t noised = spec_.moments.noised ? noise_.size() : static_cast<size_t>(model_.dim);
    fill_rounded_normal(stream, noise_.data(), noised);
    if (use) use->noise = stream.words_used();
    // floor() lowers the noise by half a grid step on average, which is added back. Shifting a floor right
    // gives the floor on a coarser grid.
    for (size_t j = 0; j < noise_.size(); ++j) {
      const int64_t noise = noise_[j] >> (rounded_normal_bits - grid.bits);
      out[j] = (static_cast<double>(sums[j] + noise) + 0.5) * unit;
    }
  }

 private:
  void sum(const Key& key, uint32_t chain, uint64_t step, const double* theta, const StepGrid& grid,
           Team& team, int first_thread, Workspaces& workspaces, StreamUse* use) noexcept {
    workspaces.clear(first_thread, team.threads());
    if (spec_.sampling == Sampling::full) {
      team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
        add(theta, {nullptr, end - begin, begin}, grid, workspaces, first_thread + thread);
        return RatioSum{};
      });
      workspaces.gather(first_thread, team.threads());
      return;
    }
    std::swap(now_, next_);
    draw(key, chain, step + 1, next_);
    if (use) use->subsample = now_.words;
    add(theta, {now_.index.data(), now_.count, 0, next_.index.data(), next_.count}, grid, workspaces,
        first_thread);
  }

  struct Sample {
    std::vector<uint32_t> index;
    int64_t count = 0;
    uint64_t words = 0;
  };

  void draw(const Key& key, uint32_t chain, uint64_t step, Sample& sample) noexcept {
    sample.count = static_cast<int64_t>(samples_->draw(key, chain, step, sample.index.data()));
    sample.words = samples_->words_used();
  }

  void add(const double* theta, const Batch& batch, const StepGrid& step, Workspaces& workspaces,
           int thread) const noexcept {
    const GradientGrid& grid = step.grid;
    const KernelTable& kernel = kernels_of(model_);
    double* slopes = workspaces.slopes(thread);
    int64_t* sums = workspaces.sums(thread);
    if (spec_.moments.taken())
      kernel.moment_sums(model_, records_, theta, slopes, batch, grid, moment_grid(grid), sums);
    else if (step.narrow)
      kernel.narrow_sums(model_, records_, theta, slopes, batch, grid, sums);
    else
      kernel.gradient_sums(model_, records_, theta, slopes, batch, grid, sums);
  }

  MomentGrid moment_grid(const GradientGrid& grid) const noexcept {
    return {std::fmin(spec_.moments.clip, grid.clip), spec_.moments.scale * grid.per_unit};
  }

  QuerySpec spec_;
  ModelSpec model_;
  Records records_;
  std::vector<int64_t> noise_;
  std::unique_ptr<StepSamples> samples_;
  Sample now_, next_;
};

}  // namespace pydpmc

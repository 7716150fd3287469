// The sample of every step of a chain: a function of (key, chain, step) alone. Sixteen consecutive steps
// share a stream, so drawing in the order of the steps is fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "random/sampling/subsample.hpp"

namespace pydpmc {

class StepSamples {
 public:
  // Samples of b out of n, or Poisson samples if there is no b.
  StepSamples(Subsampler sampler, std::optional<std::size_t> b) : sampler_(std::move(sampler)), b_(b) {}
  ~StepSamples() { forget(); }
  StepSamples(const StepSamples&) = delete;
  StepSamples& operator=(const StepSamples&) = delete;

  // The length that the array of a sample needs.
  std::size_t room() const noexcept { return sampler_.room(); }

  // Writes the sample of a step and returns its size.
  std::size_t draw(const Key& key, std::uint32_t chain, std::uint64_t step, std::uint32_t* out) noexcept {
    if (step % steps_per_stream == 0 || !last_was(key, chain, step - 1)) start(key, chain, step, out);
    last_ = step;
    return next(out);
  }

  // Whether the last sample drawn was the one of this step.
  bool last_was(const Key& key, std::uint32_t chain, std::uint64_t step) const noexcept {
    return source_ && last_ == step && chain_ == chain && std::memcmp(&key_, &key, sizeof key) == 0;
  }

  // Random words taken from the stream so far, for tests.
  std::uint64_t words_used() const noexcept { return source_ ? source_->stream.words_used() : 0; }

 private:
  static constexpr std::uint64_t steps_per_stream = 16;

  struct Source {
    Stream stream;
    ProcessLine line;

    Source(const Key& key, std::uint32_t chain, std::uint64_t group, const Subsampler& sampler) noexcept
        : stream(key, Purpose::subsample, chain, group), line(sampler.line(stream)) {}
  };

  // Positions the stream so that the next sample is the one of this step.
  void start(const Key& key, std::uint32_t chain, std::uint64_t step, std::uint32_t* out) noexcept {
    forget();
    key_ = key;
    chain_ = chain;
    source_.emplace(key, chain, step / steps_per_stream, sampler_);
    for (std::uint64_t k = 0; k < step % steps_per_stream; ++k) next(out);
  }

  std::size_t next(std::uint32_t* out) noexcept {
    if (!b_) return sampler_.draw_poisson(source_->line, out);
    sampler_.draw_exactly(*b_, source_->line, out);
    return *b_;
  }

  void forget() noexcept {
    wipe(key_);
    if (source_) source_->stream.forget_key();
    source_.reset();
  }

  Subsampler sampler_;
  std::optional<std::size_t> b_;
  Key key_{};
  std::uint32_t chain_ = 0;
  std::uint64_t last_ = 0;
  std::optional<Source> source_;
};

}  // namespace pydpmc

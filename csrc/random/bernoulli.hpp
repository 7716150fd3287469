// One released bit: a 64-bit threshold, one draw, one comparison.
#pragma once

#include <cmath>
#include <cstdint>

#include "random/stream.hpp"

namespace pydpmc {

// P(true) is threshold / 2^64, or 1 - threshold / 2^64 if `complement`. The threshold stores the smaller of
// P(true) and P(false), which gives both a small relative error.
struct Probability {
  std::uint64_t threshold;
  bool complement;
};

inline constexpr double max_logit = 24.0;

namespace bernoulli_detail {

inline double smaller_probability(double distance) noexcept { return 1.0 / (1.0 + std::exp(distance)); }

inline std::uint64_t threshold(double smaller) noexcept {
  return static_cast<std::uint64_t>(std::round(std::ldexp(smaller, 64)));
}

}  // namespace bernoulli_detail

// P(true) = 1 / (1 + exp(-d)) with d clamped to [-max_logit, max_logit]; NaN counts as -max_logit.
inline Probability probability_from_logit(double d) noexcept {
  if (!(d >= -max_logit)) d = -max_logit;
  if (d > max_logit) d = max_logit;
  return {bernoulli_detail::threshold(bernoulli_detail::smaller_probability(std::fabs(d))), d > 0};
}

// P(true) = p, where p + q = 1 and both have a small relative error. Clamped to [c, 1 - c] as above, which
// costs no privacy: p <= a p' + h implies max(p, c) <= a max(p', c) + h for every a >= 1, h >= 0. If p and q
// are not probabilities, P(true) = c.
inline Probability probability_from_pair(double p, double q) noexcept {
  const double least = bernoulli_detail::smaller_probability(max_logit);
  if (!(p >= 0 && q >= 0)) return {bernoulli_detail::threshold(least), false};
  const bool complement = p > q;
  double smaller = complement ? q : p;
  if (smaller < least) smaller = least;
  if (smaller > 0.5) smaller = 0.5;
  return {bernoulli_detail::threshold(smaller), complement};
}

// Takes exactly one word of the stream, whatever the probability.
inline bool bernoulli(Stream& stream, Probability probability) noexcept {
  return (stream.next64() < probability.threshold) != probability.complement;
}

}  // namespace pydpmc

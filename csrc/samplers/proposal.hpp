// Proposals, which are independent of the data: symmetric random walks theta' = theta + A z, or a function
// that a user wrote. gaussian: z ~ N(0, I). ball: z uniform in the ball of radius r. truncated_gaussian: N(0,
// I) given |z| <= r. sphere: z uniform on the sphere of radius r, the longest moves that a bound on |z|
// allows. A bounded z keeps |theta' - theta| <= r |A|, so that the ratio of a Lipschitz likelihood needs no
// clipping. The move of a coordinate that is a whole number is rounded; rounding is odd, so the walk stays
// symmetric.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "random/noise/normal.hpp"
#include "random/uniform.hpp"

namespace pydpmc {

enum class ProposalKind : int { gaussian, ball, truncated_gaussian, sphere };

// Writes a proposal made of theta and random words; returns log q(theta | theta') - log q(theta' | theta), or
// NaN if there is none.
struct OwnProposal {
  static constexpr std::size_t words = 2;
  double (*propose)(int64_t dim, const double* theta, const uint64_t* words, double* out, void* user);
  void* user;
};

struct Proposal {
  ProposalKind kind;
  double radius;
  std::vector<double> factor;  // A, lower triangular, row by row; or its diagonal (dim entries)
  std::vector<bool> whole{};   // by coordinate, whether it is a whole number; empty if none is
  const OwnProposal* own = nullptr;
};

inline double norm(const double* z, size_t dim) noexcept {
  double total = 0.0;
  for (size_t j = 0; j < dim; ++j) total += z[j] * z[j];
  return std::sqrt(total);
}

inline void draw_direction(const Proposal& proposal, Stream& stream, double* z, size_t dim) noexcept {
  fill_normal(stream, z, dim);
  if (proposal.kind == ProposalKind::gaussian) return;
  if (proposal.kind == ProposalKind::truncated_gaussian) {
    while (norm(z, dim) > proposal.radius) fill_normal(stream, z, dim);
    return;
  }
  double length = proposal.radius / norm(z, dim);
  if (proposal.kind == ProposalKind::ball)
    length *= std::pow(open_unit(stream), 1.0 / static_cast<double>(dim));
  for (size_t j = 0; j < dim; ++j) z[j] *= length;
}

// Returns the log-ratio of the proposal's densities, back over there; minus infinity, and theta itself as the
// proposal, if the user's function gave none.
inline double propose_own(const OwnProposal& own, Stream& stream, const std::vector<double>& theta,
                          std::vector<double>& out) noexcept {
  uint64_t words[OwnProposal::words];
  for (uint64_t& word : words) word = stream.next64();
  const double log_ratio =
      own.propose(static_cast<int64_t>(theta.size()), theta.data(), words, out.data(), own.user);
  bool usable = !std::isnan(log_ratio);
  for (const double value : out) usable = usable && std::isfinite(value);
  if (usable) return log_ratio;
  out = theta;
  return -std::numeric_limits<double>::infinity();
}

inline double propose(const Proposal& proposal, Stream& stream, const std::vector<double>& theta,
                      std::vector<double>& z, std::vector<double>& out) noexcept {
  if (proposal.own) return propose_own(*proposal.own, stream, theta, out);
  const size_t dim = theta.size();
  draw_direction(proposal, stream, z.data(), dim);
  const bool diagonal = proposal.factor.size() == dim;
  const double* a = proposal.factor.data();
  for (size_t i = 0; i < dim; ++i) {
    double step = 0.0;
    if (diagonal)
      step = a[i] * z[i];
    else
      for (size_t j = 0; j <= i; ++j) step += a[i * dim + j] * z[j];
    if (!proposal.whole.empty() && proposal.whole[i]) step = std::nearbyint(step);
    out[i] = theta[i] + step;
  }
  return 0.0;
}

}  // namespace pydpmc

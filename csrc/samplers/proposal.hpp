// Symmetric random-walk proposals theta' = theta + A z, independent of the data.
// gaussian: z ~ N(0, I). ball: z uniform in the ball of radius r. truncated_gaussian: N(0, I) given |z| <= r.
// sphere: z uniform on the sphere of radius r, the longest moves that a bound on |z| allows.
// A bounded z keeps |theta' - theta| <= r |A|, so that the ratio of a Lipschitz likelihood needs no
// clipping.
#pragma once

#include <cmath>
#include <vector>

#include "random/noise/normal.hpp"
#include "random/uniform.hpp"

namespace pydpmc {

enum class ProposalKind : int { gaussian, ball, truncated_gaussian, sphere };

struct Proposal {
  ProposalKind kind;
  double radius;
  std::vector<double> factor;  // A, lower triangular, row by row; or its diagonal (dim entries)
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

inline void propose(const Proposal& proposal, Stream& stream, const std::vector<double>& theta,
                    std::vector<double>& z, std::vector<double>& out) noexcept {
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
    out[i] = theta[i] + step;
  }
}

}  // namespace pydpmc

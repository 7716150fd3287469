// Log prior densities, one term per coordinate of theta, up to constants.
#pragma once

#include <cmath>
#include <vector>

namespace pydpmc {

enum class PriorKind : int { flat, normal, laplace, student_t };

struct PriorTerm {
  PriorKind kind;
  double location, scale, df;
  bool of_log;  // the coordinate is log x, and the prior is the density of x > 0
};

using Prior = std::vector<PriorTerm>;

inline double log_density(const PriorTerm& term, double x) noexcept {
  const double z = (x - term.location) / term.scale;
  switch (term.kind) {
    case PriorKind::flat:
      return 0.0;
    case PriorKind::normal:
      return -0.5 * z * z;
    case PriorKind::laplace:
      return -std::fabs(z);
    case PriorKind::student_t:
      return -0.5 * (term.df + 1) * std::log1p(z * z / term.df);
  }
  return 0.0;
}

inline double log_density_slope(const PriorTerm& term, double x) noexcept {
  const double z = (x - term.location) / term.scale;
  switch (term.kind) {
    case PriorKind::flat:
      return 0.0;
    case PriorKind::normal:
      return -z / term.scale;
    case PriorKind::laplace:
      return (z > 0 ? -1.0 : z < 0 ? 1.0 : 0.0) / term.scale;
    case PriorKind::student_t:
      return -(term.df + 1) * z / (term.df + z * z) / term.scale;
  }
  return 0.0;
}

inline double log_prior(const Prior& prior, const double* theta) noexcept {
  double total = 0.0;
  for (size_t j = 0; j < prior.size(); ++j) {
    const bool of_log = prior[j].of_log;
    total += log_density(prior[j], of_log ? std::exp(theta[j]) : theta[j]);
    if (of_log) total += theta[j];  // Jacobian of x = exp(theta)
  }
  return total;
}

inline double log_prior_slope(const PriorTerm& term, double theta) noexcept {
  if (!term.of_log) return log_density_slope(term, theta);
  const double x = std::exp(theta);
  return log_density_slope(term, x) * x + 1.0;
}

}  // namespace pydpmc

// Log prior densities, one term per coordinate of theta, up to constants.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace pydpmc {

// uniform: 0 from `location` to `scale`, its two ends.
enum class PriorKind : int { flat, normal, laplace, student_t, uniform };

struct PriorTerm {
  PriorKind kind;
  double location, scale, df;
  bool of_log;  // the coordinate is log x, and the prior is the density of x > 0
};

// A density of all coordinates together, which users write (pydpmc/model.h). It writes its gradient to
// `slopes` unless that is null.
struct OwnPrior {
  double (*log_density)(int64_t dim, const double* theta, double* slopes, void* user);
  void* user;
};

// The product of one term per coordinate, and of `own` if there is one.
class Prior : public std::vector<PriorTerm> {
 public:
  const OwnPrior* own = nullptr;
};

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
    case PriorKind::uniform:
      return term.location <= x && x <= term.scale ? 0.0 : -std::numeric_limits<double>::infinity();
  }
  return 0.0;
}

inline double log_density_slope(const PriorTerm& term, double x) noexcept {
  const double z = (x - term.location) / term.scale;
  switch (term.kind) {
    case PriorKind::flat:
    case PriorKind::uniform:
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
  if (prior.own)
    total += prior.own->log_density(static_cast<int64_t>(prior.size()), theta, nullptr, prior.own->user);
  return total;
}

inline double log_prior_slope(const PriorTerm& term, double theta) noexcept {
  if (!term.of_log) return log_density_slope(term, theta);
  const double x = std::exp(theta);
  return log_density_slope(term, x) * x + 1.0;
}

// Adds the gradient of prior.own; `scratch` has room for all coordinates. A slope that is not finite counts
// as 0.
inline void add_own_slopes(const Prior& prior, const double* theta, double* scratch, double* out) noexcept {
  if (!prior.own) return;
  prior.own->log_density(static_cast<int64_t>(prior.size()), theta, scratch, prior.own->user);
  for (std::size_t j = 0; j < prior.size(); ++j)
    if (std::isfinite(scratch[j])) out[j] += scratch[j];
}

}  // namespace pydpmc

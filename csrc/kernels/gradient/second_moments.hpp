// The second moments g g^T of clipped gradients, if a sampler asks for them: the upper triangle row by row,
// scaled, off-diagonal entries times sqrt(2), so that the Euclidean norm is scale |g|^2. They follow the
// gradient in one vector, all of which gets noise of one standard deviation: it is one release.
#pragma once

#include <cstddef>

namespace pydpmc {

inline constexpr int most_moment_dim = 200;

struct SecondMoments {
  double scale = 0.0;  // 0: no second moments
  double clip = 0.0;   // the bound on |g| in g g^T
  bool noised = true;  // false: no noise, no privacy

  bool taken() const noexcept { return scale > 0.0; }
  double bound() const noexcept { return scale * clip * clip; }

  // The length of what is released: dim, or dim + dim (dim + 1) / 2.
  size_t coordinates(int dim) const noexcept {
    const size_t d = static_cast<size_t>(dim);
    return taken() ? d + d * (d + 1) / 2 : d;
  }
};

// The same on the integer grid.
struct MomentGrid {
  double clip;
  double per_unit;  // integers per unit of g g^T
};

}  // namespace pydpmc

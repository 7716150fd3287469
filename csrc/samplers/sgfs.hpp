// SGFS (Wang et al. 2015, algorithm 4): theta' = theta - 2 (J_t + 4A/h)^{-1} (g + N(0, 4A/h)). J_t estimates
// the curvature of U by the Fisher information, plus the variance of g due to batch sampling, from released
// second moments alone. A is a public diagonal matrix. g already has noise of variance 4 min(A)/h; the rest
// is added here and reads no record. Deviations from the paper: docs/privacy/sgfs.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "kernels/gradient/second_moments.hpp"
#include "random/noise/normal.hpp"
#include "samplers/parameters.hpp"
#include "samplers/symmetric_eigen.hpp"

namespace pydpmc {

struct Sgfs {
  static constexpr std::string_view name = "sgfs";

  std::vector<double> noise_matrix;     // the diagonal of A
  std::vector<double> prior_precision;  // of each coordinate
  double weight;                        // of a sum of g g^T in J_t: (w N/b) (1 + w (N/b - 1))
  double centred;                       // b, if g g^T is centred by the batch's mean; else 0
  double moment_scale;                  // of the released second moments
  double heat;                          // temperature of the noise in g

  std::vector<double> moments{}, matrix{}, scratch{};  // running mean of g g^T; J_t; g in the eigenbasis
  SymmetricEigen eigen{};                              // of A^{-1/2} J_t A^{-1/2}
  double seen = 0.0, next_update = 0.0;

  static constexpr double growth =
      1.1;  // J_t is recomputed when `seen` has grown by this factor since the last time

  explicit Sgfs(const Parameters& given)
      : noise_matrix(given.list("noise_matrix")),
        prior_precision(given.list("prior_precision")),
        weight(given.one("weight")),
        centred(given.one("centred")),
        moment_scale(given.one("moment_scale")),
        heat(given.one("heat")) {}

  // What the query releases besides the gradient.
  static SecondMoments second_moments(const Parameters& given, std::size_t dim) {
    const SecondMoments moments{given.one("moment_scale"), given.one("moment_clip"),
                                given.one("moments_noised") != 0.0};
    if (dim > static_cast<std::size_t>(most_moment_dim))
      throw std::invalid_argument("too many parameters for second moments");
    if (!moments.taken() || !(moments.clip > 0.0))
      throw std::invalid_argument("moment_scale and moment_clip must be positive");
    if (given.list("noise_matrix").size() != dim || given.list("prior_precision").size() != dim)
      throw std::invalid_argument("noise_matrix and prior_precision need one entry per parameter");
    return moments;
  }

  auto state() { return std::tie(moments, eigen.values, eigen.vectors, seen, next_update); }

  void start(std::size_t dim) {
    moments.assign(dim * (dim + 1) / 2, 0.0);
    matrix.assign(dim * dim, 0.0);
    scratch.assign(dim, 0.0);
    eigen.resize(dim);
    update_curvature();
  }

  void step(std::vector<double>& theta, std::vector<double>& g, double h, Stream& diffusion) noexcept {
    const size_t dim = theta.size();
    const double least = *std::min_element(noise_matrix.begin(), noise_matrix.end());
    for (size_t j = 0; j < dim; ++j) {
      const double missing = 4.0 * (noise_matrix[j] - least) / h;
      if (missing > 0.0) g[j] += heat * std::sqrt(missing) * normal(diffusion);
      g[j] /= std::sqrt(noise_matrix[j]);
    }
    for (size_t k = 0; k < dim; ++k) {
      double along = 0.0;
      for (size_t j = 0; j < dim; ++j) along += eigen.vectors[k * dim + j] * g[j];
      scratch[k] = 2.0 * along / (eigen.values[k] + 4.0 / h);
    }
    for (size_t k = 0; k < dim; ++k)
      for (size_t j = 0; j < dim; ++j)
        theta[j] -= scratch[k] * eigen.vectors[k * dim + j] / std::sqrt(noise_matrix[j]);
  }

  // Adds a released sum (G, scale g g^T), with noise of sd in each coordinate, to the running mean. A step
  // uses only what was added before it, so that its noise does not affect its own preconditioner.
  void observe(const std::vector<double>& released, double sd) noexcept {
    constexpr double sqrt2 = 1.4142135623730951;
    const size_t dim = scratch.size();
    const double rate = 2.0 / (seen + 2.0);  // later steps have more weight
    size_t at = 0;
    for (size_t i = 0; i < dim; ++i)
      for (size_t j = i; j < dim; ++j, ++at) {
        double moment = released[dim + at] / (moment_scale * (i == j ? 1.0 : sqrt2));
        if (centred > 0.0) {
          const double means = released[i] * released[j] - (i == j ? sd * sd : 0.0);
          moment = (moment - means / centred) * centred / (centred - 1.0);
        }
        moments[at] += rate * (moment - moments[at]);
      }
    seen += 1.0;
    if (seen < next_update) return;
    next_update = std::fmax(seen + 1.0, growth * seen);
    update_curvature();
  }

 private:
  // Noise can make eigenvalues negative; these are set to zero.
  void update_curvature() noexcept {
    const size_t dim = scratch.size();
    size_t at = 0;
    for (size_t i = 0; i < dim; ++i)
      for (size_t j = i; j < dim; ++j, ++at) {
        const double curvature = weight * moments[at] + (i == j ? prior_precision[i] : 0.0);
        matrix[i * dim + j] = curvature / std::sqrt(noise_matrix[i] * noise_matrix[j]);
        matrix[j * dim + i] = matrix[i * dim + j];
      }
    eigen.decompose(matrix);
    for (double& value : eigen.values) value = std::fmax(value, 0.0);
  }
};

}  // namespace pydpmc

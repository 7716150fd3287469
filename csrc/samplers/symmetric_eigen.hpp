// Eigenvalues and eigenvectors of a small symmetric matrix by Jacobi's rotations.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace pydpmc {

struct SymmetricEigen {
  size_t dim = 0;
  std::vector<double> values;
  std::vector<double> vectors;  // row k is the eigenvector of values[k]

  // `a` is dim x dim, symmetric, finite; it is overwritten.
  void decompose(std::vector<double>& a) noexcept {
    for (size_t i = 0; i < dim * dim; ++i) vectors[i] = i % (dim + 1) == 0 ? 1.0 : 0.0;
    constexpr int most_sweeps = 40;
    for (int sweep = 0; sweep < most_sweeps && off_diagonal(a) > 0x1p-45 * norm(a); ++sweep)
      for (size_t p = 0; p + 1 < dim; ++p)
        for (size_t q = p + 1; q < dim; ++q) rotate(a, p, q);
    for (size_t k = 0; k < dim; ++k) values[k] = a[k * dim + k];
  }

  void resize(size_t n) {
    dim = n;
    values.assign(n, 0.0);
    vectors.assign(n * n, 0.0);
  }

 private:
  double norm(const std::vector<double>& a) const noexcept {
    double total = 0.0;
    for (double x : a) total += x * x;
    return std::sqrt(total);
  }

  double off_diagonal(const std::vector<double>& a) const noexcept {
    double total = 0.0;
    for (size_t p = 0; p < dim; ++p)
      for (size_t q = 0; q < dim; ++q) total += p == q ? 0.0 : a[p * dim + q] * a[p * dim + q];
    return std::sqrt(total);
  }

  void rotate(std::vector<double>& a, size_t p, size_t q) noexcept {
    const double apq = a[p * dim + q];
    if (apq == 0.0) return;
    const double tau = (a[q * dim + q] - a[p * dim + p]) / (2.0 * apq);
    const double t = std::copysign(1.0, tau) / (std::fabs(tau) + std::sqrt(1.0 + tau * tau));
    const double c = 1.0 / std::sqrt(1.0 + t * t), s = t * c;
    for (size_t k = 0; k < dim; ++k) turn(a[p * dim + k], a[q * dim + k], c, s);
    for (size_t k = 0; k < dim; ++k) turn(a[k * dim + p], a[k * dim + q], c, s);
    for (size_t k = 0; k < dim; ++k) turn(vectors[p * dim + k], vectors[q * dim + k], c, s);
  }

  static void turn(double& x, double& y, double c, double s) noexcept {
    const double before = x;
    x = c * x - s * y;
    y = s * before + c * y;
  }
};

}  // namespace pydpmc

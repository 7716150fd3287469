// What this CPU can do on W2 and W3 when nothing has to be exact or secret: floating-point sums with fused
// multiply-add, xoshiro, geometric skips, norms kept in the rows' padding. For CPUs on which the limit kernels of
// the shared anchors (AVX-512) do not run; built by limits.py with -O3 -march=native -ffast-math. Not library code.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>
#include <sys/mman.h>

#include "xoshiro.hpp"

namespace {

constexpr int rows_at_once = 8, rows_ahead = 16;

template <class R>
struct Table {
  int64_t n;
  int columns, stride;
  R* rows;  // [x .. 0 .. y, |x|], whole cache lines
};

template <class R>
Table<R>* make(const R* x, const R* y, int64_t n, int columns) {
  constexpr int line = 64 / sizeof(R);
  constexpr size_t page = size_t{2} << 20;
  auto* t = new Table<R>{n, columns, (columns + 2 + line - 1) / line * line, nullptr};
  const size_t bytes = (static_cast<size_t>(n) * t->stride * sizeof(R) + 2 * page - 1) / page * page;
  t->rows = static_cast<R*>(std::aligned_alloc(page, bytes));
  madvise(t->rows, bytes, MADV_HUGEPAGE);
  for (int64_t i = 0; i < n; ++i) {
    R* row = t->rows + i * t->stride;
    double square = 0;
    for (int j = 0; j < t->stride; ++j) row[j] = j < columns ? x[i * columns + j] : R(0);
    for (int j = 0; j < columns; ++j) square += double(row[j]) * double(row[j]);
    row[t->stride - 2] = y[i], row[t->stride - 1] = R(std::sqrt(square));
  }
  return t;
}

struct Batch {
  std::vector<uint32_t> index;
  int count = 0;
};

void draw(Xoshiro& g, int64_t n, double rate, Batch& batch) {
  const double scale = 1.0 / std::log1p(-rate);
  double u[64];
  batch.count = 0;
  for (int64_t at = -1;;) {
    for (double& v : u) v = g.unit();
#pragma omp simd
    for (int k = 0; k < 64; ++k) u[k] = std::log(u[k]) * scale;
    for (double v : u) {
      at += 1 + static_cast<int64_t>(v);
      if (at >= n || batch.count == static_cast<int>(batch.index.size())) return;
      batch.index[batch.count++] = static_cast<uint32_t>(at);
    }
  }
}

template <class R>
void add_gradients(const Table<R>& t, const Batch& now, const Batch& next, const R* theta, double clip, R* sum) {
  typedef R V __attribute__((vector_size(32), aligned(sizeof(R)), may_alias));
  constexpr int width = 32 / sizeof(R);
  const int m = now.count, stride = t.stride;
  for (int i = 0; i < m; i += rows_at_once) {
    const R *row[rows_at_once], *ahead[rows_at_once];
    double a[rows_at_once];
    for (int k = 0; k < rows_at_once; ++k) {
      row[k] = t.rows + int64_t(now.index[i + k < m ? i + k : i]) * stride;
      const int q = i + rows_ahead + k;
      ahead[k] = t.rows + int64_t(q < m ? now.index[q] : q - m < next.count ? next.index[q - m] : 0) * stride;
    }
    V dot[rows_at_once] = {};
    for (int j = 0; j < stride; j += width) {
      for (int k = 0; k < 4; ++k) __builtin_prefetch(ahead[k] + j, 0, 2);
      const V b = *reinterpret_cast<const V*>(theta + j);
#pragma GCC unroll 8
      for (int k = 0; k < rows_at_once; ++k) dot[k] += *reinterpret_cast<const V*>(row[k] + j) * b;
    }
    for (int k = 0; k < rows_at_once; ++k) {
      a[k] = 0;
      for (int l = 0; l < width; ++l) a[k] += dot[k][l];
    }
#pragma omp simd
    for (int k = 0; k < rows_at_once; ++k) a[k] = 1 / (1 + std::exp(-a[k]));
    for (int k = 0; k < rows_at_once; ++k) {
      const double residual = row[k][stride - 2] - a[k];
      const double norm = std::fabs(residual) * row[k][stride - 1];
      a[k] = i + k < m ? residual * (norm > clip ? clip / norm : 1.0) : 0.0;
    }
    for (int j = 0; j < stride; j += width) {
      for (int k = 4; k < 8; ++k) __builtin_prefetch(ahead[k] + j, 0, 2);
      V even = *reinterpret_cast<const V*>(sum + j), odd = {};
#pragma GCC unroll 4
      for (int k = 0; k < rows_at_once; k += 2) {
        even += *reinterpret_cast<const V*>(row[k] + j) * R(a[k]);
        odd += *reinterpret_cast<const V*>(row[k + 1] + j) * R(a[k + 1]);
      }
      *reinterpret_cast<V*>(sum + j) = even + odd;
    }
  }
}

void normals(Xoshiro& g, std::vector<double>& z, std::vector<double>& angle) {
  const size_t half = z.size() / 2;
  for (double& v : z) v = g.unit();
#pragma omp simd
  for (size_t j = 0; j < half; ++j) z[j] = std::sqrt(-2 * std::log(z[j]));
  double* cosine = angle.data();
#pragma omp simd
  for (size_t j = 0; j < half; ++j) cosine[j] = std::cos(6.283185307179586 * z[half + j]);
  asm volatile("" ::: "memory");  // else the two become one sincos, which does not vectorise
#pragma omp simd
  for (size_t j = 0; j < half; ++j) z[half + j] = z[j] * std::sin(6.283185307179586 * z[half + j]);
  for (size_t j = 0; j < half; ++j) z[j] *= cosine[j];
}

template <class R>
void sgld(const Table<R>& t, int batch, int64_t steps, double clip, double h, uint64_t seed, double* out) {
  const int d = t.columns;
  std::vector<R> theta(t.stride), sum(t.stride);
  std::vector<double> z((d + 1) / 2 * 2), angle(z.size() / 2);
  Batch now{std::vector<uint32_t>(2 * batch + 1000)}, next{now.index};
  Xoshiro g(seed);
  const double rate = double(batch) / double(t.n), noise = std::sqrt(2 * h);
  draw(g, t.n, rate, next);
  for (int64_t step = 0; step < steps; ++step) {
    std::swap(now, next);
    draw(g, t.n, rate, next);
    std::memset(sum.data(), 0, sum.size() * sizeof(R));
    add_gradients(t, now, next, theta.data(), clip, sum.data());
    normals(g, z, angle);
    for (int j = 0; j < d; ++j) theta[j] += R(h * (sum[j] / rate - theta[j]) + noise * z[j]);
  }
  for (int j = 0; j < d; ++j) out[j] = theta[j];
}

}  // namespace

extern "C" {
void* make64(const double* x, const double* y, int64_t n, int d) { return make(x, y, n, d); }
void* make32(const float* x, const float* y, int64_t n, int d) { return make(x, y, n, d); }
void drop64(void* t) { std::free(static_cast<Table<double>*>(t)->rows), delete static_cast<Table<double>*>(t); }
void drop32(void* t) { std::free(static_cast<Table<float>*>(t)->rows), delete static_cast<Table<float>*>(t); }
void sgld64(void* t, int b, int64_t steps, double clip, double h, uint64_t seed, double* out) {
  sgld(*static_cast<Table<double>*>(t), b, steps, clip, h, seed, out);
}
void sgld32(void* t, int b, int64_t steps, double clip, double h, uint64_t seed, double* out) {
  sgld(*static_cast<Table<float>*>(t), b, steps, clip, h, seed, out);
}
}

// What this CPU can do in one pass over all records of a logistic regression when nothing has to be exact, total
// or the same on another CPU: plain loops over columns of 64 records, fused multiply-adds, sums in doubles. The
// blocks are made once, outside the time. Built by limit_kernels.py with -O3 -ffast-math for one instruction set.
// Not library code.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "portable_look.hpp"

namespace {

constexpr int block = 64;

template <class R>
struct Blocks {
  int64_t n;
  int columns;
  R* x;     // [block][column][record], then y as a last column
  R* rows;  // [record][column]
};

template <class R>
Blocks<R>* make(const double* x, const double* y, int64_t n, int columns) {
  auto* b = new Blocks<R>{n, columns, nullptr, nullptr};
  const int64_t blocks = (n + block - 1) / block;
  b->x = static_cast<R*>(std::aligned_alloc(64, static_cast<size_t>(blocks * (columns + 1) * block) * sizeof(R) + 64 & ~size_t{63}));
  b->rows = static_cast<R*>(std::calloc(static_cast<size_t>(blocks * block * columns), sizeof(R)));
  for (int64_t i = 0; i < blocks * block; ++i) {
    for (int j = 0; j < columns && i < n; ++j) b->rows[i * columns + j] = R(x[i * columns + j]);
    R* to = b->x + i / block * (columns + 1) * block + i % block;
    for (int j = 0; j <= columns; ++j) to[j * block] = i >= n ? R(0) : R(j < columns ? x[i * columns + j] : y[i]);
  }
  return b;
}

template <class R>
void drop(Blocks<R>* b) {
  std::free(b->x), std::free(b->rows);
  delete b;
}

template <class R>
inline void predict(const R* x, int columns, const double* theta, double* eta) {
  for (int r = 0; r < block; ++r) eta[r] = theta[0];
  for (int j = 0; j < columns; ++j, x += block) {
    const double slope = theta[j + 1];
#pragma omp simd
    for (int r = 0; r < block; ++r) eta[r] += slope * double(x[r]);
  }
}

template <class R>
inline void add_columns(const R* x, int columns, const double* f, double* sums) {
  for (int j = 0; j < columns; ++j, x += block) {
    double total = 0;
#pragma omp simd reduction(+ : total)
    for (int r = 0; r < block; ++r) total += f[r] * double(x[r]);
    sums[j + 1] += total;
  }
}

// log-likelihood against the one that is kept, clipped.
template <class R>
double barker(const Blocks<R>& b, const double* theta, double clip, const double* now, double* next) {
  double sum = 0, eta[block];
  for (int64_t i = 0; i < b.n; i += block) {
    const R* x = b.x + i * (b.columns + 1);
    const R* y = x + b.columns * block;
    predict(x, b.columns, theta, eta);
#pragma omp simd reduction(+ : sum)
    for (int r = 0; r < block; ++r) {
      const double z = y[r] > R(0.5) ? -eta[r] : eta[r];
      next[i + r] = -(std::fmax(z, 0.0) + std::log(1 + std::exp(-std::fabs(z))));
      sum += std::fmin(std::fmax(next[i + r] - now[i + r], -clip), clip);
    }
  }
  return sum;
}

// The sum of log(x) of numbers in [1, 2]: products of eight have one logarithm.
inline double sum_of_logarithms(const double* x) {
  constexpr int lanes = 8;
  double product[lanes], total = 0;
  for (int k = 0; k < lanes; ++k) product[k] = x[k];
  for (int r = lanes; r < block; r += lanes)
#pragma omp simd
    for (int k = 0; k < lanes; ++k) product[k] *= x[r + k];
#pragma omp simd reduction(+ : total)
  for (int k = 0; k < lanes; ++k) total += std::log(product[k]);
  return total;
}

// Gradients, clipped to a norm or not, with the log-likelihood or not.
template <class R, bool clipped, bool value>
void gradient(const Blocks<R>& b, const double* theta, double clip, const double* norm, double* sums) {
  double eta[block], f[block], one_more[block];
  for (int64_t i = 0; i < b.n; i += block) {
    const R* x = b.x + i * (b.columns + 1);
    const R* y = x + b.columns * block;
    predict(x, b.columns, theta, eta);
    double first = 0, total = 0;
#pragma omp simd reduction(+ : first, total)
    for (int r = 0; r < block; ++r) {
      const double e = std::exp(-std::fabs(eta[r])), p = (eta[r] > 0 ? 1.0 : e) / (1 + e);
      f[r] = double(y[r]) - p;
      if (value)
        total -= std::fmax(y[r] > R(0.5) ? -eta[r] : eta[r], 0.0), one_more[r] = 1 + e;
      if (clipped)
        f[r] *= std::fmin(1.0, clip / (std::fabs(f[r]) * norm[i + r]));
      first += f[r];
    }
    sums[0] += first;
    if (value) sums[b.columns + 1] += total - sum_of_logarithms(one_more);
    add_columns(x, b.columns, f, sums);
  }
}

// Gradients and the curvature h x x', its upper triangle in `sums` from [columns + 1] on. Few columns are summed by
// lanes, many by rows.
template <class R>
void look(const Blocks<R>& b, const double* theta, double* sums) {
  const int dim = b.columns + 1, width = padded(dim);
  const bool few = dim <= 25;
  alignas(64) double eta[block], f[block], root[block];
  static thread_local std::vector<double> v;
  v.assign(static_cast<size_t>(block * (width + 8)), 0.0);
  static Vector lanes[32 * 32];
  std::memset(lanes, 0, sizeof lanes);
  for (int64_t i = 0; i < b.n; i += block) {
    const R* x = b.x + i * dim;
    const R* y = x + b.columns * block;
    predict(x, b.columns, theta, eta);
    double first = 0;
#pragma omp simd reduction(+ : first)
    for (int r = 0; r < block; ++r) {
      const double e = std::exp(-std::fabs(eta[r])), p = (eta[r] > 0 ? 1.0 : e) / (1 + e);
      f[r] = double(y[r]) - p;
      root[r] = std::sqrt(p * (1 - p));
      first += f[r];
    }
    sums[0] += first;
    add_columns(x, b.columns, f, sums);
    if (few) {
      std::memcpy(v.data(), root, sizeof root);
      for (int j = 0; j < b.columns; ++j)
#pragma omp simd
        for (int r = 0; r < block; ++r) v[static_cast<size_t>((j + 1) * block + r)] = root[r] * double(x[j * block + r]);
      add_products_by_columns<block>(v.data(), dim, lanes);
    } else {
      for (int r = 0; r < block; ++r) {
        double* row = v.data() + r * width;
        const R* from = b.rows + (i + r) * b.columns;
        row[0] = root[r];
#pragma omp simd
        for (int j = 0; j < b.columns; ++j) row[j + 1] = root[r] * double(from[j]);
      }
      add_products_by_rows<block>(v.data(), dim, sums + dim);
    }
  }
  if (few) add_sums_of_lanes(lanes, width, sums + dim);
}

template <class R>
double shortest(const Blocks<R>& b, int pass, const double* theta, const double* given, double* out, int repeats) {
  double best = 1e300;
  for (int k = 0; k <= repeats; ++k) {
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    if (pass == 0) out[0] = barker(b, theta, 1.0, given, out);
    if (pass == 1) gradient<R, false, false>(b, theta, 0.9, given, out);
    if (pass == 2) gradient<R, true, false>(b, theta, 0.9, given, out);
    if (pass == 3) gradient<R, false, true>(b, theta, 0.9, given, out);
    if (pass == 4) look(b, theta, out);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    const double took = double(to.tv_sec - from.tv_sec) + 1e-9 * double(to.tv_nsec - from.tv_nsec);
    if (k > 0) best = std::min(best, took);
  }
  return best;
}

}  // namespace

#define PASSES(bits, R)                                                                                              \
  void* make_passes##bits(const double* x, const double* y, int64_t n, int d) { return make<R>(x, y, n, d); }        \
  void drop_passes##bits(void* b) { drop(static_cast<Blocks<R>*>(b)); }                                              \
  double time_pass##bits(void* b, int pass, const double* theta, const double* given, double* out, int repeats) {    \
    return shortest(*static_cast<Blocks<R>*>(b), pass, theta, given, out, repeats);                                  \
  }

extern "C" {
PASSES(64, double)
PASSES(32, float)
}

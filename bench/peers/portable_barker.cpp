// What this CPU can do on W1 when nothing has to be exact or secret, the bandwidth of a sequential read, and the cost
// of a normal: for CPUs on which the shared limit kernels (AVX-512) do not run. Built like
// portable_limit.cpp. Not library code.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>
#include <sys/mman.h>

#include "xoshiro.hpp"

namespace {

constexpr int block = 64;

// n even.
void normals(Xoshiro& g, double* z, size_t n, double* angle) {
  const size_t half = n / 2;
  for (size_t j = 0; j < n; ++j) z[j] = g.unit();
#pragma omp simd
  for (size_t j = 0; j < half; ++j) z[j] = std::sqrt(-2 * std::log(z[j]));
#pragma omp simd
  for (size_t j = 0; j < half; ++j) angle[j] = std::cos(6.283185307179586 * z[half + j]);
  asm volatile("" ::: "memory");
#pragma omp simd
  for (size_t j = 0; j < half; ++j) z[half + j] = z[j] * std::sin(6.283185307179586 * z[half + j]);
  for (size_t j = 0; j < half; ++j) z[j] *= angle[j];
}

struct Normals {
  Xoshiro& g;
  double z[256], angle[128];
  int at = 256;
  double operator()() {
    if (at == 256) normals(g, z, 256, angle), at = 0;
    return z[at++];
  }
};

struct Subset {
  std::vector<uint32_t> index;
  std::vector<uint64_t> member;
  Subset(int64_t n, int b) : index(b + 2), member(n / 64 + 1) {}
  void draw(Xoshiro& g, int64_t n, int b, const double* x) {
    for (int k = 0; k < b; ++k) member[index[k] >> 6] = 0;
    for (int k = 0; k < b;) {
      const uint64_t word = g.next();
      for (uint64_t half : {word & 0xffffffff, word >> 32}) {
        const uint32_t i = static_cast<uint32_t>(half * n >> 32);
        const uint64_t bit = uint64_t{1} << (i & 63);
        const bool fresh = !(member[i >> 6] & bit) & (k < b);
        __builtin_prefetch(x + i, 0, 2);
        index[k] = i;
        member[i >> 6] |= fresh ? bit : 0;
        k += fresh;
      }
    }
  }
};

}  // namespace

extern "C" {

// The minibatch Barker test on the mixture of N(t1, 2) and N(t1 + t2, 2), tempered to n0 records.
void w1(const double* x, int64_t n, int b, int64_t steps, double n0, double clip, double variance, uint64_t seed, double* out) {
  Xoshiro g(seed);
  Normals normal{g};
  Subset now(n, b), next(n, b);
  next.draw(g, n, b, x);
  double t1 = 0.5, t2 = 0.5;
  const double sd = std::sqrt(variance);
  for (int64_t step = 0; step < steps; ++step) {
    std::swap(now, next);
    next.draw(g, n, b, x);
    const double p1 = t1 + sd * normal(), p2 = t2 + sd * normal();
    const double a = 0.5 * t2, c = -0.25 * t2 * (2 * t1 + t2), pa = 0.5 * p2, pc = -0.25 * p2 * (2 * p1 + p2);
    const double slope = 0.5 * (p1 - t1), offset = 0.25 * (t1 * t1 - p1 * p1);
    double sum = 0, squares = 0;
    for (int k = 0; k < b; k += block) {
      const int here = b - k < block ? b - k : block;
      double v[block];
      for (int j = 0; j < here; ++j) v[j] = x[now.index[k + j]];
#pragma omp simd reduction(+ : sum, squares)
      for (int j = 0; j < here; ++j) {
        const double r = slope * v[j] + offset + std::log((1 + std::exp(pa * v[j] + pc)) / (1 + std::exp(a * v[j] + c)));
        const double clipped = std::fmin(std::fmax(r, -clip), clip);
        sum += clipped, squares += clipped * clipped;
      }
    }
    const double mean = sum / b, spread = (squares / b - mean * mean) * n0 * n0 / b;
    const double prior = -0.05 * (p1 * p1 - t1 * t1) - 0.5 * (p2 * p2 - t2 * t2);
    if (n0 * mean + prior + normal() * std::sqrt(std::fmax(2 - spread, 0.0)) > 0) t1 = p1, t2 = p2;
    out[2 * step] = t1, out[2 * step + 1] = t2;
  }
}

void normal_fill(double* out, int64_t n, uint64_t seed) {
  Xoshiro g(seed);
  double angle[512];
  for (int64_t k = 0; k < n; k += 1024) normals(g, out + k, n - k < 1024 ? n - k : 1024, angle);
}

// Fills the same numbers again and again.
void normal_refill(double* out, int64_t n, int64_t times, uint64_t seed) {
  for (int64_t k = 0; k < times; ++k) normal_fill(out, n, seed + static_cast<uint64_t>(k));
}

// Best seconds of `rounds` sequential reads of as many bytes by as many threads.
double stream(int64_t bytes, int threads, int rounds) {
  constexpr size_t page = size_t{2} << 20;
  const size_t size = (static_cast<size_t>(bytes) + page - 1) / page * page;
  double* a = static_cast<double*>(std::aligned_alloc(page, size));
  madvise(a, size, MADV_HUGEPAGE);
  const int64_t n = bytes / 8;
  for (int64_t i = 0; i < n; ++i) a[i] = 1.0;
  std::vector<double> sums(8 * threads);
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto read = [&](int t, int repeats) {
      double s = 0;
      for (int r = 0; r < repeats; ++r) {
#pragma omp simd reduction(+ : s)
        for (int64_t i = n * t / threads; i < n * (t + 1) / threads; ++i) s += a[i];
        asm volatile("" : "+x"(s)::"memory");
      }
      sums[8 * t] += s;
    };
    constexpr int repeats = 5;
    const auto started = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(read, t, repeats);
    read(0, repeats);
    for (auto& other : others) other.join();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - started;
    if (elapsed.count() / repeats < best) best = elapsed.count() / repeats;
  }
  std::free(a);
  return best;
}
}

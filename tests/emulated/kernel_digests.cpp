// Every kernel of every instruction set that this CPU has, on the same made-up input: a line "isa kernel
// hash" for each, then "end". As the first process of an emulated machine (emulator.py) it then stops it.
#if defined(__x86_64__)
#include <sys/io.h>
#endif
#include <termios.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "concepts.hpp"
#include "isa/dispatch.hpp"
#include "kernels/curvature/look_grid.hpp"
#include "kernels/curvature/terms.hpp"
#include "kernels/gradient/chains.hpp"
#include "models/facts.hpp"
#include "query/gradient_grid.hpp"
#include "query/narrow_grid.hpp"
#include "random/noise/rounded_normal_table.hpp"
#include "random/sampling/alias_field.hpp"
#include "random/sampling/keep_unmarked.hpp"
#include "random/sampling/running_members.hpp"
#include "threads/workspaces.hpp"

using namespace pydpmc;

namespace {

class Mixer {
 public:
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(next() % n); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double number() { return 2.0 * (unit() + unit() + unit()) - 3.0; }
  template <class Word>
  std::vector<Word> words(size_t n) {
    std::vector<Word> out(n);
    for (Word& word : out) word = static_cast<Word>(next());
    return out;
  }
  std::vector<double> numbers(size_t n) {
    std::vector<double> out(n);
    for (double& x : out) x = number();
    return out;
  }

 private:
  uint64_t state_ = 2019;
};

class Digest {
 public:
  template <class T>
  void add(const T* from, size_t n) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(from);
    for (size_t i = 0; i < n * sizeof(T); ++i) hash_ = (hash_ ^ bytes[i]) * 0x100000001b3;
  }
  // All that is no number is alike: which bits it has depends on the processor, and no kernel looks at them.
  void add(const double* from, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      const double x = from[i] == from[i] ? from[i] : NAN;
      add<unsigned char>(reinterpret_cast<const unsigned char*>(&x), sizeof x);
    }
  }
  template <class T>
  void add(const std::vector<T>& v) {
    add(v.data(), v.size());
  }
  void say(const char* kernel) {
    std::printf("%s %s %016llx\n", kernels().isa, kernel, static_cast<unsigned long long>(hash_));
    std::fflush(stdout);
    hash_ = start;
  }

 private:
  static constexpr uint64_t start = 0xcbf29ce484222325;
  uint64_t hash_ = start;
};

void random_kernels() {
  Mixer mixer;
  Digest digest;
  const auto key = mixer.words<uint32_t>(8), nonce = mixer.words<uint32_t>(3);
  for (const size_t blocks : {1, 2, 3, 4, 7, 8, 9, 16, 31}) {
    std::vector<uint32_t> out(16 * blocks);
    kernels().chacha20_blocks(key.data(), 0xfffffff0u, nonce.data(), out.data(), blocks);
    digest.add(out);
  }
  digest.say("chacha20_blocks");

  auto entry = mixer.words<uint32_t>(alias_field::column + 1);
  for (uint32_t& e : entry) e &= alias_field::mask;
  for (const size_t n : {8, 16, 32}) {
    std::vector<uint32_t> out(alias_field::per_word * n);
    for (int k = 0; k < 200; ++k) {
      kernels().alias_outcomes(entry.data(), mixer.words<uint64_t>(n).data(), n, out.data());
      digest.add(out);
    }
  }
  digest.say("alias_outcomes");

  for (int k = 0; k < 300; ++k) {
    const size_t n = 1 + mixer.below(96);
    std::vector<uint32_t> gap(n), out(n + 16);
    for (uint32_t& g : gap)
      g = mixer.below(20) ? mixer.below(4095) : mixer.below(3) ? 4095 : alias_field::unsettled;
    ProcessPlace place{mixer.below(1000), 0, out.data()};
    const size_t taken = kernels().running_members(gap.data(), n, 4095, place);
    digest.add(&taken, 1), digest.add(&place.at, 1), digest.add(&place.count, 1),
        digest.add(out.data(), place.count);
  }
  digest.say("running_members");

  for (int k = 0; k < 300; ++k) {
    auto values = mixer.words<uint32_t>(1 + mixer.below(80));
    for (uint32_t& v : values) v = mixer.below(3) ? v : dropped;
    const size_t kept = kernels().keep_unmarked(values.data(), values.size());
    digest.add(&kept, 1), digest.add(values.data(), kept);
  }
  digest.say("keep_unmarked");

  for (int k = 0; k < 300; ++k) {
    const size_t n = 1 + mixer.below(64);
    const auto low = mixer.words<uint32_t>(n);
    const auto high = mixer.words<uint16_t>(n);
    std::vector<int64_t> values(n + 8);
    std::vector<uint16_t> unsettled(n + 8);
    const size_t open =
        kernels().normal_candidates(low.data(), high.data(), n, values.data(), unsettled.data());
    digest.add(&open, 1), digest.add(values.data(), n), digest.add(unsettled.data(), open);
  }
  digest.say("normal_candidates");
}

constexpr ModelKind kind(const char* name) { return model_named(name).value(); }

bool has_look(ModelKind kind) {
  return PYDPMC_ISA::with_model(kind,
                                []<class Model>(Model) noexcept { return PYDPMC_ISA::has_terms<Model>; });
}

struct Case {
  const char* name;
  ModelKind kind;
  bool has_target;
  double constants[2];
  int extra, predictors;
  bool one_column;
};

constexpr Case cases[] = {
    {"logistic_regression", kind("logistic_regression"), true, {0.0, 0.0}, 0, 1, false},
    {"linear_regression", kind("linear_regression"), true, {0.5, 0.0}, 0, 1, false},
    {"linear_regression_sigma", kind("linear_regression"), true, {0.0, 0.0}, 1, 1, false},
    {"bernoulli_logit", kind("bernoulli_logit"), false, {0.0, 0.0}, 0, 1, true},
    {"gaussian_mean", kind("gaussian_mean"), false, {0.8, 0.0}, 0, 1, false},
    {"gaussian_mixture", kind("gaussian_mixture"), false, {2.0, 0.0}, 1, 1, true},
    {"poisson_regression", kind("poisson_regression"), true, {0.0, 0.0}, 0, 1, false},
    {"negative_binomial_regression", kind("negative_binomial_regression"), true, {0.7, 0.0}, 0, 1, false},
    {"probit_regression", kind("probit_regression"), true, {0.0, 0.0}, 0, 1, false},
    {"hinge_classifier", kind("hinge_classifier"), true, {0.0, 0.0}, 0, 1, false},
    {"huber_regression", kind("huber_regression"), true, {0.5, 1.345}, 0, 1, false},
    {"softmax_regression", kind("softmax_regression"), true, {3.0, 0.0}, 0, 3, false},
};

// Rows as pydpmc/data/storage.py lays them out; a few records are extreme or not finite.
template <class Scalar>
std::vector<Scalar> table(Mixer& mixer, int n, int columns, int stride, bool has_target) {
  constexpr bool fixed = sizeof(Scalar) == 2;
  std::vector<Scalar> rows(static_cast<size_t>(n) * static_cast<size_t>(stride) + 64);
  for (int i = 0; i < n; ++i) {
    Scalar* row = rows.data() + i * stride;
    for (int j = 0; j < columns; ++j)
      row[j] = static_cast<Scalar>(fixed ? std::floor(16384 * 0.6 * mixer.number()) : mixer.number());
    const double bad[] = {0.0, 1e-30, 1e30, NAN, INFINITY};
    if constexpr (!fixed)
      if (i % 11 == 3)
        row[mixer.below(static_cast<uint32_t>(columns))] = static_cast<Scalar>(bad[mixer.below(5)]);
    const float y = i % 17 == 5 ? NAN : static_cast<float>(mixer.below(2));
    if (has_target && fixed) std::memcpy(row + columns, &y, sizeof y);
    if (has_target && !fixed) row[columns] = static_cast<Scalar>(y);
  }
  return rows;
}

// Gradients at three thetas in one pass.
void chain_kernel(const ModelSpec& model, const Records& records, const GradientGrid& grid, Mixer& mixer,
                  Digest& digest) {
  constexpr size_t chains = 3;
  if (!sums_chains_at_once(model, records)) return;
  const size_t length = chains * static_cast<size_t>(model.dim);
  const auto thetas = mixer.numbers(length);
  std::vector<double> scratch(chains_scratch(model, chains));
  std::vector<int64_t> sums(length);
  kernels().chain_sums(model, records, thetas.data(), chains, scratch.data(), 1, records.n, grid,
                       sums.data());
  digest.add(sums);
  const size_t size = tiles_of_run(model, records);
  std::vector<double> tiles(size);
  Records tiled = records;
  if (size > 0) {
    kernels().write_tiles(model, records, tiles.data());
    tiled.tiles = {tiles.data()};
    digest.add(tiles);
  }
  for (const bool clips : {true, false}) {
    const GradientGrid unclipped{clips ? grid.clip : 8.0, grid.per_unit, clips};
    kernels().chain_sums(model, tiled, thetas.data(), chains, scratch.data(), 0, records.n, unclipped,
                         sums.data());
    digest.add(sums);
  }
}

// The log density without a range, from rows and from tiles, which must agree.
void tiled_density(const ModelSpec& model, const Records& records, const std::vector<double>& theta,
                   double* slopes, Digest& digest) {
  std::vector<double> density(theta.size() + 1), again(density);
  const auto sum = [&](const Records& from, std::vector<double>& to) {
    kernels().log_density(model, from, theta.data(), slopes, 0, from.n, {-HUGE_VAL, HUGE_VAL}, to.data());
    digest.add(to);
  };
  sum(records, density);
  std::vector<double> tiles(tiles_of_run(model, records));
  if (tiles.empty()) return;
  Records tiled = records;
  kernels().write_tiles(model, records, tiles.data());
  tiled.tiles = {tiles.data()};
  sum(tiled, again);
  const bool finite = records.storage == Storage::fixed16;  // rows of other tables hold infinities
  if (finite && std::memcmp(density.data(), again.data(), density.size() * sizeof(double)) != 0)
    std::printf("rows tiles differ\n");  // read as one more instruction set, which fails
}

template <class Scalar>
void records_kernels(const Case& given, Storage storage, int wanted, bool intercept) {
  Mixer mixer;
  Digest digest;
  constexpr int n = 85;
  const int columns = given.one_column ? 1 : wanted, shift = intercept ? 1 : 0;
  const int whole = columns < 4 ? 1 : storage != Storage::float64 && columns >= 16 ? 16 : 4;
  const int used = columns + (given.has_target ? (storage == Storage::fixed16 ? 2 : 1) : 0);
  const int stride = (used + whole - 1) / whole * whole;
  const auto rows = table<Scalar>(mixer, n, columns, stride, given.has_target);
  ModelSpec model{};
  model.kind = given.kind, model.columns = columns, model.intercept = intercept;
  model.constants[0] = given.constants[0], model.constants[1] = given.constants[1];
  model.predictors = given.predictors, model.dim = given.predictors * (columns + shift) + given.extra;
  Records records{};
  records.rows = rows.data(), records.storage = storage, records.n = n, records.columns = columns;
  records.stride = stride, records.has_target = given.has_target;
  const auto dim = static_cast<size_t>(model.dim);
  const auto theta = mixer.numbers(dim), proposal = mixer.numbers(dim);
  std::vector<double> squares(n), now(n), next(n);
  kernels().squared_norms(records, squares.data());
  digest.add(squares);
  records.squares = {squares.data()};
  std::vector<uint32_t> index;
  for (uint32_t i = 0; i < n; ++i)
    if (mixer.below(3)) index.push_back(i);
  const Batch all{nullptr, n}, some{index.data(), static_cast<int64_t>(index.size())};
  const bool moments = model.dim <= 40;
  const size_t released = moments ? dim + dim * (dim + 1) / 2 : dim;
  Workspaces workspaces(1, model, released);
  double* slopes = workspaces.slopes(0);
  const auto sums = [&](const auto& call) {
    workspaces.clear(0, 1);
    call(workspaces.sums(0));
    digest.add(workspaces.sums(0), released);
  };

  kernels().log_likelihoods(model, records, theta.data(), slopes, 0, n, now.data());
  digest.add(now);
  const Grid ratio{1.3, 0x1p30 / 1.3};
  const RatioSum full =
      kernels().full_ratio(model, records, proposal.data(), slopes, 0, n, now.data(), next.data(), ratio);
  const RatioSum batch =
      kernels().batch_ratio(model, records, theta.data(), proposal.data(), slopes, some, ratio);
  digest.add(next), digest.add(&full, 1), digest.add(&batch, 1);
  std::vector<double> density(dim + 1, 0.0);
  kernels().log_density(model, records, theta.data(), slopes, 0, n, {-30.0, 30.0}, density.data());
  digest.add(density);
  tiled_density(model, records, theta, slopes, digest);
  const GradientGrid grid = grid_within(0.7, 1e-9, model.dim);
  for (const Batch& visited : {all, some}) {
    sums([&](int64_t* to) {
      kernels().gradient_sums(model, records, theta.data(), slopes, visited, grid, to);
    });
    if (moments)
      sums([&](int64_t* to) {
        kernels().moment_sums(model, records, theta.data(), slopes, visited, grid, {0.5, 1e8}, to);
      });
    if (!has_narrow_sums(model, records)) continue;
    const GradientGrid narrow = narrow_grid(storage, 0.7, storage == Storage::float32 ? 1e-6 : 1e-7, dim);
    sums([&](int64_t* to) {
      kernels().narrow_sums(model, records, theta.data(), slopes, visited, narrow, to);
    });
  }
  chain_kernel(model, records, grid, mixer, digest);
  if (has_look(model.kind) && given.extra == 0) {
    std::vector<double> weights(n);
    for (double& weight : weights) weight = mixer.unit();
    weights[4] = NAN;
    const size_t width = look_width(curvature_dim(model));
    std::vector<double> scratch(look_scratch(model));
    constexpr int cells = 20;
    const auto terms = mixer.numbers(3 * (cells + 1));  // a table of counts
    LookGrid look{{0.7, 0x1p20}, 0.4, 0x1p20, 1e5, {{3.0, 0.5}, terms.data(), cells, -4.0, 2.5}};
    for (const auto& [weighted, clipped] : {std::pair{false, true}, {true, true}, {false, false}}) {
      if (!clipped) look.gradient.clip = look.curvature_clip = 1e9, look.per_root = 0x1p7;
      std::vector<int64_t> gradient(dim), products(width * width);
      records.weights = {weighted ? weights.data() : nullptr};
      look_kernels().look_sums(model, records, theta.data(), scratch.data(), 0, n, look, gradient.data(),
                               products.data());
      digest.add(gradient);
      for (size_t i = 0; i < width; ++i) digest.add(products.data() + i * width + i, width - i);
    }
    records.weights = {};
  }
  char name[80];
  std::snprintf(name, sizeof name, "%s,%s,%d,%d", given.name,
                storage == Storage::float64   ? "float64"
                : storage == Storage::float32 ? "float32"
                                              : "fixed16",
                columns, shift);
  digest.say(name);
}

// Blocks of one-hot columns as codes: kernels/gradient/coded_gradient.hpp says what a row holds.
void coded_kernels() {
  Mixer mixer;
  Digest digest;
  constexpr int n = 85, numbers = 5, padded = 8, blocks = 4, levels = 9, stride = padded + 3 + 1;
  constexpr int columns = numbers + blocks * levels;
  std::vector<double> dense(n * (columns + 3)), coded(n * stride + 8);
  const std::vector<int32_t> number_columns{0, 1, 2, 3, 4};
  for (int i = 0; i < n; ++i) {
    double* row = coded.data() + i * stride;
    for (int j = 0; j < numbers; ++j) row[j] = mixer.number();
    row[padded] = mixer.below(2), row[padded + 1] = 1.0 + mixer.unit(), row[padded + 2] = 1.0;
    uint16_t codes[blocks];
    for (int b = 0; b < blocks; ++b) {
      const uint32_t level = mixer.below(levels + 1);
      codes[b] =
          static_cast<uint16_t>(level == levels ? columns : numbers + b * levels + static_cast<int>(level));
    }
    std::memcpy(row + padded + 3, codes, sizeof codes);
  }
  ModelSpec model{};
  model.columns = columns, model.intercept = true, model.dim = columns + 1;
  Records records{};
  records.rows = dense.data(), records.storage = Storage::float64, records.n = n, records.columns = columns;
  records.stride = columns + 3, records.has_target = true;
  records.coded = {coded.data(), stride, numbers, blocks, padded, number_columns.data()};
  const auto theta = mixer.numbers(static_cast<size_t>(model.dim));
  for (const ModelKind of :
       {kind("logistic_regression"), kind("poisson_regression"), kind("huber_regression")}) {
    model.kind = of, model.constants[0] = 0.5, model.constants[1] = 1.345;
    Workspaces workspaces(1, model);
    kernels().gradient_sums(model, records, theta.data(), workspaces.slopes(0), {nullptr, n},
                            grid_within(0.7, 1e-9, model.dim), workspaces.sums(0));
    digest.add(workspaces.sums(0), static_cast<size_t>(model.dim));
    chain_kernel(model, records, grid_within(0.7, 1e-9, model.dim), mixer, digest);
  }
  digest.say("coded");
}

void stop_machine() {
  tcdrain(STDOUT_FILENO);
  sleep(1);
#if defined(__x86_64__)
  if (ioperm(0x8900, 1, 1) != 0) return;
  for (const char* c = "Shutdown"; *c; ++c) outb(static_cast<unsigned char>(*c), 0x8900);
#endif
}

}  // namespace

int main() {
  for (const std::string& isa : available_isas()) {
    use_isa(isa);
    random_kernels();
    coded_kernels();
    for (const Case& given : cases)
      for (const int columns : {3, 8, 17, 109, 1030})
        for (const bool intercept : {false, true}) {
          if ((intercept && !given.has_target) || (given.one_column && columns > 3)) continue;
          records_kernels<double>(given, Storage::float64, columns, intercept);
          records_kernels<float>(given, Storage::float32, columns, intercept);
          if (given.has_target) records_kernels<int16_t>(given, Storage::fixed16, columns, intercept);
        }
  }
  std::printf("end\n");
  std::fflush(stdout);
  if (getpid() != 1) return 0;
  stop_machine();
  for (;;) pause();
}

#include "run/newton.hpp"

#include <algorithm>
#include <utility>

#include "kernels/gradient/chains.hpp"
#include "kernels/own/user_model.hpp"
#include "query/gradient_query.hpp"
#include "threads/chains.hpp"

namespace pydpmc {

namespace {

// The sums of each thread: 64 bits wide for one block of records, 128 bits for all blocks.
struct LookSums {
  std::vector<double> scratch;
  std::vector<int64_t> sums, products;
  std::vector<Int128> all_sums, all_products;

  LookSums(const ModelSpec& model, const ModelSpec& summed)
      : scratch(look_scratch(model) + (model.own ? model.own->workspace : 0)),
        sums(static_cast<size_t>(summed.dim)),
        products(look_width(curvature_dim(summed)) * look_width(curvature_dim(summed))),
        all_sums(sums.size()),
        all_products(products.size()) {}

  void move_on() noexcept {
    add(sums, all_sums);
    add(products, all_products);
    std::fill(sums.begin(), sums.end(), 0);
    std::fill(products.begin(), products.end(), 0);
  }

  template <class From>
  static void add(const std::vector<From>& from, std::vector<Int128>& to) noexcept {
    for (size_t j = 0; j < to.size(); ++j) to[j] += from[j];
  }
};

}  // namespace

NewtonRun::NewtonRun(const Records& records, const ModelSpec& model, Key key, bool key_is_secret)
    : records_(records),
      model_(model),
      key_(key),
      key_is_secret_(key_is_secret),
      generation_(fork_generation()) {
  if (model_.own) return;
  if (!records_.squares) {
    squares_ = squares_of(records);
    records_.squares = {squares_.data()};
  }
  write_tiles();
}

void NewtonRun::write_tiles() {
  Records alone = records_;
  alone.weights = {};  // a tile has none
  const size_t size = model_.columns <= longest_look_tile ? tiles_of_run(model_, alone) : 0;
  if (size == 0) return;
  tiles_.resize(size + cache_line / sizeof(double));
  double* const first = at_cache_line(tiles_.data());
  kernels_of(model_).write_tiles(model_, alone, first);
  records_.tiles = {first};
}

std::vector<Int128> NewtonRun::sums(const LookSpec& spec, const std::vector<double>& theta, int threads,
                                    int64_t block) {
  threads = std::clamp(threads, 1, most_threads);
  const LookPlan plan(spec, model_);
  const LookGrid grid = plan.grid();
  std::vector<LookSums> sums(static_cast<size_t>(threads), LookSums(model_, summed_by(spec, model_)));
  const LookKernels& kernel = model_.own ? user_look_kernels() : look_kernels();
  for_each_chain(1, records_.n, block, threads, true, stop_, [&](uint32_t, Team& team, int first_thread) {
    team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
      LookSums& own = sums[static_cast<size_t>(first_thread + thread)];
      kernel.look_sums(model_, records_, theta.data(), own.scratch.data(), begin, end, grid, own.sums.data(),
                       own.products.data());
      own.move_on();
      return RatioSum{};
    });
  });
  for (size_t k = 1; k < sums.size(); ++k) {
    LookSums::add(sums[k].all_sums, sums[0].all_sums);
    LookSums::add(sums[k].all_products, sums[0].all_products);
  }
  std::vector<Int128> all = std::move(sums[0].all_sums);
  all.insert(all.end(), sums[0].all_products.begin(), sums[0].all_products.end());
  return all;
}

std::vector<Int128> NewtonRun::bare(const LookSpec& spec, const std::vector<double>& theta, int threads,
                                    int64_t block) {
  return onto_grid(spec, sums(spec, theta, threads, block));
}

std::vector<Int128> NewtonRun::onto_grid(const LookSpec& spec, const std::vector<Int128>& sums) const {
  const LookPlan plan(spec, model_);
  std::vector<Int128> out(plan.released());
  plan.onto_grid(sums.data(), sums.data() + summed_by(spec, model_).dim, out.data());
  return out;
}

std::vector<double> NewtonRun::look(const LookSpec& spec, const std::vector<double>& theta, int threads,
                                    int64_t block) {
  const std::vector<Int128> found = sums(spec, theta, threads, block);
  return absorb(spec, found);
}

std::vector<double> NewtonRun::absorb(const LookSpec& spec, const std::vector<Int128>& sums) {
  rekey_after_fork(key_, key_is_secret_, generation_);
  Stream stream(key_, Purpose::look, 0, static_cast<uint64_t>(taken_++));
  if (stop_.requested()) return {};  // the sums do not cover all records
  std::vector<Int128> noised = onto_grid(spec, sums);
  std::vector<int64_t> noise(noised.size());
  fill_rounded_normal(stream, noise.data(), noise.size());
  for (size_t j = 0; j < noised.size(); ++j) noised[j] += noise[j];
  std::vector<double> out(noised.size());
  // floor() lowers the noise by half a grid step on average.
  LookPlan(spec, model_).in_units(noised.data(), 0.5, out.data());
  return out;
}

}  // namespace pydpmc

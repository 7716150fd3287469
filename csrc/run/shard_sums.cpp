#include "run/shard_sums.hpp"

#include <algorithm>

#include "isa/dispatch.hpp"
#include "threads/chains.hpp"
#include "threads/workspaces.hpp"

namespace pydpmc {

namespace {

constexpr int64_t block = 4096;
const Stop never;

}  // namespace

void ShardSums::gradient(const double* thetas, int64_t count, const GradientGrid& grid, int threads,
                         int64_t* out) const {
  const KernelTable& kernel = kernels_of(target_.model);
  const size_t dim = static_cast<size_t>(target_.model.dim);
  Workspaces workspaces(threads, target_.model);
  for_each_chain(count, target_.records.units(), block, threads, true, never,
                 [&](uint32_t id, Team& team, int first_thread) {
                   workspaces.clear(first_thread, team.threads());
                   team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
                     const int worker = first_thread + thread;
                     kernel.gradient_sums(target_.model, target_.records, thetas + id * dim,
                                          workspaces.slopes(worker), {nullptr, end - begin, begin}, grid,
                                          workspaces.sums(worker));
                     return RatioSum{};
                   });
                   workspaces.gather(first_thread, team.threads());
                   std::copy_n(workspaces.sums(first_thread), dim, out + id * dim);
                 });
}

void ShardSums::start_queries(const QuerySpec& spec, int chains) {
  full_ = spec.sampling == Sampling::full;
  released_ = spec.moments.coordinates(target_.model.dim);
  queries_.clear();
  for (int c = 0; c < chains; ++c)
    queries_.push_back(std::make_unique<GradientQuery>(spec, target_.model, target_.records));
}

void ShardSums::query(const double* thetas, uint64_t step, double sd, const Key& key, int threads,
                      int64_t* out) {
  Workspaces workspaces(threads, target_.model, released_);
  const size_t dim = static_cast<size_t>(target_.model.dim);
  for_each_chain(chains(), target_.records.units(), block, threads, full_, never,
                 [&](uint32_t id, Team& team, int first_thread) {
                   queries_[id]->start(key, id, step);
                   queries_[id]->sum(key, id, step, thetas + id * dim, sd, team, first_thread, workspaces);
                   std::copy_n(workspaces.sums(first_thread), released_, out + id * released_);
                 });
}

void ShardSums::ratio(const double* states, int64_t count, const Grid& grid, int threads,
                      RatioSum* out) const {
  const size_t dim = static_cast<size_t>(target_.model.dim), stride = slopes_size(target_.model);
  std::vector<double> slopes(static_cast<size_t>(threads) * stride);
  BlockLogliks logliks(target_.records, block, threads);
  for_each_chain(count, target_.records.units(), block, threads, true, never,
                 [&](uint32_t id, Team& team, int first_thread) {
                   const double* theta = states + 2 * id * dim;
                   out[id] = team.sum([&](int thread, int64_t begin, int64_t end) noexcept {
                     const int worker = first_thread + thread;
                     return block_ratio(target_.model, target_.records, theta, theta + dim,
                                        slopes.data() + static_cast<size_t>(worker) * stride, begin, end,
                                        grid, logliks.of(worker));
                   });
                 });
}

void ShardSums::density(const double* thetas, int64_t count, const LoglikRange& range, int threads,
                        int64_t* out) const {
  const size_t dim = static_cast<size_t>(target_.model.dim);
  const LogDensity density(target_, {1.0, 1.0, range});
  std::vector<DensityWorkspace> workspaces(static_cast<size_t>(threads), DensityWorkspace(target_.model));
  for_each_chain(count, target_.records.n, density_block, threads, true, never,
                 [&](uint32_t id, Team& team, int first_thread) {
                   const std::vector<int64_t>& found =
                       density.sums(thetas + id * dim, team, workspaces.data() + first_thread).digits();
                   std::copy(found.begin(), found.end(), out + id * found.size());
                 });
}

}  // namespace pydpmc

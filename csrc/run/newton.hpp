// Consecutive looks at the records, at points that the caller chooses from what earlier looks
// released.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "concepts.hpp"
#include "query/newton_query.hpp"
#include "random/key.hpp"
#include "threads/stop.hpp"

namespace pydpmc {

class NewtonRun {
 public:
  NewtonRun(const Records& records, const ModelSpec& model, Key key, bool key_is_secret);
  ~NewtonRun() { wipe(key_); }
  NewtonRun(const NewtonRun&) = delete;
  NewtonRun& operator=(const NewtonRun&) = delete;

  // The noised gradient and curvature at theta, or nothing after a stop was requested. Each look has its own
  // random stream.
  std::vector<double> look(const LookSpec& spec, const std::vector<double>& theta, int threads,
                           int64_t block);

  // The two halves of a look: exact sums over these records, before they are brought onto the noise's grid,
  // and the noised look made of the sums over all records.
  std::vector<Int128> sums(const LookSpec& spec, const std::vector<double>& theta, int threads,
                           int64_t block);
  std::vector<double> absorb(const LookSpec& spec, const std::vector<Int128>& sums);

  // The same without noise, as integers on the noise's grid: for tests and audits, not private.
  std::vector<Int128> bare(const LookSpec& spec, const std::vector<double>& theta, int threads,
                           int64_t block);

  int64_t taken() const { return taken_; }
  void stop() noexcept { stop_.request(); }
  const ModelSpec& model() const { return model_; }

 private:
  void write_tiles();
  std::vector<Int128> onto_grid(const LookSpec& spec, const std::vector<Int128>& sums) const;

  Records records_;
  ModelSpec model_;
  std::vector<double> squares_, tiles_;
  Key key_;
  bool key_is_secret_;
  uint64_t generation_;
  std::atomic<int64_t> taken_ = 0;  // read by other threads; and no two looks have the same stream
  Stop stop_;
};

}  // namespace pydpmc

// The two halves of a step of all chains, for records that are elsewhere. Randomness is that of the local
// path: streams belong to (key, purpose, chain, step), and none of them is drawn from before all sums are in.
#include <stdexcept>

#include "random/cell_key.hpp"
#include "run/barker.hpp"
#include "run/gradients.hpp"
#include "run/langevin.hpp"
#include "run/nuts.hpp"
#include "threads/chains.hpp"

namespace pydpmc {

namespace {

void append(std::vector<double>& all, const std::vector<double>& part) {
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

std::vector<double> GradientRun::wanted() const {
  std::vector<double> thetas;
  for (const GradientChain& chain : chains_) append(thetas, chain.theta);
  return thetas;
}

void GradientRun::absorb(const int64_t* sums) {
  // Both processes would go on with the same samples, which their prices take to be independent.
  if (has_sampling_ && key_is_secret_ && generation_ != fork_generation())
    throw std::runtime_error("a run in cells cannot go on in a forked process");
  rekey_after_fork(key_, key_is_secret_, generation_);
  for (size_t c = 0; c < chains_.size(); ++c) {
    StreamUse use;
    absorb(chains_[c], static_cast<uint32_t>(c), done_, sums + c * released_, use);
    draws_.record(chains_[c].theta, static_cast<uint32_t>(c), done_ + 1);
  }
  ++done_;
  for (size_t c = 0; c < chains_.size(); ++c) finish(static_cast<uint32_t>(c), done_);
}

std::vector<Key> GradientRun::cell_keys(int cells) {
  if (!has_sampling_) {
    sampling_ = key_is_secret_ ? key_from_os() : key_;
    has_sampling_ = true;
  }
  std::vector<Key> keys;
  for (int cell = 0; cell < cells; ++cell)
    keys.push_back(cell_key(sampling_, static_cast<uint32_t>(cell), static_cast<uint32_t>(cells)));
  return keys;
}

std::vector<double> LangevinRun::wanted() {
  const size_t dim = static_cast<size_t>(target_.model.dim);
  std::vector<double> thetas(chains_.size() * dim);
  for (size_t c = 0; c < chains_.size(); ++c) place(chains_[c], thetas.data() + c * dim);
  return thetas;
}

void LangevinRun::absorb(const int64_t* sums) {
  rekey_after_fork(key_, key_is_secret_, generation_);
  const size_t dim = static_cast<size_t>(target_.model.dim);
  std::vector<int64_t> noise(dim);
  for (size_t c = 0; c < chains_.size(); ++c) absorb(c, done_, sums + c * dim, noise);
  if (++done_ == steps_) release();
}

std::vector<double> BarkerRun::wanted() {
  std::vector<double> states;
  for (size_t c = 0; c < chains_.size(); ++c) {
    propose_move(chains_[c], static_cast<uint32_t>(c), static_cast<uint64_t>(done_));
    append(states, chains_[c].theta);
    append(states, chains_[c].proposal);
  }
  return states;
}

void BarkerRun::absorb(const RatioSum* ratios) {
  for (size_t c = 0; c < chains_.size(); ++c) {
    absorb(chains_[c], static_cast<uint32_t>(c), static_cast<uint64_t>(done_), ratios[c]);
    draws_.record(chains_[c].theta, static_cast<uint32_t>(c), done_ + 1);
  }
  ++done_;
}

void NutsRun::start_steps() {
  before_.clear();
  for (const auto& chain : chains_) before_.push_back(chain->statistics);
  rekey_after_fork(key_, key_is_secret_, generation_);
}

void NutsRun::finish_steps(int64_t steps) {
  if (stop_.requested()) {
    for (size_t c = 0; c < chains_.size(); ++c) chains_[c]->statistics = before_[c];
    return;
  }
  for (const auto& chain : chains_)
    if (chain->lost) throw std::domain_error("no start of finite density was found; give another init");
  done_ += steps;
}

}  // namespace pydpmc

// Saves the state of a run for a checkpoint and restores it: functions of released quantities alone.
#include <stdexcept>
#include <variant>
#include <vector>

#include "run/barker.hpp"
#include "run/gradients.hpp"
#include "samplers/state.hpp"

namespace pydpmc {

std::vector<double> BarkerRun::state() const {
  std::vector<double> all;
  for (const Chain& chain : chains_) {
    all.insert(all.end(), chain.theta.begin(), chain.theta.end());
    all.push_back(static_cast<double>(chain.accepted));
  }
  return all;
}

void BarkerRun::restore(const std::vector<double>& saved, int64_t steps_done) {
  if (saved.size() != state().size()) throw std::invalid_argument("the state is that of another run");
  if (steps_done < 0) throw std::invalid_argument("steps_done must not be negative");
  const double* next = saved.data();
  for (Chain& chain : chains_) {
    for (double& value : chain.theta) value = *next++;
    chain.accepted = static_cast<int64_t>(*next++);
    chain.log_prior = log_prior(target_.prior, chain.theta.data());
  }
  done_ = steps_done;
  logliks_known_ = false;
}

std::vector<double> GradientRun::state() {
  std::vector<double> all;
  const AppendState append{all};
  for (GradientChain& chain : chains_) {
    append(chain.theta);
    std::visit([&](auto& sampler) { for_each_state(sampler, append); }, chain.sampler);
  }
  return all;
}

void GradientRun::restore(const std::vector<double>& saved, int64_t steps_done) {
  if (saved.size() != state().size()) throw std::invalid_argument("the state is that of another run");
  if (steps_done < 0 || steps_done > static_cast<int64_t>(schedule_.step_size.size()))
    throw std::invalid_argument("steps_done must be 0 to the number of steps");
  const double* next = saved.data();
  const TakeState take{next};
  for (GradientChain& chain : chains_) {
    take(chain.theta);
    std::visit([&](auto& sampler) { for_each_state(sampler, take); }, chain.sampler);
  }
  done_ = steps_done;
}

}  // namespace pydpmc

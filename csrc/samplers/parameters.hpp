// The public numbers of a sampler, a list for each name, as pydpmc's settings give them.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace pydpmc {

class Parameters {
 public:
  explicit Parameters(std::map<std::string, std::vector<double>> lists) : lists_(std::move(lists)) {}

  const std::vector<double>& list(const std::string& name) const {
    const auto found = lists_.find(name);
    if (found == lists_.end()) throw std::invalid_argument("the sampler needs " + name);
    return found->second;
  }

  double one(const std::string& name) const {
    const std::vector<double>& found = list(name);
    if (found.size() != 1) throw std::invalid_argument(name + " must be one number");
    return found.front();
  }

 private:
  std::map<std::string, std::vector<double>> lists_;
};

}  // namespace pydpmc

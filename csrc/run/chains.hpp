// What every run gets besides its target: the key, the starts, and an array for the draws.
#pragma once

#include "models/target.hpp"
#include "random/key.hpp"

namespace pydpmc {

struct Chains {
  Key key;
  bool key_is_secret;  // from the operating system; a forked child must take another
  int count;
  const double* init;  // [chain][dim]
  Draws draws;

  Chains(const Key& k, bool secret, int n, const double* starts, const Draws& out)
      : key(k), key_is_secret(secret), count(n), init(starts), draws(out) {}
  ~Chains() { wipe(key); }
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;
};

}  // namespace pydpmc

// Repeats what a machine without processor time to spare did not let end, as the core repeats
// evaluations.
#pragma once

#include <kernelrl/values.hpp>

namespace krl::test {

template <class Call>
auto until_available(const Call& call) {
  constexpr int kMostTries = 20;
  for (int tries = 1;; ++tries) {
    try {
      return call();
    } catch (const Failure& failure) {
      if (failure.code() != KRL_UNAVAILABLE || tries == kMostTries) throw;
    }
  }
}

}  // namespace krl::test

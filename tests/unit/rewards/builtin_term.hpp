// The built-in reward terms, as a test loads them from the build tree.
#pragma once

#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>

#include <string>
#include <utility>

namespace krl {

inline const char* const kBuiltinTerms[] = {
    "bandwidth", "coalescing",        "compile",       "correctness", "format",  "occupancy",
    "overlong",  "register_pressure", "improvement",   "roofline",    "speedup", "thinking",
    "timeout",   "warnings",          "shared_memory", "warp_shuffle"};

inline testing::Plugin builtin_plugin(const std::string& id) {
  return testing::Plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + id + ".krl.so");
}

inline testing::RewardInstance builtin_term(const std::string& id, testing::Table options = {}) {
  return builtin_plugin(id).reward(id, std::move(options));
}

// A turn whose kernel is right.
inline testing::TurnBuilder faster(double speedup) {
  return testing::TurnBuilder().passed().speedup(speedup);
}

}  // namespace krl

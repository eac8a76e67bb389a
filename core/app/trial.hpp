// What happens when a component is started. It is started in a process of its
// own, so that one that hangs or dies harms nobody. Main thread, before any other thread runs.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/plugin/registry.hpp"

namespace krl {

struct Trial {
  enum Outcome {
    kWorks,         // `text`: what it says of itself, "NVRTC 13.0, NVIDIA H200"
    kNeedsOptions,  // `text`: which
    kFails,         // `text`: why, and what to do
  } outcome = kFails;
  std::string text;
};

// REQUIRES: a backend or a policy. `options`: "execute=off", where it is not to have its defaults.
// Takes at most `limit`, and a moment to clean up.
Trial try_component(const Component& component, const Registry& registry,
                    const std::vector<std::string>& options, std::chrono::seconds limit);

}  // namespace krl

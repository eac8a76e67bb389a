// The trial of a component: it is started in a process of its own, so that one that hangs or dies
// affects nothing else. Main thread, before any other thread runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/plugin/library.hpp"
#include "core/plugin/registry.hpp"
#include "service/doctor/policy_probe.hpp"

namespace krl::service {
using namespace core;

struct Trial {
  enum Outcome {
    kWorks,         // `text`: its kind or results, "NVRTC 13.0, NVIDIA H200"
    kNeedsOptions,  // `text`: which
    kFails,         // `text`: why, and what to do
  } outcome = kFails;
  std::string text;
  Findings findings;  // from a policy that was asked questions, or a backend that judged a task
};

// How a component is tried.
struct TrialSettings {
  std::vector<std::string> options;  // "execute=off", where it is not to have its defaults
  std::chrono::seconds limit{60};
  std::uint32_t answers = 0;  // answers that a policy is asked for at once
  // A Hugging Face directory; a policy's log-probabilities are compared with those that libtorch
  // computes with its weights. Empty: they are not.
  std::string model;
  ChildOutput output = ChildOutput::kDropped;  // the fate of the component's own messages
};

// Tries a component. If the result is that it works, it has worked: a backend has judged a task, a
// dataset was read. Takes at most the limit, and a moment to clean up.
Trial try_component(const Component& component, const Registry& registry,
                    const TrialSettings& settings);

}  // namespace krl::service

// The first time that a stranger's file is loaded: in a process of its own, which alone is lost if
// the file crashes, exits or never returns. What the file does to the world it does twice.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/result.hpp"

namespace krl {

inline constexpr std::chrono::seconds kRehearsalLimit{10};

// Runs `load` in a child, whose output goes nowhere, and ends whatever it leaves behind. An error
// says how the child ended before `load` had returned: "crashed (SIGSEGV) while it was loaded".
// Main thread, before any other thread runs.
Status rehearse(const std::function<void()>& load,
                std::chrono::milliseconds limit = kRehearsalLimit);

}  // namespace krl

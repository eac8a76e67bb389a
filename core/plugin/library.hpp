// A plugin's file: its properties, found out without running any of its code, and its entry point.
// Main thread only.
#pragma once

#include <kernelrl/abi.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.hpp"

namespace krl::core {

// Checks that it is a shared library with the entry point of this version of the boundary, without
// loading anything of it.
Status check_library(const std::filesystem::path& file);

// Loads it for as long as the process lives: its constructors run.
Result<krl_plugin_entry> open_library(const std::filesystem::path& file);

// How work in a child process ended. If the work crashes, exits or never returns, only the child is
// lost.
struct ChildEnd {
  std::optional<std::string> report;  // result of the work; nothing if it did not return
  bool in_time = true;                // false: it was ended at the limit
  int status = 0;  // status of the process, as from waitpid(); 0 if it cannot even be killed
};

enum class ChildOutput { kDropped, kShown };

// Runs `work` in a child, and ends any processes it leaves behind. The text that `work` returns
// contains no NUL. kUnavailable if no process can be made. Main thread, before any other thread
// runs.
Result<ChildEnd> run_in_child(const std::function<std::string()>& work,
                              std::chrono::milliseconds limit,
                              ChildOutput output = ChildOutput::kDropped);

inline constexpr std::chrono::seconds kRehearsalLimit{10};

// Loads a stranger's file for the first time, in a child. The file's effects on the world happen
// twice. An error tells how the child ended before `load` had returned: "crashed (SIGSEGV) while it
// was loaded".
Status rehearse(const std::function<void()>& load,
                std::chrono::milliseconds limit = kRehearsalLimit);

}  // namespace krl::core

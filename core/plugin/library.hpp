// A plugin's file: what it is, found out without running any of its code, and its entry point.
// Main thread only.
#pragma once

#include <kernelrl/abi.h>

#include <filesystem>

#include "core/base/result.hpp"

namespace krl {

// That it is a shared library with the entry point of this version of the boundary. Nothing of it
// is loaded.
Status check_library(const std::filesystem::path& file);

// Loads it for as long as the process lives: its constructors run.
Result<krl_plugin_entry> open_library(const std::filesystem::path& file);

}  // namespace krl

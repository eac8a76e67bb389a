// The user's own folder of plugins, which every command searches. Main thread.
#pragma once

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"

namespace krl::service {
using namespace core;

// Copies a plugin, or all *.krl.so of a folder, into the user's folder, and returns the copies. One
// of the same name is replaced as a whole. An error: no plugin is there, kernelrl
// would refuse one (then nothing is copied), or a copy fails.
Result<std::vector<std::filesystem::path>> install_plugins(const std::filesystem::path& from);

}  // namespace krl::service

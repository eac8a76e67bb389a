// Where kernelrl itself is installed: plugins, workers, templates and plans lie at fixed places
// under one prefix, in the build tree as after an installation.
#pragma once

#include <filesystem>

namespace krl {

// The folder above the running program's bin/; empty if it cannot be known.
std::filesystem::path installation_prefix();

// share/kernelrl under the prefix.
std::filesystem::path shared_files();

}  // namespace krl

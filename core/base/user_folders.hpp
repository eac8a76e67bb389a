// The folders of the user's home in which programs keep files (the XDG base directories).
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace krl::core {

enum class UserFolder { kData, kState };

// Returns kernelrl/ in $XDG_DATA_HOME or $XDG_STATE_HOME, or else in ~/.local/share or ~/.local/state,
// whether it is there or not.
Result<std::filesystem::path> users_folder(UserFolder folder);

}  // namespace krl::core

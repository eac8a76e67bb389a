// What a user reads when the disk is full.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.hpp"

namespace krl {

// Passes `status` on; if it says that the disk is full, adds how much is needed (0: unknown) and
// what is free at `path`, and that nothing is lost: "cannot write …: no space left on device (needs
// about 12 MB, 1 MB free); make room and go on with --resume".
Status explain_full_disk(Status status, const std::filesystem::path& path,
                         std::uintmax_t needed_bytes = 0);

}  // namespace krl

// What a user reads when the disk is full.
#pragma once

#include <cstdint>
#include <filesystem>

#include "core/base/result.hpp"

namespace krl {

// Passes `status` on; if it says that the disk is full, adds how much is needed (0: unknown) and
// what is free at `path`, and that nothing is lost: "cannot write …: no space left on device (needs
// about 12 MB, 1 MB free); nothing written so far is lost: make room and go on with --resume".
Status explain_full_disk(Status status, const std::filesystem::path& path,
                         std::uintmax_t needed_bytes = 0);

// The same of something that gives a value.
template <class T>
Result<T> explain_full_disk(Result<T> result, const std::filesystem::path& path) {
  if (result) return result;
  return failure(explain_full_disk(Status(failure(std::move(result).error())), path).error());
}

}  // namespace krl

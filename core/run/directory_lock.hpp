// Who uses a run directory: an advisory lock on its `lock` file, which also holds the owner's
// process id. The kernel drops the lock when the process ends, however it ends, so nothing is ever
// left to clean up.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "core/base/result.hpp"

namespace krl {

class DirectoryLock {
 public:
  // Takes the lock for as long as the object lives, or fails with kFailedPrecondition:
  // "runs/x is in use by process 1234". Works between processes and within one.
  static Result<DirectoryLock> acquire(const std::filesystem::path& lock_file);

  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_ = -1;
};

// The process that holds the lock now, if any; asking does not disturb it. 0 if it is held by one
// that cannot be named (in the instant before it writes its id).
std::optional<pid_t> lock_owner(const std::filesystem::path& lock_file);

}  // namespace krl

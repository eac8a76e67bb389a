// status.json: the heartbeat of a run. Plain data.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl {

struct RunStatus {
  std::string state = "running";  // running | finished | failed | interrupted
  std::string stage;
  int iteration = 0;    // finished ones, over all stages
  std::string message;  // why it failed, or empty
  pid_t process = 0;
  double started = 0;  // Unix seconds: this process's start
  double updated = 0;  // Unix seconds: this heartbeat
};

Status write_status(FileSystem& files, const std::filesystem::path& path, const RunStatus& status);
Result<RunStatus> read_status(const std::filesystem::path& path);

}  // namespace krl

// The directory of a run, runs/NAME: who may use it, and the files that describe the run as a
// whole. One owner at a time, held by a lock for as long as the object lives. `beat` may be called
// from any thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::core {

// The places of a run's files under its directory. A value; touches no file.
struct RunLayout {
  std::filesystem::path root;  // runs/NAME

  std::filesystem::path plan() const { return root / "plan.toml"; }
  std::filesystem::path record() const { return root / "run.json"; }
  std::filesystem::path status() const { return root / "status.json"; }
  std::filesystem::path lock() const { return root / "lock"; }
  std::filesystem::path log() const { return root / "logs.log"; }
  std::filesystem::path output() const { return root / "output.log"; }
  std::filesystem::path metrics() const { return root / "metrics.jsonl"; }
  std::filesystem::path tensorboard() const { return root / "tensorboard"; }
  std::filesystem::path ledger() const { return root / "ledger"; }
  std::filesystem::path samples() const { return root / "samples"; }
  std::filesystem::path checkpoints() const { return root / "checkpoints"; }
  std::filesystem::path weights() const { return root / "weights"; }
  std::filesystem::path best() const { return root / "best"; }
};

// The owner of a run directory: an advisory lock on its `lock` file, which also holds the owner's
// process id. The kernel drops the lock when the process ends, however it ends, so nothing is ever
// left to clean up.
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

// status.json: the heartbeat of a run. Plain data.
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

enum class OpenMode {
  // A directory with a run that has finished work is refused; the files of one that has none are
  // removed.
  kNew,
  kResume,  // continues the run it contains, or begins one if it contains none
};

class RunDirectory {
 public:
  static Result<RunDirectory> open(const std::filesystem::path& root, OpenMode mode,
                                   FileSystem& files = real_file_system());

  const RunLayout& layout() const { return layout_; }
  FileSystem& files() const { return *files_; }

  // True if there was a run here before: its plan.toml is that run's.
  bool resumed() const { return resumed_; }

  // True if a run without finished work made room for a new one.
  bool replaced() const { return replaced_; }

  // True if the run has anything to continue from or to keep: an iteration or a checkpoint.
  bool holds_work() const;

  Result<std::string> read_plan() const;

  // Turns the directory into a run. Files of an earlier process that did not come this far do not
  // count.
  Status write_plan(std::string_view resolved_plan);

  // Writes status.json; fills in process and times.
  Status beat(RunStatus status);

 private:
  RunDirectory(RunLayout layout, FileSystem& files, DirectoryLock lock, OpenMode mode,
               bool held_run);

  RunLayout layout_;
  FileSystem* files_;
  DirectoryLock lock_;
  bool resumed_, replaced_;
  double started_;
};

}  // namespace krl::core

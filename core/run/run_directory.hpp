// The directory of a run, runs/NAME: who may use it, and the files that describe the run as a
// whole. One owner at a time, held by a lock for as long as the object lives. `beat` may be called
// from any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/run/directory_lock.hpp"
#include "core/run/layout.hpp"
#include "core/run/status.hpp"

namespace krl {

enum class OpenMode {
  kNew,     // a directory that holds a run with finished work is refused; what a run left that has
            // none is removed
  kResume,  // goes on with the run it holds, or begins one if it holds none
};

class RunDirectory {
 public:
  static Result<RunDirectory> open(const std::filesystem::path& root, OpenMode mode,
                                   FileSystem& files = real_file_system());

  const RunLayout& layout() const { return layout_; }
  FileSystem& files() const { return *files_; }

  // Whether a run was here before: its plan.toml is that run's.
  bool resumed() const { return resumed_; }

  // Whether a run without finished work made room for a new one.
  bool replaced() const { return replaced_; }

  // Whether the run has anything to go on with or to keep: an iteration or a checkpoint.
  bool holds_work() const;

  Result<std::string> read_plan() const;

  // From here on the directory holds a run. What an earlier process left without having come this
  // far does not count.
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

}  // namespace krl

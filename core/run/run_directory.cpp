#include "core/run/run_directory.hpp"

#include <unistd.h>

#include <system_error>

#include "core/base/clock.hpp"
#include "core/run/full_disk.hpp"

namespace krl {

namespace fs = std::filesystem;

namespace {

// A run begins to exist with its plan, which is written first.
bool holds_run(const RunLayout& layout) {
  std::error_code ignored;
  return fs::exists(layout.plan(), ignored);
}

// Folders of ours, or empty ones; never one in which a user keeps other things.
Status check_only_ours(const RunLayout& layout) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(layout.root, error)) {
    const fs::path name = entry.path().filename();
    if (name != "lock" && name != "plan.toml.new")
      return failure(Code::kFailedPrecondition,
                     layout.root.string() + " is not empty and holds no run ('" + name.string() +
                         "' is in it); choose another run.name, or move it away");
  }
  if (error) return failure(file_error("read", layout.root, error.value()));
  return {};
}

Status check_mode(const RunLayout& layout, OpenMode mode) {
  const bool held = holds_run(layout);
  if (!held) return check_only_ours(layout);
  if (mode == OpenMode::kResume) return {};
  const std::string root = layout.root.string();
  return failure(
      Code::kFailedPrecondition,
      root +
          " already holds a run; go on with it (--resume), give this one another name (--set "
          "run.name=…), or remove it (rm -r " +
          root + ")");
}

}  // namespace

RunDirectory::RunDirectory(RunLayout layout, FileSystem& files, DirectoryLock lock, bool resumed)
    : layout_(std::move(layout)),
      files_(&files),
      lock_(std::move(lock)),
      resumed_(resumed),
      started_(unix_seconds()) {}

Result<RunDirectory> RunDirectory::open(const fs::path& root, OpenMode mode, FileSystem& files) {
  RunLayout layout{root};
  KRL_TRY(explain_full_disk(make_directories(files, root), root));
  KRL_ASSIGN(DirectoryLock lock, DirectoryLock::acquire(layout.lock()));
  KRL_TRY(check_mode(layout, mode));
  const bool resumed = holds_run(layout);
  return RunDirectory(std::move(layout), files, std::move(lock), resumed);
}

Result<std::string> RunDirectory::read_plan() const { return read_file(layout_.plan()); }

Status RunDirectory::write_plan(std::string_view resolved_plan) {
  return explain_full_disk(write_atomically(*files_, layout_.plan(), resolved_plan), layout_.root);
}

Status RunDirectory::beat(RunStatus status) {
  status.process = ::getpid();
  status.started = started_;
  status.updated = unix_seconds();
  return explain_full_disk(write_status(*files_, layout_.status(), status), layout_.root);
}

}  // namespace krl

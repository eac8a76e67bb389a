#include "core/run/run_directory.hpp"

#include <unistd.h>

#include <system_error>

#include "core/base/clock.hpp"
#include "core/run/full_disk.hpp"

namespace krl {

namespace fs = std::filesystem;

namespace {

// A run begins to exist with its plan. A process that died before it wrote one leaves nothing worth
// keeping.
bool holds_run(const RunLayout& layout) {
  std::error_code ignored;
  return fs::exists(layout.plan(), ignored);
}

// A folder is ours if it is empty or has our lock in it; never one in which a user keeps other
// things.
Status check_ours(const RunLayout& layout) {
  std::error_code error;
  if (fs::exists(layout.lock(), error) || fs::is_empty(layout.root, error)) return {};
  if (error) return failure(file_error("read", layout.root, error.value()));
  return failure(Code::kFailedPrecondition,
                 layout.root.string() +
                     " is not empty and holds no run; choose another run.name, or move it away");
}

Status check_mode(const RunLayout& layout, OpenMode mode) {
  if (mode == OpenMode::kResume || !holds_run(layout)) return {};
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
  KRL_TRY(check_ours(layout));
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

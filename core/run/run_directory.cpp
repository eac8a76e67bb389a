#include "core/run/run_directory.hpp"

#include <unistd.h>

#include <fstream>
#include <string>
#include <system_error>

#include "core/base/clock.hpp"
#include "core/run/full_disk.hpp"
#include "core/run/resume_command.hpp"

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

bool holds_finished_work(const RunLayout& layout) {
  std::ifstream metrics(layout.metrics());
  std::string line;
  const bool whole_line = std::getline(metrics, line) && !metrics.eof();
  std::error_code ignored;
  return whole_line || fs::exists(layout.checkpoints() / "checkpoints.jsonl", ignored);
}

Error already_there(const RunLayout& layout) {
  return {Code::kFailedPrecondition,
          layout.root.string() +
              " already holds a run; go on with it (--resume), give this one "
              "another name (--set run.name=…), or remove it (rm -r " +
              shell_word(layout.root.string()) + ")"};
}

// Makes room for a new run where one ended before it finished anything. The plan goes first, so
// that a process killed in between leaves no run. logs.log stays: it says why that run ended.
Status make_room(const RunLayout& layout, FileSystem& files) {
  if (holds_finished_work(layout)) return failure(already_there(layout));
  for (const fs::path& left :
       {layout.plan(), layout.record(), layout.status(), layout.metrics(), layout.tensorboard(),
        layout.ledger(), layout.samples(), layout.checkpoints(), layout.weights(), layout.best(),
        layout.output()}) {
    KRL_TRY(remove_tree(files, left));
  }
  return {};
}

}  // namespace

RunDirectory::RunDirectory(RunLayout layout, FileSystem& files, DirectoryLock lock, OpenMode mode,
                           bool held_run)
    : layout_(std::move(layout)),
      files_(&files),
      lock_(std::move(lock)),
      resumed_(held_run && mode == OpenMode::kResume),
      replaced_(held_run && mode == OpenMode::kNew),
      started_(unix_seconds()) {}

Result<RunDirectory> RunDirectory::open(const fs::path& root, OpenMode mode, FileSystem& files) {
  RunLayout layout{root};
  KRL_TRY(explain_full_disk(make_directories(files, root), root));
  KRL_TRY(check_ours(layout));
  KRL_ASSIGN(DirectoryLock lock, DirectoryLock::acquire(layout.lock()));
  const bool held_run = holds_run(layout);
  if (held_run && mode == OpenMode::kNew) KRL_TRY(make_room(layout, files));
  return RunDirectory(std::move(layout), files, std::move(lock), mode, held_run);
}

bool RunDirectory::holds_work() const { return holds_finished_work(layout_); }

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

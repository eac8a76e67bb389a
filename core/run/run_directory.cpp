#include "core/run/run_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/file_system.hpp"
#include "core/run/run_record.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

// The whole file. Open-file-description locks (Linux 3.15): they belong to the open file, not to
// the process, so two owners within one process exclude each other too, and F_OFD_GETLK asks
// without taking.
struct flock whole_file() {
  struct flock region {};
  region.l_type = F_WRLCK;
  region.l_whence = SEEK_SET;
  return region;
}

pid_t read_owner(int descriptor) {
  char text[32];
  const ssize_t length = ::pread(descriptor, text, sizeof text, 0);
  pid_t owner = 0;
  if (length > 0) std::from_chars(text, text + length, owner);
  return owner;
}

Status write_owner(int descriptor, const std::filesystem::path& lock_file) {
  const std::string text = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor, 0) != 0 ||
      ::pwrite(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failure(file_error("write", lock_file, errno));
  return {};
}

Error in_use(const std::filesystem::path& lock_file, pid_t owner) {
  const std::string directory = lock_file.parent_path().string();
  const std::string who = owner > 0 ? "process " + std::to_string(owner) : "another process";
  return {Code::kFailedPrecondition,
          directory + " is in use by " + who + "; wait for it, stop it with 'kernelrl runs stop " +
              lock_file.parent_path().filename().string() + "', or choose another run.name"};
}

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
                     " is not empty and contains no run; choose another run.name, or move it away");
}

bool holds_finished_work(const RunLayout& layout) {
  std::ifstream metrics(layout.metrics());
  std::string line;
  const bool whole_line = std::getline(metrics, line) && !metrics.eof();
  std::error_code ignored;
  return whole_line || fs::exists(layout.checkpoints() / "checkpoints.jsonl", ignored);
}

Error already_there(const RunLayout& layout) {
  return {
      Code::kFailedPrecondition,
      layout.root.string() +
          " already contains a run; resume it, give this one another run.name, or remove it (rm -r " +
          shell_word(layout.root.string()) + ")"};
}

// Makes room for a new run where one ended before it finished anything. The plan goes first, so
// that a process killed in between leaves no run. logs.log stays, because it explains why that run
// ended.
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

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& lock_file) {
  const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return failure(file_error("write", lock_file, errno));
  DirectoryLock lock(descriptor);
  struct flock region = whole_file();
  if (::fcntl(descriptor, F_OFD_SETLK, &region) != 0) {
    if (errno == EAGAIN || errno == EACCES)
      return failure(in_use(lock_file, read_owner(descriptor)));
    return failure(file_error("lock", lock_file, errno));
  }
  KRL_TRY(write_owner(descriptor, lock_file));
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<pid_t> lock_owner(const std::filesystem::path& lock_file) {
  const int descriptor = ::open(lock_file.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  struct flock region = whole_file();
  std::optional<pid_t> owner;
  if (::fcntl(descriptor, F_OFD_GETLK, &region) == 0 && region.l_type != F_UNLCK)
    owner = read_owner(descriptor);
  ::close(descriptor);
  return owner;
}

using Json = nlohmann::ordered_json;

Status write_status(FileSystem& files, const std::filesystem::path& path, const RunStatus& status) {
  const Json json = {{"state", status.state},         {"stage", status.stage},
                     {"iteration", status.iteration}, {"message", status.message},
                     {"process", status.process},     {"started", status.started},
                     {"updated", status.updated},     {"updated_at", iso_time(status.updated)}};
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return write_atomically(files, path, text, Durability::kFast);
}

Result<RunStatus> read_status(const std::filesystem::path& path) {
  KRL_ASSIGN(const std::string text, read_file(path));
  try {
    const Json json = Json::parse(text);
    RunStatus status;
    status.state = json.at("state");
    status.stage = json.at("stage");
    status.iteration = json.at("iteration");
    status.message = json.at("message");
    status.process = json.at("process");
    status.started = json.at("started");
    status.updated = json.at("updated");
    return status;
  } catch (const nlohmann::json::exception& error) {
    return invalid("cannot read " + path.string() + ": " + error.what());
  }
}

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

}  // namespace krl::core

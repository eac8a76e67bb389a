#include "service/runs/runs.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <kernelrl/spelling.hpp>
#include <system_error>

#include "core/base/file_system.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/run_record.hpp"

namespace krl::service {

namespace fs = std::filesystem;

namespace {

std::vector<IterationMetrics> parse_lines(std::string_view text) {
  std::vector<IterationMetrics> lines;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string_view::npos;
       begin = end + 1)
    if (auto metrics = parse_metrics_line(text.substr(begin, end - begin)))
      lines.push_back(std::move(*metrics));
  return lines;
}

std::optional<IterationMetrics> last_metrics(const fs::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  const std::string_view whole = std::string_view(*text).substr(0, size_of_whole_lines(*text));
  if (whole.empty()) return std::nullopt;
  const std::size_t before = whole.rfind('\n', whole.size() - 2);
  const auto lines = parse_lines(whole.substr(before == std::string_view::npos ? 0 : before + 1));
  return lines.empty() ? std::nullopt : std::optional(lines.back());
}

std::optional<RunInfo> inspect(const fs::path& directory) {
  const RunLayout layout{directory};
  const std::optional<pid_t> owner = lock_owner(layout.lock());
  std::error_code ignored;
  if (!owner && !fs::exists(layout.plan(), ignored)) return std::nullopt;
  RunInfo run;
  run.name = directory.filename();
  run.directory = directory;
  if (auto status = read_status(layout.status())) run.status = std::move(*status);
  run.process = owner.value_or(0);
  run.state = owner ? "running" : run.status.state == "running" ? "died" : run.status.state;
  run.last = last_metrics(layout.metrics());
  return run;
}

// A process by a handle that stays its own, even if its number is used again.
class ProcessHandle {
 public:
  explicit ProcessHandle(pid_t process)
      : descriptor_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}
  ProcessHandle(const ProcessHandle&) = delete;
  ProcessHandle& operator=(const ProcessHandle&) = delete;
  ~ProcessHandle() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool valid() const { return descriptor_ >= 0; }
  bool signal(int number) const {
    return ::syscall(SYS_pidfd_send_signal, descriptor_, number, nullptr, 0) == 0;
  }

  bool wait(std::chrono::milliseconds patience) const {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    pollfd exited{descriptor_, POLLIN, 0};
    while (true) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          deadline - std::chrono::steady_clock::now());
      const int ready =
          ::poll(&exited, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
      if (ready >= 0 || errno != EINTR) return ready > 0;
    }
  }

 private:
  int descriptor_;
};

}  // namespace

Result<std::vector<RunInfo>> list_runs(const fs::path& root) {
  std::vector<RunInfo> runs;
  std::error_code error;
  if (!fs::exists(root, error)) return runs;
  KRL_ASSIGN(const std::vector<fs::path> children, children_of(root));
  for (const fs::path& child : children) {
    if (!fs::is_directory(child, error)) continue;
    if (auto run = inspect(child)) runs.push_back(std::move(*run));
  }
  return runs;
}

Result<RunInfo> find_run(const fs::path& root, const std::string& name) {
  if (name.find('/') != std::string::npos) {
    const fs::path path(name);
    const fs::path directory = path.has_filename() ? path : path.parent_path();  // "runs/x/"
    if (auto run = inspect(directory)) return *std::move(run);
    return failure(Code::kNotFound, "there is no run in " + directory.string());
  }
  KRL_ASSIGN(const std::vector<RunInfo> runs, list_runs(root));
  std::vector<std::string> names;
  for (const RunInfo& run : runs) {
    if (run.name == name) return run;
    names.push_back(run.name);
  }
  return failure(Code::kNotFound,
                 "no run '" + name + "' in " + root.string() +
                     (names.empty() ? ", which contains no runs" : did_you_mean(name, names)));
}

Result<std::vector<RunInfo>> runs_of_plan(const fs::path& root, const fs::path& plan) {
  KRL_ASSIGN(std::vector<RunInfo> runs, list_runs(root));
  std::erase_if(runs, [&](const RunInfo& run) {
    return first_plan(RunLayout{run.directory}.record()) != plan;
  });
  return runs;
}

Status delete_run(const RunInfo& run) {
  if (run.process != 0)
    return failure(Code::kFailedPrecondition,
                   run.name + " is running: stop it first, `kernelrl runs stop " + run.name + "`");
  std::error_code error;
  fs::remove_all(run.directory, error);
  if (error)
    return failure(Code::kUnavailable,
                   "cannot delete " + run.directory.string() + ": " + error.message());
  return {};
}

Status stop_run(const RunInfo& run, std::chrono::seconds patience) {
  const fs::path lock = RunLayout{run.directory}.lock();
  const std::optional<pid_t> owner = lock_owner(lock);
  if (!owner) return failure(Code::kFailedPrecondition, run.name + " is not running");
  if (*owner <= 0) return failure(Code::kUnavailable, run.name + " is still starting; try again");
  const ProcessHandle process(*owner);
  // Asked again: if the owner had ended before the handle was made, the number may be another
  // process's by now.
  if (!process.valid() || lock_owner(lock) != owner)
    return failure(Code::kUnavailable, "process " + std::to_string(*owner) + " of " + run.name +
                                           " has just ended, or runs on another machine");
  if (!process.signal(SIGTERM))
    return failure(Code::kUnavailable, "cannot signal process " + std::to_string(*owner) + " of " +
                                           run.name + ": " +
                                           std::generic_category().message(errno));
  if (process.wait(patience)) return {};
  return failure(Code::kDeadlineExceeded,
                 run.name + " (process " + std::to_string(*owner) +
                     ") was asked to stop and is still finishing its iteration");
}

Result<std::vector<IterationMetrics>> MetricsTail::next() {
  KRL_ASSIGN(std::string text, read_file(path_));
  text.resize(size_of_whole_lines(text));
  const auto differs = std::mismatch(text.begin(), text.end(), seen_.begin(), seen_.end()).first;
  const std::string_view common(text.data(), static_cast<std::size_t>(differs - text.begin()));
  auto lines = parse_lines(std::string_view(text).substr(size_of_whole_lines(common)));
  seen_ = std::move(text);
  return lines;
}

}  // namespace krl::service

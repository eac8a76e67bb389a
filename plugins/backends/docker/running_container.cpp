#include "plugins/backends/docker/running_container.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "plugins/backends/docker/owner.hpp"

namespace krl::docker {
namespace {

constexpr std::chrono::seconds kRequestLimit{60};  // limit of one request to Docker
constexpr std::chrono::seconds kSweepLimit{20};
constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{50};
constexpr int kSweepTries = 5;

// Runs as the command's own user, who owns nothing else in the container. kill(-1) is one step of
// the kernel's: no process escapes it by forking. The second line is for folders that the command
// locked against itself. The last prints the number of processes killed for memory, with cgroups of
// either version.
constexpr char kSweepScript[] = R"(kill -9 -1 2> /dev/null
chmod -R u+rwx "$0" && find "$0" -mindepth 1 -maxdepth 1 -exec rm -rf {} + || exit 1
cat /sys/fs/cgroup/memory/memory.oom_control /sys/fs/cgroup/memory.events 2> /dev/null
exit 0
)";
constexpr std::string_view kMemoryKills = "oom_kill ";

// Users of two containers must not be the same, since the kernel counts a user's processes over all
// of them. Below 2^31, above what people and systems use.
constexpr std::uint32_t kUsersStart = 1u << 24, kUsersOfContainer = 4096, kUserRanges = 500'000;

ContainerIdentity new_identity(const std::string& image_id) {
  std::random_device random;
  const std::uint32_t range = std::uniform_int_distribution<std::uint32_t>(0, kUserRanges)(random);
  return {image_id, mark_of_this_process(), kUsersStart + range * kUsersOfContainer};
}

std::string name_for(const ContainerIdentity& identity) {
  return "kernelrl-" + std::to_string(::getpid()) + "-" + std::to_string(identity.first_user);
}

std::int64_t memory_kills_in(std::string_view text) {
  std::size_t line = 0;
  while (line < text.size()) {
    const std::string_view rest = text.substr(line);
    std::int64_t count = 0;
    if (rest.starts_with(kMemoryKills)) {
      std::from_chars(rest.data() + kMemoryKills.size(), rest.data() + rest.size(), count);
      return count;
    }
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    line += end + 1;
  }
  return 0;
}

std::string gpu_advice(GpuAccess access) {
  return access == GpuAccess::kCdi
             ? "; a GPU was requested through CDI, which needs Docker 25, and a description of the GPUs "
               "(nvidia-ctk cdi generate)"
             : "; a GPU was requested, which needs the package nvidia-container-toolkit and a "
               "restart of Docker";
}

CommandResult::End end_of(const ExecOutput& output) {
  switch (output.end) {
    case ExecOutput::kDeadline:
      return CommandResult::kTimedOut;
    case ExecOutput::kTooMuch:
      return CommandResult::kTooMuchOutput;
    case ExecOutput::kClosed:
      break;
  }
  return CommandResult::kExited;
}

// Returns the exit code, if the process has ended. If the engine does not know the process, which
// has run, its container died.
std::optional<int> exit_code_of(const Engine& engine, const std::string& exec) {
  try {
    return engine.exit_code(exec, Patience::of(kRequestLimit));
  } catch (const EngineFailure& failure) {
    throw Failure(failure.code(), std::string("the worker container died: ") + failure.what());
  }
}

// Polls until the process has ended, which is a moment after its output has; empty at the deadline.
std::optional<int> await_exit(const Engine& engine, const std::string& exec,
                              const Patience& patience) {
  auto pause = kFirstPause;
  while (true) {
    if (const auto code = exit_code_of(engine, exec)) return code;
    if (patience.cancelled && patience.cancelled()) throw Failure(KRL_CANCELLED, "cancelled");
    if (Patience::Clock::now() >= patience.deadline) return std::nullopt;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace

RunningContainer::RunningContainer(const Engine& engine, const ContainerSettings& settings,
                                   const std::string& image_id)
    : engine_(engine),
      identity_(new_identity(image_id)),
      name_(name_for(identity_)),
      slots_(settings.commands_at_once) {
  const Patience patience = Patience::of(kRequestLimit);
  try {
    engine_.create(name_, container_specification(settings, identity_), patience);
    lifeline_ = engine_.attach_input(name_, patience);
    engine_.start(name_, patience);
  } catch (const EngineFailure& failure) {
    give_up();
    if (failure.http_status() == 0 || settings.gpu == GpuAccess::kNone) throw;
    throw EngineFailure(KRL_FAILED_PRECONDITION, failure.what() + gpu_advice(settings.gpu),
                        failure.http_status());
  }
}

RunningContainer::~RunningContainer() { give_up(); }

CommandResult RunningContainer::run(const ContainerCommand& command,
                                    const std::function<bool()>& cancelled) {
  const Slots::Lease slot = slots_.take(cancelled);
  const std::string exec = begin(slot.number(), command);
  const std::int64_t kills_before = memory_kills_;
  CommandResult result;
  try {
    result = watch(exec, command, cancelled);
  } catch (const Failure&) {
    sweep(slot.number(), exec);
    throw;
  }
  const Sweep sweep_end = sweep(slot.number(), exec);
  const bool killed_by_us = result.end != CommandResult::kExited;
  if (!sweep_end.dead || (!sweep_end.clean && !killed_by_us)) {
    throw Failure(KRL_UNAVAILABLE, "the worker container died or was given up: " + sweep_end.why);
  }
  if (!killed_by_us && result.exit_code != 0 && memory_kills_ > kills_before) {
    if (!slot.alone()) {
      throw Failure(KRL_UNAVAILABLE,
                    "the container ran out of memory while several commands ran in it; give it "
                    "more, or run fewer at once");
    }
    result.end = CommandResult::kOutOfMemory;
  }
  return result;
}

ExecRequest RunningContainer::exec_in(int slot, const std::vector<std::string>& arguments) const {
  return {arguments, {}, user_of_slot(identity_, slot), "/"};
}

std::string RunningContainer::begin(int slot, const ContainerCommand& command) {
  const std::string folder = folder_of_slot(slot);
  ExecRequest request = exec_in(slot, command.arguments);
  request.folder = folder;
  request.environment = command.environment;
  request.environment.push_back("HOME=" + folder);
  request.environment.push_back("TMPDIR=" + folder);
  try {
    return engine_.create_exec(name_, request, Patience::of(kRequestLimit));
  } catch (const EngineFailure& failure) {
    if (failure.gone()) lost_ = true;
    throw;
  }
}

CommandResult RunningContainer::watch(const std::string& exec, const ContainerCommand& command,
                                      const std::function<bool()>& cancelled) const {
  const Patience patience = Patience::of(command.time_limit, cancelled);
  ExecOutput output = engine_.run_exec(exec, command.input, command.output_limits, patience);
  CommandResult result;
  result.end = end_of(output);
  result.out = std::move(output.out);
  result.err = std::move(output.err);
  if (result.end != CommandResult::kExited) return result;
  const std::optional<int> code = await_exit(engine_, exec, patience);
  result.exit_code = code.value_or(-1);
  if (!code) result.end = CommandResult::kTimedOut;
  return result;
}

// A command that is given up while Docker is about to start it may start after a sweep, hence the
// question whether it has ended.
RunningContainer::Sweep RunningContainer::sweep(int slot, const std::string& exec) {
  const Patience patience = Patience::of(kSweepLimit);
  std::string why = "a command's processes could not be killed";
  try {
    for (int failed = 0; failed < kSweepTries;) {
      if (!try_sweep(slot, patience)) {
        ++failed;
      } else if (engine_.exit_code(exec, patience)) {
        return {true, true, {}};
      }
      std::this_thread::sleep_for(kLongestPause);
    }
  } catch (const Failure& failure) {
    why = failure.what();
  }
  return {false, give_up(), why};
}

bool RunningContainer::try_sweep(int slot, const Patience& patience) {
  const ExecRequest request = exec_in(slot, {"/bin/sh", "-c", kSweepScript, folder_of_slot(slot)});
  const std::string exec = engine_.create_exec(name_, request, patience);
  const ExecOutput output = engine_.run_exec(exec, {}, {}, patience);
  if (output.end != ExecOutput::kClosed) return false;
  if (await_exit(engine_, exec, patience) != 0) return false;
  const std::int64_t kills = memory_kills_in(output.out);
  std::int64_t known = memory_kills_;
  while (known < kills && !memory_kills_.compare_exchange_weak(known, kills)) {
  }
  return true;
}

// A container that cannot be removed ends with its lifeline, or is a leftover for the next start.
bool RunningContainer::give_up() noexcept {
  lost_ = true;
  try {
    engine_.remove(name_, Patience::of(kRequestLimit));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace krl::docker

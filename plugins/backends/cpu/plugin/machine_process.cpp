#include "plugins/backends/cpu/plugin/machine_process.hpp"

#include <signal.h>

#include <algorithm>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "plugins/backends/cpu/plugin/result_checks.hpp"
#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/process/subprocess.hpp"

namespace krl::cpu {
using namespace evaluator;
namespace {

constexpr std::uint64_t kMaxResultBytes = std::uint64_t{64} << 20;

Dim3 narrow(const krl::Dim3& size) {
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

std::uint32_t seconds_of(const MachineOptions& options) {
  return static_cast<std::uint32_t>((options.time_limit.count() + 999) / 1000);
}

Ending run_machine(const MachineOptions& options, std::string_view job, std::string_view ptx,
                   const SharedMemory& arena, const MemoryFile& output,
                   const std::function<bool()>& cancelled) {
  const MemoryFile input = MemoryFile::with("krl-job", job);
  const MemoryFile code = MemoryFile::with("krl-module", ptx);
  SandboxRules rules;
  rules.address_space_bytes = options.memory_bytes + arena.bytes().size();
  rules.cpu_seconds = seconds_of(options);
  Command command = sandboxed(options.launcher, rules, {{options.program}});
  command.descriptors = {{input.descriptor(), kJobDescriptor},
                         {arena.descriptor(), kArenaDescriptor},
                         {code.descriptor(), kModuleDescriptor},
                         {output.descriptor(), kResultDescriptor}};
  return Subprocess(command).wait(options.time_limit * kWallSlack, cancelled, kMostSleep);
}

// True if the candidate cannot be the cause. The machine cannot signal itself.
bool is_of_others(const Ending& ending) {
  return ending.deadline || ending.signal == SIGKILL || ending.signal == SIGTERM ||
         ending.exit_code == kSandboxFailed;
}

// Reads a result, or says in `wrong` what is wrong with it.
std::optional<Result> read_result(const Job& job, const std::string& text, std::string* wrong) {
  const auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) {
    *wrong = "its report is not JSON";
    return std::nullopt;
  }
  Result result;
  try {
    parsed.get_to(result);
    *wrong = inconsistency(job, result);
  } catch (const nlohmann::json::exception& error) {
    *wrong = error.what();
  }
  if (wrong->empty()) return result;
  wrong->insert(0, "its report: ");
  return std::nullopt;
}

JobOutcome failed(Verdict verdict, std::string why) {
  return {std::nullopt, verdict, std::move(why)};
}

}  // namespace

Launch shape_of(const ResolvedLaunch& launch, const std::vector<std::string>& kernels) {
  Launch shape;
  const auto kernel = std::find(kernels.begin(), kernels.end(), launch.kernel);
  shape.kernel = static_cast<std::uint32_t>(kernel - kernels.begin());
  shape.grid = narrow(launch.grid);
  shape.block = narrow(launch.block);
  shape.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
  return shape;
}

TensorMapArgument tensor_map_of(const ResolvedTensorMap& map, std::uint32_t buffer) {
  return {buffer,
          static_cast<std::uint32_t>(map.element_bytes),
          static_cast<std::uint32_t>(map.swizzle),
          {map.sizes.begin(), map.sizes.end()},
          {map.box.begin(), map.box.end()}};
}

JobOutcome execute_job(const MachineOptions& options, const Job& job, std::string_view ptx,
                       const SharedMemory& arena, const std::function<void()>& fill,
                       const std::function<bool()>& cancelled) {
  const std::string text = nlohmann::json(job).dump();
  for (int attempt = 0;; ++attempt) {
    const bool last = attempt > 0;
    fill();
    const MemoryFile output = MemoryFile::create("krl-result");
    const Ending ending = run_machine(options, text, ptx, arena, output, cancelled);
    if (ending.cancelled) throw Failure(KRL_CANCELLED, "cancelled");
    if (ending.asleep)
      return failed(Verdict::kTimeout, "the process that runs kernels was idle and was killed");
    if (ending.signal == SIGXCPU || ending.cpu_seconds >= seconds_of(options)) {
      return failed(Verdict::kTimeout,
                    "the kernel ran for more than " + std::to_string(seconds_of(options)) + " s");
    }
    if (is_of_others(ending)) {
      if (last) throw Failure(KRL_UNAVAILABLE, "the machine " + ending.description() + ", twice");
      continue;
    }
    std::string wrong = "it " + ending.description();
    if (ending.ok()) {
      auto result = read_result(job, output.read(kMaxResultBytes), &wrong);
      if (result) return {std::move(result), Verdict::kOk, {}};
    }
    if (last) {
      return failed(Verdict::kRuntimeFault, "the process that runs kernels failed twice: " + wrong);
    }
  }
}

}  // namespace krl::cpu

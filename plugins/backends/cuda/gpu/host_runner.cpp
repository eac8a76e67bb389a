#include "plugins/backends/cuda/gpu/host_runner.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "plugins/backends/evaluator/sandbox/sandbox.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using nlohmann::json;

constexpr std::uint64_t kDataBytes = std::uint64_t{8} << 30;
constexpr std::chrono::milliseconds kReapPause{5};
constexpr int kReapPauses = 200;

// The files that the driver reads. No folder holds libraries.
constexpr const char* kReadable[] = {
    "/etc/ld.so.cache",    "/usr/share/nvidia", "/proc/self",    "/sys",
    "/proc/driver/nvidia", "/proc/sys",         "/proc/devices", "/proc/cpuinfo",
    "/proc/meminfo",       "/dev/null",         "/dev/zero",     "/dev/urandom"};
constexpr std::uint32_t kProcessorsShare = 4;  // a quarter of them

RunnerFailure failed(RunnerFailure::Kind kind) {
  RunnerFailure failure;
  failure.kind = kind;
  return failure;
}

}  // namespace

Command sandboxed_runner(const std::string& sandbox, const std::string& runner,
                         std::vector<std::string> environment, std::uint32_t cpu_seconds,
                         const std::vector<std::string>& libraries) {
  SandboxRules rules;
  rules.gpu = true;
  rules.address_space_bytes = ~std::uint64_t{0};
  rules.data_bytes = kDataBytes;
  rules.cpu_seconds = cpu_seconds;
  rules.open_files = 1024;
  rules.processes = 4096;  // counts the threads of all that this user runs
  rules.readable.assign(std::begin(kReadable), std::end(kReadable));
  rules.readable.insert(rules.readable.end(), libraries.begin(), libraries.end());
  rules.processors_share = kProcessorsShare;
  Command command = sandboxed(sandbox, rules, {{runner}});
  command.environment = std::move(environment);
  command.environment.emplace_back("CUDA_CACHE_DISABLE=1");
  return command;
}

std::uint64_t secret_number() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

Checked<json, RunnerFailure> host_answer(std::uint64_t ticket, const std::optional<json>& answer,
                                         std::size_t numbers) {
  if (!answer) return failed(RunnerFailure::kDied);
  try {
    const json& result = answer->at(gpu::kAnswer);
    if (answer->at(gpu::kTicket) != ticket) return failed(RunnerFailure::kForged);
    if (result.is_object()) {
      RunnerFailure failure;
      failure.trouble = result.at("trouble").get<gpu::Trouble>();
      return failure;
    }
    const bool is_asked = numbers == 0
                              ? result.is_null()
                              : result.is_array() && result.size() == numbers &&
                                    std::all_of(result.begin(), result.end(),
                                                [](const json& n) { return n.is_number(); });
    if (is_asked) return result;
  } catch (const json::exception&) {  // it is not an answer of ours
  }
  return failed(RunnerFailure::kForged);
}

Ending ending_of(Subprocess& process) {
  for (int pause = 0; pause < kReapPauses && process.running(); ++pause) {
    std::this_thread::sleep_for(kReapPause);
  }
  const bool lives_on = process.running();
  process.kill();
  Ending ending = process.wait(kReapPause);
  ending.deadline = lives_on;
  return ending;
}

}  // namespace krl::cuda

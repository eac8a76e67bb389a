#include "plugins/backends/cuda/gpu/ncu/ncu_profiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <kernelrl/tensor_types.hpp>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/gpu/ncu/ncu_metrics.hpp"
#include "plugins/files/file.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// ncu repeats a launch some tens of times, and saves and restores memory before each.
constexpr int kLongerUnderNcu = 64;
constexpr std::chrono::minutes kEndLimit{2};  // for its table
constexpr char kRefused[] = "ERR_NVGPUCTRPERM";

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// An expression for these names, in which only $ and . mean something else there.
std::string expression_of(const std::vector<std::string>& kernels) {
  std::string names;
  for (const char c : joined(kernels, "|")) {
    if (c == '$' || c == '.') names += '\\';
    names += c;
  }
  return "regex:^(" + names + ")$";
}

std::uint64_t bytes_of(const std::vector<gpu::Run>& runs) {
  std::uint64_t bytes = 1;
  for (const gpu::Run& run : runs) bytes = std::max(bytes, run.program.bytes);
  return bytes;
}

std::size_t launches_in(const std::vector<gpu::Run>& runs) {
  std::size_t launches = 0;
  for (const gpu::Run& run : runs) launches += run.program.launches.size();
  return launches;
}

// A run whose one launch is the trusted kernel that fills its input.
gpu::Run trial() {
  gpu::Fill input;
  input.name = "x";
  input.elements = input.row = 256;
  input.dtype = static_cast<int>(DType::kFloat32);
  gpu::Run run;
  run.program.inputs = {input};
  run.program.bytes = 4 * input.elements;
  return run;
}

// Appended to the runner's own message, if any.
void add_what_ncu_says(const Ending& ending, const NcuReport& report, const std::string& complaint,
                       std::string* problem) {
  const auto add = [&](const std::string& text) {
    *problem += (problem->empty() ? "" : ": ") + text;
  };
  if (!ending.ok()) add("ncu " + ending.description());
  if (!report.errors.empty()) add(report.errors);
  if (report.errors.find(kRefused) != std::string::npos) *problem += gpu::kHowToPermitCounters;
  if (!problem->empty() && report.errors.empty() && !complaint.empty()) add(complaint);
}

}  // namespace

std::string NcuProfiler::problem() {
  const Profiled profiled =
      launches_of({start_.setup.trusted_code, {"krl_fill"}, "", false}, {trial()});
  if (!profiled.problem.empty()) return profiled.problem;
  if (!counters_of_launches(profiled.launches).empty()) return {};
  return start_.program + " returned no values for a test kernel";
}

Checked<std::vector<std::vector<gpu::Counter>>, std::string> NcuProfiler::profile(
    const gpu::Load& load, const std::vector<gpu::Run>& runs) {
  const Profiled profiled = launches_of(load, runs);
  if (!profiled.problem.empty()) return profiled.problem;
  if (profiled.launches.size() != launches_in(runs)) {
    return start_.program + " profiled " + std::to_string(profiled.launches.size()) +
           " launches, not " + std::to_string(launches_in(runs));
  }
  std::vector<std::vector<gpu::Counter>> counters;
  auto next = profiled.launches.begin();
  for (const gpu::Run& run : runs) {
    const auto end = next + static_cast<std::ptrdiff_t>(run.program.launches.size());
    counters.push_back(counters_of_launches({next, end}));
    next = end;
  }
  return counters;
}

Command NcuProfiler::command(const std::vector<std::string>& kernels) const {
  Command command;
  command.arguments = {start_.program,
                       "--config-file",
                       "off",
                       "--csv",
                       "--log-file",
                       log_file(),
                       "--clock-control",
                       "none",
                       "--cache-control",
                       "all",
                       "--print-units",
                       "base",
                       "--kernel-name-base",
                       "mangled",
                       "--kernel-name",
                       expression_of(kernels),
                       "--metrics",
                       joined(ncu_metrics(), ","),
                       start_.runner};
  command.environment = start_.environment;
  const char* path = std::getenv("PATH");
  // ncu is often a script. Files that it keeps for a user, or shares with other users' ncu in /tmp,
  // go to its own folder.
  command.environment.push_back(std::string("PATH=") + (path == nullptr ? "/usr/bin:/bin" : path));
  command.environment.push_back("HOME=" + folder_->path().string());
  command.environment.push_back("TMPDIR=" + folder_->path().string());
  command.environment.emplace_back("LC_ALL=C");
  return command;
}

void NcuProfiler::converse(Conversation& ncu, const gpu::Load& load,
                           const std::vector<gpu::Run>& runs, std::string* problem) const {
  const auto ask = [&](const char* kind, const json& request, std::chrono::milliseconds limit) {
    const auto answer = ncu.ask({{kind, request}}, limit);
    if (answer && !(answer->is_object() && answer->contains("trouble"))) return true;
    *problem = std::string("under ncu, the runner ") + (ncu.timed_out() ? "hangs" : "ended") +
               " at '" + kind + "'";
    if (answer) *problem = answer->at("trouble").at("message").get<std::string>();
    return false;
  };
  gpu::Setup setup = start_.setup;
  setup.arena_bytes = bytes_of(runs);  // the memory that ncu saves and restores
  if (!ask("setup", setup, gpu::kSetupLimit)) return;
  if (!ask("load", load, kLongerUnderNcu * start_.run_limit)) return;
  for (const gpu::Run& run : runs) {
    if (!ask("run", run, kLongerUnderNcu * start_.run_limit)) return;
  }
}

NcuProfiler::Profiled NcuProfiler::launches_of(const gpu::Load& load,
                                               const std::vector<gpu::Run>& runs) {
  Profiled profiled;
  try {
    if (!folder_) folder_ = std::make_unique<TemporaryFolder>("kernelrl-ncu");
    std::error_code error;
    std::filesystem::remove(log_file(), error);
    Conversation ncu(command(load.kernels));
    converse(ncu, load, runs, &profiled.problem);
    const Ending ending = ncu.end(ncu.timed_out() ? std::chrono::seconds(0) : kEndLimit);
    NcuReport report = read_ncu_report(files::read_file_or_empty(log_file()));
    add_what_ncu_says(ending, report, ncu.complaint(), &profiled.problem);
    if (profiled.problem.empty()) profiled.launches = std::move(report.launches);
  } catch (const Failure& failure) {
    profiled.problem = failure.what();
  }
  return profiled;
}

}  // namespace krl::cuda

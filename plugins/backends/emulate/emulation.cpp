#include "plugins/backends/emulate/emulation.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "plugins/backends/emulate/kernels.hpp"
#include "plugins/backends/emulate/report.hpp"
#include "plugins/backends/emulate/runs.hpp"

namespace krl::emulate {
using namespace evaluator;
namespace {

// Warp instructions of a run for each second of its limit. A fast processor executes more in loops of the
// simplest instructions, and names their line; otherwise the time limit comes first.
constexpr double kMostWork = 2e8;

std::vector<ResolvedScalar> read_values(const EmulationRequest& request) {
  std::vector<ResolvedScalar> values;
  for (const std::string& text : request.values) values.push_back(read_value(text));
  return values;
}

std::vector<Buffer> read_buffers(const EmulationRequest& request,
                                 const std::vector<ResolvedScalar>& values) {
  IntegerNames names;
  for (const ResolvedScalar& value : values)
    if (!is_floating(value.dtype)) names[value.name] = value.integer;
  std::vector<Buffer> buffers;
  std::uint64_t bytes = 0;
  for (const std::string& text : request.buffers) {
    buffers.push_back(read_buffer(text, names, request.seed));
    bytes += buffers.back().bytes();
    if (bytes > kMostBytes) invalid_argument("the buffers take more than 256 MiB together");
  }
  return buffers;
}

// Each name stands for one thing.
void check_names(const std::vector<ResolvedScalar>& values, const std::vector<Buffer>& buffers) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!names.insert(name).second) invalid_argument("there are two things called '" + name + "'");
  };
  for (const ResolvedScalar& value : values) add(value.name);
  for (const Buffer& buffer : buffers) add(buffer.name);
}

// The buffer and the file of each "y=out.npy".
std::vector<std::pair<std::size_t, std::string>> read_saved(const EmulationRequest& request,
                                                            const std::vector<Buffer>& buffers) {
  std::vector<std::pair<std::size_t, std::string>> saved;
  for (const std::string& text : request.saved) {
    const std::size_t at = text.find('=');
    const auto buffer = std::find_if(buffers.begin(), buffers.end(), [&](const Buffer& known) {
      return known.name == text.substr(0, at);
    });
    if (at == std::string::npos || !text.ends_with(".npy"))
      invalid_argument("--save " + text + ": expected NAME=FILE.npy");
    if (buffer == buffers.end()) invalid_argument("--save " + text + ": there is no such buffer");
    saved.emplace_back(buffer - buffers.begin(), text.substr(at + 1));
  }
  return saved;
}

CompileSettings compile_settings(const EmulationRequest& request, const cpu::TimeEstimate& time) {
  CompileSettings settings;
  settings.arch = time.arch();
  settings.flags = request.options;
  settings.compile_limit = std::chrono::seconds(60);
  return settings;
}

RunSettings run_settings(const EmulationRequest& request, const cpu::TimeEstimate& time,
                         const cpu::Installation& installation) {
  RunSettings settings;
  settings.machine.launcher = installation.launcher;
  settings.machine.program = installation.machine;
  settings.machine.time_limit =
      std::chrono::milliseconds(static_cast<std::int64_t>(request.seconds * 1000));
  settings.machine.work_limit = static_cast<std::uint64_t>(request.seconds * kMostWork);
  settings.machine.max_shared_bytes = time.max_shared_bytes();
  settings.machine.path_clocks = time.path_clocks();
  settings.seed = request.seed;
  settings.once = request.once;
  return settings;
}

}  // namespace

nlohmann::ordered_json emulate(const EmulationRequest& request) {
  const cpu::Installation installation = cpu::find_installation();
  const cpu::TimeEstimate time(request.gpu);
  const std::vector<ResolvedScalar> values = read_values(request);
  const std::vector<Buffer> buffers = read_buffers(request, values);
  check_names(values, buffers);
  const auto saved = read_saved(request, buffers);
  KernelFile file = read_kernel_file(request.file);
  add_directives(buffers, request.launches, &file);
  const PreparedTask task = task_of(values);
  CandidateBuilder builder(
      compiler_for(file, request.compiler, compile_settings(request, time), installation), "cpu",
      Contents::kAny);
  check_launches(file, request.launches, task, builder.target().launch_limits());
  EvaluationRecord record;
  const auto built = builder.build(task, {file.source, file.scanned}, 1, {}, &record);
  if (!built) return report_of(file, record);
  const Runs runs =
      run_kernels(task, *built, buffers, time, run_settings(request, time, installation));
  if (runs.ended()) {
    for (const auto& [buffer, path] : saved) {
      const Array& array = buffers[buffer].contents;
      write_npy(path, {array.type, array.shape, runs.contents[buffer]});
    }
  }
  return report_of(file, buffers, *built, runs, time);
}

void from_json(const nlohmann::json& json, EmulationRequest& request) {
  json.at("file").get_to(request.file);
  json.at("launches").get_to(request.launches);
  json.at("buffers").get_to(request.buffers);
  json.at("values").get_to(request.values);
  json.at("saved").get_to(request.saved);
  json.at("gpu").get_to(request.gpu);
  json.at("compiler").get_to(request.compiler);
  json.at("options").get_to(request.options);
  json.at("seed").get_to(request.seed);
  json.at("seconds").get_to(request.seconds);
  json.at("once").get_to(request.once);
}

}  // namespace krl::emulate

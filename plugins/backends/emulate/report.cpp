#include "plugins/backends/emulate/report.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plugins/backends/cpu/plugin/assembled_kernels.hpp"
#include "plugins/backends/evaluator/check/comparison.hpp"
#include "plugins/backends/evaluator/compile/source_file.hpp"

namespace krl::emulate {
using namespace cpu;
using namespace evaluator;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kShown = 8;  // elements of a buffer

// The text of a line of the file; empty if there is no such line.
std::string line_of(const std::string& source, std::uint32_t line) {
  std::size_t begin = 0;
  for (std::uint32_t n = 1; n < line && begin != std::string::npos; ++n) {
    begin = source.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (line == 0 || begin == std::string::npos) return {};
  return source.substr(begin, source.find('\n', begin) - begin);
}

// An object that says what is wrong, and where.
Json finding(const KernelFile& file, std::string_view kind, std::string_view message,
             std::uint32_t line) {
  Json found = {{"kind", kind}, {"message", message}, {"line", line}};
  if (const std::string text = line_of(file.source, line); !text.empty()) found["source"] = text;
  return found;
}

Json fault_of(const KernelFile& file, const Runs& runs) {
  if (runs.launch_error) {
    std::string message = runs.launch_error->message;
    if (message.ends_with("is an integer, but the kernel's parameter is not"))
      message += "; a real number has a point: 2.0";
    return finding(file, "launch_error", message, 0);
  }
  if (!runs.fault) return finding(file, "timeout", runs.stopped, 0);
  const Fault& fault = *runs.fault;
  Json found = finding(file, cpu::name_of(fault.kind), fault.message, fault.line);
  found["launch"] = fault.launch;
  found["kernel"] = fault.kernel;
  found["block"] = fault.block;
  found["thread"] = fault.thread;
  found["order"] = runs.order;
  return found;
}

// Runs differ in their orders, and in what nobody has set.
std::string difference_text(const std::vector<Buffer>& buffers, const Runs& runs) {
  const Difference& difference = *runs.difference;
  const Buffer& buffer = buffers[difference.buffer];
  std::string text = std::to_string(difference.count) + " of " + std::to_string(buffer.elements) +
                     " elements of " + buffer.name + " differ between runs: " + buffer.name + "[" +
                     std::to_string(difference.first) + "] is " + difference.values + " (" +
                     std::string(name_of(difference.order)) + ")";
  for (const Unset& unset : runs.first.unset)
    text += "; perhaps because line " + std::to_string(unset.line) + " uses " + unset.what;
  return text;
}

Json warnings_of(const KernelFile& file, const std::vector<Buffer>& buffers, const Runs& runs) {
  Json warnings = Json::array();
  for (const Unwritten& unwritten : runs.first.unwritten) {
    if (unwritten.buffer >= buffers.size()) continue;
    const Buffer& buffer = buffers[unwritten.buffer];
    warnings.push_back(finding(file, "unwritten",
                               std::to_string(unwritten.count) + " of " +
                                   std::to_string(buffer.elements) + " elements of " + buffer.name +
                                   " are not written, the first is " + buffer.name + "[" +
                                   std::to_string(unwritten.first) + "]",
                               0));
  }
  if (!runs.difference) return warnings;
  const std::uint32_t line = runs.encounters.empty() ? 0 : runs.encounters.front().line;
  warnings.push_back(finding(file, "order_dependent", difference_text(buffers, runs), line));
  return warnings;
}

Json buffer_of(const Buffer& buffer, const std::vector<std::byte>& bytes) {
  const ElementType& type = *buffer.contents.type;
  Json found = {{"name", buffer.name}, {"dtype", type.name}, {"shape", buffer.contents.shape}};
  double least = HUGE_VAL, most = -HUGE_VAL, sum = 0;
  std::int64_t not_finite = 0;
  Json shown = Json::array();
  for (std::int64_t i = 0; i < buffer.elements; ++i) {
    const std::byte* const element = bytes.data() + static_cast<std::size_t>(i) * type.bytes;
    if (i < kShown) shown.push_back(text_of(type, element));
    const double value = number_of(type, element);
    if (!std::isfinite(value)) {
      ++not_finite;
      continue;
    }
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
  }
  const auto finite = static_cast<double>(buffer.elements - not_finite);
  if (finite > 0) {
    found["least"] = least;
    found["most"] = most;
    if (std::isfinite(sum)) found["mean"] = sum / finite;
  }
  found["not_finite"] = not_finite;
  found["first"] = std::move(shown);
  return found;
}

Json values_of(const std::vector<LaunchReport>& launches, const AssembledKernels& kernels,
               const TimeEstimate& time) {
  std::vector<Value> values;
  time.add_values(launches, kernels, 0, &values);
  Json all = Json::object();
  for (const Value& value : values) all[value.name] = value.value;
  return all;
}

}  // namespace

Json report_of(const KernelFile& file, const EvaluationRecord& compiled) {
  std::uint32_t line = 0;
  for (const Diagnostic& diagnostic : compiled.diagnostics) {
    if (diagnostic.severity != KRL_SEVERITY_ERROR || line != 0) continue;
    line = diagnostic.line;
  }
  std::string log = compiled.compile_log;
  const std::string_view name = kSourceFile;
  for (std::size_t at = 0; (at = log.find(name, at)) != std::string::npos; at += file.path.size())
    log.replace(at, name.size(), file.path);
  return {{"file", file.path},
          {"ok", false},
          {"fault", finding(file, krl::name_of(compiled.verdict), compiled.why, line)},
          {"log", std::move(log)}};
}

Json report_of(const KernelFile& file, const std::vector<Buffer>& buffers, const Built& built,
               const Runs& runs, const TimeEstimate& time) {
  Json report = {{"file", file.path}, {"gpu", time.device()}, {"ok", runs.ended()}};
  report["fault"] = runs.ended() ? Json() : fault_of(file, runs);
  report["printed"] = runs.first.printed;
  report["orders"] = runs.orders;
  report["warnings"] = Json::array();
  report["buffers"] = Json::array();
  if (!runs.ended()) return report;
  report["warnings"] = warnings_of(file, buffers, runs);
  for (std::size_t b = 0; b < buffers.size(); ++b)
    report["buffers"].push_back(buffer_of(buffers[b], runs.contents[b]));
  const AssembledKernels kernels = assembled_kernels(built.compiled->kernels);
  const auto& launches = runs.first.runs.front();
  report["estimated_ns"] = time.run_ns(launches, kernels);
  report["counters"] = values_of(launches, kernels, time);
  return report;
}

}  // namespace krl::emulate

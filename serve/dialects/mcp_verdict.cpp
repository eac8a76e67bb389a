#include "serve/dialects/mcp_verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/episode/feedback.hpp"

namespace krl::serve::mcp {
namespace {

// Four digits: what a reader needs, and what a model can read cheaply.
double rounded(double value) { return std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr); }

void put(Json& json, const char* name, double value) {
  if (std::isfinite(value)) json[name] = rounded(value);
}
void put(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

bool is_unseen(const Case& c) {
  return c.kind == CaseKind::kHoldout || (c.kind == CaseKind::kFresh && c.passed());
}

Json case_json(const Evaluation& evaluation, std::size_t index) {
  const Case& c = evaluation.cases[index];
  Json json = {{"case", c.label}, {"kind", name_of(c.kind)}, {"verdict", name_of(c.verdict)}};
  put(json, "time_us", c.time_ns / 1000);
  put(json, "baseline_us", c.baseline_ns / 1000);
  put(json, "speedup", c.speedup);
  if (c.timed()) json["speedup_interval"] = {rounded(c.speedup_low), rounded(c.speedup_high)};
  for (const Value& value : evaluation.values) {
    const bool is_told = value.name == "roofline" || value.name == "reference_speedup";
    if (is_told && value.case_index == static_cast<std::int64_t>(index))
      put(json, value.name.c_str(), value.value);
  }
  put(json, "detail", c.detail);
  return json;
}

Json kernel_json(const Kernel& kernel) {
  Json json = {{"name", kernel.name}};
  const auto count = [&](const char* name, std::int32_t value) {
    if (value >= 0) json[name] = value;
  };
  count("registers", kernel.registers);
  count("spill_bytes", kernel.spill_bytes);
  count("shared_bytes", kernel.shared_bytes);
  put(json, "occupancy", kernel.occupancy);
  put(json, "occupancy_limiter", kernel.occupancy_limiter);
  return json;
}

Json diagnostic_json(const Diagnostic& diagnostic) {
  const char* const severity = diagnostic.severity == KRL_SEVERITY_ERROR     ? "error"
                               : diagnostic.severity == KRL_SEVERITY_WARNING ? "warning"
                                                                             : "note";
  return {{"line", diagnostic.line}, {"severity", severity}, {"text", diagnostic.text}};
}

// The line of the candidate that the verdict is about; 0 if it is about none.
std::uint32_t line_of(const Evaluation& evaluation) {
  for (const Diagnostic& diagnostic : evaluation.diagnostics) {
    if (diagnostic.severity == KRL_SEVERITY_ERROR && diagnostic.line > 0) return diagnostic.line;
  }
  constexpr std::string_view kLine = "line ";
  const std::size_t at = evaluation.why.find(kLine);
  if (at == std::string::npos) return 0;
  return static_cast<std::uint32_t>(
      std::strtoul(evaluation.why.c_str() + at + kLine.size(), nullptr, 10));
}

Json unseen_json(const Evaluation& evaluation) {
  int passed = 0, failed = 0;
  for (const Case& c : evaluation.cases) {
    if (is_unseen(c)) ++(c.passed() ? passed : failed);
  }
  return {{"passed", passed}, {"failed", failed}};
}

std::string label_of(const Evaluation& evaluation, const Value& value) {
  return value.case_index < 0 ? "all"
                              : evaluation.cases[static_cast<std::size_t>(value.case_index)].label;
}

Json described(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

}  // namespace

Json verdict_schema(Depth depth) {
  Json properties = {
      {"task", {{"type", "string"}}},
      {"verdict", described("string",
                            "ok; or rejected, compile_error, launch_error, runtime_fault, timeout, "
                            "resource_limit, wrong_result, nondeterministic, flagged")},
      {"passed", {{"type", "boolean"}}},
      {"reason", described("string", "what made the verdict, if it is not ok")},
      {"line", described("integer", "the line of the source that it is about")},
      {"speedup", described("number",
                            "times the baseline, by the lower ends of the intervals; the geometric "
                            "mean over the cases")},
      {"device", described("string", "the GPU that the times are for")},
      {"estimated", described("boolean", "times come from a model of that GPU, not from a clock")},
      {"cases", described("array", "the shapes that the task shows, and any other that failed")},
      {"unseen", described("object", "how many shapes that are not shown passed and failed")},
      {"limits", described("array", "what the time is spent on: part and share")},
      {"advice", {{"type", "string"}}},
      {"kernels", described("array", "registers, spills, shared memory and occupancy")},
      {"diagnostics", described("array", "of the compiler: line, severity, text")}};
  if (depth == Depth::kProfile)
    properties["values"] = described("object", "counters and figures by case and name");
  return {{"type", "object"}, {"properties", std::move(properties)}};
}

Json verdict_json(const std::string& task_id, const ToldResult& told, Depth depth) {
  const Evaluation& evaluation = told.evaluation;
  Json json = {
      {"task", task_id}, {"verdict", name_of(evaluation.verdict)}, {"passed", evaluation.passed()}};
  put(json, "reason", evaluation.why);
  if (const auto line = line_of(evaluation); line > 0) json["line"] = line;
  put(json, "speedup", evaluation.speedup());
  put(json, "device", evaluation.device);
  json["estimated"] = std::ranges::any_of(evaluation.cases, &Case::estimated);
  json["cases"] = Json::array();
  for (std::size_t i = 0; i < evaluation.cases.size(); ++i) {
    if (!is_unseen(evaluation.cases[i])) json["cases"].push_back(case_json(evaluation, i));
  }
  json["unseen"] = unseen_json(evaluation);
  json["limits"] = Json::array();
  for (const auto& [part, share] : limits_of(evaluation))
    json["limits"].push_back({{"part", part}, {"share", rounded(share)}});
  if (evaluation.passed()) put(json, "advice", describe_advice(evaluation));
  json["kernels"] = Json::array();
  for (const Kernel& kernel : evaluation.kernels) json["kernels"].push_back(kernel_json(kernel));
  json["diagnostics"] = Json::array();
  for (const Diagnostic& diagnostic : evaluation.diagnostics)
    json["diagnostics"].push_back(diagnostic_json(diagnostic));
  if (depth == Depth::kVerdict) return json;
  json["values"] = Json::object();
  for (const Value& value : evaluation.values)
    json["values"][label_of(evaluation, value)][value.name] = rounded(value.value);
  return json;
}

std::string verdict_text(const ToldResult& told, Depth depth) {
  const Evaluation& evaluation = told.evaluation;
  std::string text = told.feedback + "\n";
  if (evaluation.passed()) {
    text += "device: " + evaluation.device + "\n";
    if (const std::string limits = describe_limits(evaluation); !limits.empty())
      text += "limits: " + limits + "\n";
  }
  if (depth == Depth::kVerdict) return text;
  std::string label;
  for (const Value& value : evaluation.values) {
    if (value.value == 0) continue;
    const std::string next = label_of(evaluation, value);
    if (next != label) text += "\n" + next + "\n";
    label = next;
    text += fmt::format("  {} {:.4g}{}{}\n", value.name, value.value, value.unit.empty() ? "" : " ",
                        value.unit);
  }
  return text;
}

}  // namespace krl::serve::mcp

#include "core/task/evaluation.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace krl {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 12> kVerdictNames = {
    "ok",           "format_error",     "rejected", "compile_error",
    "launch_error", "runtime_fault",    "timeout",  "resource_limit",
    "wrong_result", "nondeterministic", "flagged",  "infra_error"};

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }
double number_of(const json& j, const char* key) {
  const auto entry = j.find(key);
  return entry != j.end() && entry->is_number() ? entry->get<double>() : kNotMeasured;
}

constexpr std::array<std::string_view, 3> kCaseKindNames = {"shown", "holdout", "fresh"};

CaseKind case_kind_named(std::string_view name) {
  const auto found = std::find(kCaseKindNames.begin(), kCaseKindNames.end(), name);
  if (found == kCaseKindNames.end()) return CaseKind::kShown;
  return static_cast<CaseKind>(found - kCaseKindNames.begin());
}

json case_json(const CaseRecord& c) {
  return {{"label", c.label},
          {"verdict", name_of(c.verdict)},
          {"kind", name_of(c.kind)},
          {"estimated", c.estimated},
          {"max_abs_error", number(c.max_abs_error)},
          {"max_rel_error", number(c.max_rel_error)},
          {"speedup", number(c.speedup)},
          {"speedup_low", number(c.speedup_low)},
          {"speedup_high", number(c.speedup_high)},
          {"time_ns", number(c.time_ns)},
          {"baseline_ns", number(c.baseline_ns)},
          {"samples_ns", c.samples_ns},
          {"baseline_samples_ns", c.baseline_samples_ns},
          {"detail", c.detail}};
}

CaseRecord case_from(const json& j) {
  CaseRecord c;
  c.label = j.value("label", "");
  c.verdict = verdict_named(j.value("verdict", "ok")).value_or(Verdict::kInfraError);
  c.kind = case_kind_named(j.value("kind", "shown"));
  c.estimated = j.value("estimated", false);
  c.max_abs_error = number_of(j, "max_abs_error");
  c.max_rel_error = number_of(j, "max_rel_error");
  c.speedup = number_of(j, "speedup");
  c.speedup_low = number_of(j, "speedup_low");
  c.speedup_high = number_of(j, "speedup_high");
  c.time_ns = number_of(j, "time_ns");
  c.baseline_ns = number_of(j, "baseline_ns");
  c.samples_ns = j.value("samples_ns", std::vector<double>{});
  c.baseline_samples_ns = j.value("baseline_samples_ns", std::vector<double>{});
  c.detail = j.value("detail", "");
  return c;
}

json kernel_json(const KernelRecord& k) {
  return {{"name", k.name},
          {"arch", k.arch},
          {"registers", k.registers},
          {"spill_bytes", k.spill_bytes},
          {"stack_bytes", k.stack_bytes},
          {"shared_bytes", k.shared_bytes},
          {"max_threads", k.max_threads},
          {"blocks_per_sm", k.blocks_per_sm},
          {"occupancy", number(k.occupancy)},
          {"occupancy_limiter", k.occupancy_limiter}};
}

KernelRecord kernel_from(const json& j) {
  KernelRecord k;
  k.name = j.value("name", "");
  k.arch = j.value("arch", "");
  k.registers = j.value("registers", -1);
  k.spill_bytes = j.value("spill_bytes", -1);
  k.stack_bytes = j.value("stack_bytes", -1);
  k.shared_bytes = j.value("shared_bytes", -1);
  k.max_threads = j.value("max_threads", -1);
  k.blocks_per_sm = j.value("blocks_per_sm", -1);
  k.occupancy = number_of(j, "occupancy");
  k.occupancy_limiter = j.value("occupancy_limiter", "");
  return k;
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  const auto index = static_cast<std::size_t>(verdict);
  return index < kVerdictNames.size() ? kVerdictNames[index] : "unknown";
}

std::string_view name_of(CaseKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  return index < kCaseKindNames.size() ? kCaseKindNames[index] : "unknown";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (std::size_t i = 0; i < kVerdictNames.size(); ++i) {
    if (kVerdictNames[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

double Evaluation::speedup() const {
  double log_sum = 0;
  int timed = 0;
  for (const CaseRecord& c : cases) {
    if (c.kind != CaseKind::kShown || !std::isfinite(c.speedup_low)) continue;
    log_sum += std::log(c.speedup_low);
    ++timed;
  }
  return timed == 0 ? kNotMeasured : std::exp(log_sum / timed);
}

std::optional<double> Evaluation::value(std::string_view name) const {
  double sum = 0;
  int n = 0;
  for (const Value& v : values) {
    if (v.name == name) sum += v.value, ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / n);
}

json to_json(const Evaluation& e) {
  json diagnostics = json::array(), kernels = json::array(), cases = json::array(),
       values = json::array();
  for (const Diagnostic& d : e.diagnostics) {
    diagnostics.push_back({{"severity", d.severity},
                           {"line", d.line},
                           {"column", d.column},
                           {"code", d.code},
                           {"text", d.text}});
  }
  for (const KernelRecord& k : e.kernels) kernels.push_back(kernel_json(k));
  for (const CaseRecord& c : e.cases) cases.push_back(case_json(c));
  for (const Value& v : e.values) {
    values.push_back(
        {{"case", v.case_index}, {"name", v.name}, {"unit", v.unit}, {"value", number(v.value)}});
  }
  return {{"verdict", name_of(e.verdict)},
          {"contract", name_of(e.contract)},
          {"why", e.why},
          {"backend", e.backend},
          {"toolchain", e.toolchain},
          {"device", e.device},
          {"compile_log", e.compile_log},
          {"diagnostics", diagnostics},
          {"kernels", kernels},
          {"cases", cases},
          {"values", values}};
}

Evaluation evaluation_from_json(const json& j) {
  Evaluation e;
  e.verdict = verdict_named(j.value("verdict", "")).value_or(Verdict::kInfraError);
  e.contract = contract_named(j.value("contract", "")).value_or(Contract::kDevice);
  e.why = j.value("why", "");
  e.backend = j.value("backend", "");
  e.toolchain = j.value("toolchain", "");
  e.device = j.value("device", "");
  e.compile_log = j.value("compile_log", "");
  for (const json& d : j.value("diagnostics", json::array())) {
    e.diagnostics.push_back({d.value("severity", 2u), d.value("line", 0u), d.value("column", 0u),
                             d.value("code", ""), d.value("text", "")});
  }
  for (const json& k : j.value("kernels", json::array())) e.kernels.push_back(kernel_from(k));
  for (const json& c : j.value("cases", json::array())) e.cases.push_back(case_from(c));
  for (const json& v : j.value("values", json::array())) {
    e.values.push_back(
        {v.value("case", -1), v.value("name", ""), v.value("unit", ""), number_of(v, "value")});
  }
  return e;
}

}  // namespace krl

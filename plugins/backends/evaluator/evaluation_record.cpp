#include "plugins/backends/evaluator/evaluation_record.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace krl {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 12> kVerdictNames = {
    "ok",           "format_error",     "rejected", "compile_error",
    "launch_error", "runtime_fault",    "timeout",  "resource_limit",
    "wrong_result", "nondeterministic", "flagged",  "infra_error"};

// JSON has no NaN and no infinity: null and the text "inf" stand for them.
json number(double value) {
  if (std::isnan(value)) return nullptr;
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}
double number_of(const json& value) {
  if (value.is_null()) return kUnknown;
  if (value.is_string()) return value == "inf" ? INFINITY : -INFINITY;
  return value.get<double>();
}

json to_json(const DiagnosticRecord& d) { return {d.severity, d.line, d.column, d.code, d.text}; }
json to_json(const KernelRecord& k) {
  return {k.name,         k.arch,        k.registers,     k.spill_bytes,       k.stack_bytes,
          k.shared_bytes, k.max_threads, k.blocks_per_sm, number(k.occupancy), k.occupancy_limiter};
}
json to_json(const CaseRecord& c) {
  return {c.verdict,
          c.label,
          c.kind,
          c.estimated,
          number(c.max_abs_error),
          number(c.max_rel_error),
          number(c.speedup),
          number(c.speedup_low),
          number(c.speedup_high),
          number(c.time_ns),
          number(c.baseline_ns),
          c.detail,
          c.samples_ns,
          c.baseline_samples_ns};
}
json to_json(const ValueRecord& v) { return {v.case_index, v.name, v.unit, number(v.value)}; }

DiagnosticRecord diagnostic_of(const json& j) {
  return {j.at(0), j.at(1), j.at(2), j.at(3), j.at(4)};
}
KernelRecord kernel_of(const json& j) {
  return {
      j.at(0), j.at(1), j.at(2), j.at(3), j.at(4), j.at(5), j.at(6), j.at(7), number_of(j.at(8)),
      j.at(9)};
}
CaseRecord case_of(const json& j) {
  return {j.at(0),
          j.at(1),
          j.at(2),
          j.at(3),
          number_of(j.at(4)),
          number_of(j.at(5)),
          number_of(j.at(6)),
          number_of(j.at(7)),
          number_of(j.at(8)),
          number_of(j.at(9)),
          number_of(j.at(10)),
          j.at(11),
          j.at(12),
          j.at(13)};
}
ValueRecord value_of(const json& j) { return {j.at(0), j.at(1), j.at(2), number_of(j.at(3))}; }

template <class List>
json list_of(const List& list) {
  json array = json::array();
  for (const auto& item : list) array.push_back(to_json(item));
  return array;
}
template <class T>
void read_list(const json& array, T (*read)(const json&), std::vector<T>* list) {
  for (const json& item : array) list->push_back(read(item));
}

void push_case(const CaseRecord& record, const EvaluationSink& sink) {
  krl_case c{};
  c.verdict = record.verdict;
  c.label = to_c(record.label);
  c.kind = record.kind;
  c.estimated = record.estimated ? 1 : 0;
  c.max_abs_error = record.max_abs_error;
  c.max_rel_error = record.max_rel_error;
  c.speedup = record.speedup;
  c.speedup_low = record.speedup_low;
  c.speedup_high = record.speedup_high;
  c.time_ns = record.time_ns;
  c.baseline_ns = record.baseline_ns;
  c.samples_ns = {record.samples_ns.data(), record.samples_ns.size()};
  c.baseline_samples_ns = {record.baseline_samples_ns.data(), record.baseline_samples_ns.size()};
  c.detail = to_c(record.detail);
  sink.add_case(c);
}

void push_kernel(const KernelRecord& record, const EvaluationSink& sink) {
  krl_kernel k{};
  k.name = to_c(record.name);
  k.arch = to_c(record.arch);
  k.registers = record.registers;
  k.spill_bytes = record.spill_bytes;
  k.stack_bytes = record.stack_bytes;
  k.shared_bytes = record.shared_bytes;
  k.max_threads = record.max_threads;
  k.blocks_per_sm = record.blocks_per_sm;
  k.occupancy = record.occupancy;
  k.occupancy_limiter = to_c(record.occupancy_limiter);
  sink.kernel(k);
}

}  // namespace

void push(const EvaluationRecord& record, const EvaluationSink& sink) {
  sink.identity(record.toolchain, record.device);
  if (!record.compile_log.empty()) sink.compile_log(record.compile_log);
  for (const DiagnosticRecord& d : record.diagnostics) {
    sink.diagnostic({0, d.severity, d.line, d.column, to_c(d.code), to_c(d.text)});
  }
  for (const KernelRecord& kernel : record.kernels) push_kernel(kernel, sink);
  for (const CaseRecord& c : record.cases) push_case(c, sink);
  for (const ValueRecord& v : record.values) sink.value(v.name, v.value, v.unit, v.case_index);
  sink.verdict(record.verdict, record.why);
}

std::string to_text(const EvaluationRecord& r) {
  const json text = {{"verdict", r.verdict},          {"why", r.why},
                     {"toolchain", r.toolchain},      {"device", r.device},
                     {"log", r.compile_log},          {"diagnostics", list_of(r.diagnostics)},
                     {"kernels", list_of(r.kernels)}, {"cases", list_of(r.cases)},
                     {"values", list_of(r.values)}};
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<EvaluationRecord> evaluation_from_text(std::string_view text) {
  try {
    const json j = json::parse(text);
    EvaluationRecord r;
    j.at("verdict").get_to(r.verdict);
    j.at("why").get_to(r.why);
    j.at("toolchain").get_to(r.toolchain);
    j.at("device").get_to(r.device);
    j.at("log").get_to(r.compile_log);
    read_list(j.at("diagnostics"), diagnostic_of, &r.diagnostics);
    read_list(j.at("kernels"), kernel_of, &r.kernels);
    read_list(j.at("cases"), case_of, &r.cases);
    read_list(j.at("values"), value_of, &r.values);
    return r;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string_view verdict_name(std::uint32_t verdict) {
  return verdict < kVerdictNames.size() ? kVerdictNames[verdict] : "unknown";
}

}  // namespace krl

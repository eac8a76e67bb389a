// An evaluation as a value: a backend's results for one candidate, case by case.
//
// Each struct lists its fields once, in `each_field`: the forms at the boundary (krl_case and the
// others of abi.h) and the JSON (evaluation_json.hpp) follow from that list. A new figure of a case
// is a member and its line in Case::each_field; plugins see it once krl_case has it at its end.
// Figures that nobody measured are kUnknown, counts that nobody knows are -1.
//
// Header-only, C++17, no dependencies. Plain data; const functions may run on many threads at once.
#pragma once

#include <kernelrl/growth.hpp>
#include <kernelrl/values.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace krl {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

enum class Verdict : std::uint32_t {
  kOk = KRL_VERDICT_OK,
  kFormatError = KRL_VERDICT_FORMAT_ERROR,
  kRejected = KRL_VERDICT_REJECTED,
  kCompileError = KRL_VERDICT_COMPILE_ERROR,
  kLaunchError = KRL_VERDICT_LAUNCH_ERROR,
  kRuntimeFault = KRL_VERDICT_RUNTIME_FAULT,
  kTimeout = KRL_VERDICT_TIMEOUT,
  kResourceLimit = KRL_VERDICT_RESOURCE_LIMIT,
  kWrongResult = KRL_VERDICT_WRONG_RESULT,
  kNondeterministic = KRL_VERDICT_NONDETERMINISTIC,
  kFlagged = KRL_VERDICT_FLAGGED,
  kInfraError = KRL_VERDICT_INFRA_ERROR,  // ours, not the candidate's: never scored
};

// The reason why a candidate ran on a shape; see KRL_CASE_*.
enum class CaseKind : std::uint32_t {
  kShown = KRL_CASE_SHOWN,
  kHoldout = KRL_CASE_HOLDOUT,
  kFresh = KRL_CASE_FRESH,
};

// The kind of a candidate: device code that the harness launches, or a program with host code.
enum class Contract : std::uint32_t {
  kDevice = KRL_CONTRACT_DEVICE,
  kHost = KRL_CONTRACT_HOST,  // its own host code runs too, so its results are trusted less
};

namespace detail {

// The names of an enum's values, in their order.
template <class Enum>
struct Names;
template <>
struct Names<Verdict> {
  static constexpr std::string_view kAll[] = {
      "ok",           "format_error",     "rejected", "compile_error",
      "launch_error", "runtime_fault",    "timeout",  "resource_limit",
      "wrong_result", "nondeterministic", "flagged",  "infra_error"};
};
template <>
struct Names<CaseKind> {
  static constexpr std::string_view kAll[] = {"shown", "holdout", "fresh"};
};
template <>
struct Names<Contract> {
  static constexpr std::string_view kAll[] = {"device", "host"};
};

}  // namespace detail

// "wrong_result", "holdout", "device"; "unknown" for a number that has no name.
template <class Enum, class = decltype(detail::Names<Enum>::kAll)>
constexpr std::string_view name_of(Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < std::size(detail::Names<Enum>::kAll) ? detail::Names<Enum>::kAll[index]
                                                      : std::string_view("unknown");
}
// named<Verdict>("wrong_result")
template <class Enum>
constexpr std::optional<Enum> named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(detail::Names<Enum>::kAll); ++i) {
    if (detail::Names<Enum>::kAll[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

// ---- the values ---------------------------------------------------------------------------------

struct Diagnostic {
  std::uint32_t severity = KRL_SEVERITY_ERROR;  // KRL_SEVERITY_*
  std::uint32_t line = 0, column = 0;           // from 1, in the candidate's source; 0 = unknown
  std::string code;                             // "-Wunused-variable"; may be empty
  std::string text;

  template <class Visit>
  static void each_field(const Visit& visit) {
    visit("severity", &Diagnostic::severity, &krl_diagnostic::severity);
    visit("line", &Diagnostic::line, &krl_diagnostic::line);
    visit("column", &Diagnostic::column, &krl_diagnostic::column);
    visit("code", &Diagnostic::code, &krl_diagnostic::code);
    visit("text", &Diagnostic::text, &krl_diagnostic::text);
  }
  friend bool operator==(const Diagnostic& a, const Diagnostic& b) {
    bool same = true;
    each_field([&](const char*, auto member, auto) { same = same && a.*member == b.*member; });
    return same;
  }
};

// One compiled kernel.
struct Kernel {
  std::string name, arch;       // "row_sum", "sm_90a"
  std::int32_t registers = -1;  // per thread
  std::int32_t spill_bytes = -1, stack_bytes = -1;
  std::int32_t shared_bytes = -1;  // per block
  std::int32_t max_threads = -1, blocks_per_sm = -1;
  double occupancy = kUnknown;    // theoretical, 0..1
  std::string occupancy_limiter;  // "registers", "shared memory", "threads", "blocks"

  template <class Visit>
  static void each_field(const Visit& visit) {
    visit("name", &Kernel::name, &krl_kernel::name);
    visit("arch", &Kernel::arch, &krl_kernel::arch);
    visit("registers", &Kernel::registers, &krl_kernel::registers);
    visit("spill_bytes", &Kernel::spill_bytes, &krl_kernel::spill_bytes);
    visit("stack_bytes", &Kernel::stack_bytes, &krl_kernel::stack_bytes);
    visit("shared_bytes", &Kernel::shared_bytes, &krl_kernel::shared_bytes);
    visit("max_threads", &Kernel::max_threads, &krl_kernel::max_threads);
    visit("blocks_per_sm", &Kernel::blocks_per_sm, &krl_kernel::blocks_per_sm);
    visit("occupancy", &Kernel::occupancy, &krl_kernel::occupancy);
    visit("occupancy_limiter", &Kernel::occupancy_limiter, &krl_kernel::occupancy_limiter);
  }
};

// One shape.
struct Case {
  std::string label;  // "rows=128 cols=1024"
  Verdict verdict = Verdict::kOk;
  CaseKind kind = CaseKind::kShown;
  bool estimated = false;  // times come from a model, not from a clock
  double max_abs_error = kUnknown, max_rel_error = kUnknown;
  double speedup = kUnknown;  // over the baseline: the median, then the ends of its 95 % interval
  double speedup_low = kUnknown, speedup_high = kUnknown;
  double time_ns = kUnknown, baseline_ns = kUnknown;    // medians
  std::vector<double> samples_ns, baseline_samples_ns;  // paired; empty where times are estimated
  std::string detail;                                   // the first wrong elements, or the fault

  bool passed() const { return verdict == Verdict::kOk; }
  bool timed() const { return std::isfinite(speedup_low); }

  template <class Visit>
  static void each_field(const Visit& visit) {
    visit("label", &Case::label, &krl_case::label);
    visit("verdict", &Case::verdict, &krl_case::verdict);
    visit("kind", &Case::kind, &krl_case::kind);
    visit("estimated", &Case::estimated, &krl_case::estimated);
    visit("max_abs_error", &Case::max_abs_error, &krl_case::max_abs_error);
    visit("max_rel_error", &Case::max_rel_error, &krl_case::max_rel_error);
    visit("speedup", &Case::speedup, &krl_case::speedup);
    visit("speedup_low", &Case::speedup_low, &krl_case::speedup_low);
    visit("speedup_high", &Case::speedup_high, &krl_case::speedup_high);
    visit("time_ns", &Case::time_ns, &krl_case::time_ns);
    visit("baseline_ns", &Case::baseline_ns, &krl_case::baseline_ns);
    visit("samples_ns", &Case::samples_ns, &krl_case::samples_ns);
    visit("baseline_samples_ns", &Case::baseline_samples_ns, &krl_case::baseline_samples_ns);
    visit("detail", &Case::detail, &krl_case::detail);
  }
};

// A counter or a derived figure.
struct Value {
  std::int32_t case_index = -1;  // -1 = of the whole evaluation
  std::string name, unit;        // "dram_bytes", "B"
  double value = 0;

  template <class Visit>
  static void each_field(const Visit& visit) {
    visit("case", &Value::case_index, &krl_value::case_index);
    visit("name", &Value::name, &krl_value::name);
    visit("unit", &Value::unit, &krl_value::unit);
    visit("value", &Value::value, &krl_value::value);
  }
};

struct Evaluation {
  Verdict verdict = Verdict::kInfraError;
  Contract contract = Contract::kDevice;  // the contract under which the candidate was evaluated
  std::string why;                        // one line: what made the verdict; empty if ok
  std::string backend, toolchain, device, compile_log;
  std::vector<Diagnostic> diagnostics;
  std::vector<Kernel> kernels;
  std::vector<Case> cases;
  std::vector<Value> values;

  bool passed() const { return verdict == Verdict::kOk; }
  bool infra_error() const { return verdict == Verdict::kInfraError; }
  bool compiled() const {
    return verdict != Verdict::kFormatError && verdict != Verdict::kRejected &&
           verdict != Verdict::kCompileError && !infra_error();
  }

  // Share of the cases, fresh ones among them and hold-outs aside, that passed, 0..1; 0 where none
  // was run.
  double pass_rate() const {
    std::size_t all = 0, good = 0;
    for (const Case& c : cases) {
      if (c.kind == CaseKind::kHoldout) continue;
      ++all;
      good += c.passed() ? 1 : 0;
    }
    return all == 0 ? 0 : static_cast<double>(good) / static_cast<double>(all);
  }
  // Geometric mean over the timed cases of the interval's lower end, so that noise earns nothing;
  // NaN = not timed.
  double speedup() const {
    double log_sum = 0;
    int timed = 0;
    for (const Case& c : cases) {
      if (c.kind != CaseKind::kShown || !c.timed()) continue;
      log_sum += std::log(c.speedup_low);
      ++timed;
    }
    return timed == 0 ? kUnknown : std::exp(log_sum / timed);
  }
  // The largest of all kernels; -1 = unknown.
  std::int32_t max_registers() const { return largest(&Kernel::registers); }
  std::int32_t max_shared_bytes() const { return largest(&Kernel::shared_bytes); }
  std::int32_t max_spill_bytes() const { return largest(&Kernel::spill_bytes); }
  // The smallest theoretical occupancy of the kernels whose occupancy is known, 0..1; NaN = of
  // none.
  double min_occupancy() const {
    double least = kUnknown;
    for (const Kernel& k : kernels) least = std::fmin(least, k.occupancy);
    return least;
  }
  // The mean over the cases of the value of that name, or the one of the whole evaluation.
  std::optional<double> value(std::string_view name) const {
    double sum = 0;
    int n = 0;
    for (const Value& v : values) {
      if (v.name == name) sum += v.value, ++n;
    }
    return n == 0 ? std::nullopt : std::optional(sum / n);
  }

  template <class Visit>
  static void each_field(const Visit& visit) {
    visit("verdict", &Evaluation::verdict, &krl_evaluation::verdict);
    visit("why", &Evaluation::why, &krl_evaluation::why);
    visit("backend", &Evaluation::backend, &krl_evaluation::backend);
    visit("toolchain", &Evaluation::toolchain, &krl_evaluation::toolchain);
    visit("device", &Evaluation::device, &krl_evaluation::device);
    visit("compile_log", &Evaluation::compile_log, &krl_evaluation::compile_log);
  }
  template <class Visit>
  static void each_list(const Visit& visit) {
    using C = krl_evaluation;
    visit("diagnostics", &Evaluation::diagnostics, &C::diagnostics, &C::n_diagnostics);
    visit("kernels", &Evaluation::kernels, &C::kernels, &C::n_kernels);
    visit("cases", &Evaluation::cases, &C::cases, &C::n_cases);
    visit("values", &Evaluation::values, &C::values, &C::n_values);
  }

 private:
  std::int32_t largest(std::int32_t Kernel::*figure) const {
    std::int32_t most = -1;
    for (const Kernel& k : kernels) most = (std::max)(most, k.*figure);
    return most;
  }
};

// ---- at the boundary ----------------------------------------------------------------------------

namespace detail {

template <class T, class C>
void put(T number, C& c) {
  c = static_cast<C>(number);
}
inline void put(const std::string& text, krl_str& c) { c = krl::to_c(text); }
inline void put(const std::vector<double>& numbers, krl_f64s& c) { c = f64s(numbers); }

template <class C, class T>
void take(C number, T& value) {
  value = static_cast<T>(number);
}
inline void take(krl_str c, std::string& text) { text = view(c); }
inline void take(krl_f64s c, std::vector<double>& numbers) {
  numbers.assign(c.data, c.data + c.size);
}

template <class C, class T>
C fields_to_c(const T& value) {
  C c{};
  c.struct_size = sizeof c;
  T::each_field([&](const char*, auto member, auto c_member) { put(value.*member, c.*c_member); });
  return c;
}
template <class T, class C>
T fields_from_c(const C& c) {
  T value;
  T::each_field([&](const char*, auto member, auto c_member) {
    if (has(c, c.*c_member)) take(c.*c_member, value.*member);
  });
  return value;
}

}  // namespace detail

// Each borrows the texts and arrays of the value.
inline krl_diagnostic to_c(const Diagnostic& d) { return detail::fields_to_c<krl_diagnostic>(d); }
inline krl_kernel to_c(const Kernel& k) { return detail::fields_to_c<krl_kernel>(k); }
inline krl_case to_c(const Case& c) { return detail::fields_to_c<krl_case>(c); }
inline krl_value to_c(const Value& v) { return detail::fields_to_c<krl_value>(v); }

// Each copies. Members that an older struct does not have keep their defaults.
inline Diagnostic from_c(const krl_diagnostic& c) { return detail::fields_from_c<Diagnostic>(c); }
inline Kernel from_c(const krl_kernel& c) { return detail::fields_from_c<Kernel>(c); }
inline Case from_c(const krl_case& c) { return detail::fields_from_c<Case>(c); }
inline Value from_c(const krl_value& c) { return detail::fields_from_c<Value>(c); }
inline Evaluation from_c(const krl_evaluation& c) {
  auto evaluation = detail::fields_from_c<Evaluation>(c);
  Evaluation::each_list([&](const char*, auto list, auto rows, auto size) {
    for (std::size_t i = 0; i < c.*size; ++i) (evaluation.*list).push_back(from_c(*(c.*rows)[i]));
  });
  return evaluation;
}

// An evaluation as krl_evaluation. Borrows from the evaluation, which must outlive it.
class EvaluationView {
 public:
  explicit EvaluationView(const Evaluation& evaluation)
      : c_(detail::fields_to_c<krl_evaluation>(evaluation)) {
    Evaluation::each_list([&](const char*, auto list, auto pointers, auto size) {
      using C = decltype(to_c((evaluation.*list).front()));
      auto& rows = std::get<Rows<C>>(rows_);
      rows = Rows<C>(evaluation.*list, [](const auto& value) { return to_c(value); });
      c_.*pointers = rows.data();
      c_.*size = rows.size();
    });
  }
  EvaluationView(const EvaluationView&) = delete;
  EvaluationView& operator=(const EvaluationView&) = delete;

  const krl_evaluation* c() const { return &c_; }

 private:
  std::tuple<Rows<krl_diagnostic>, Rows<krl_kernel>, Rows<krl_case>, Rows<krl_value>> rows_;
  krl_evaluation c_;
};

}  // namespace krl

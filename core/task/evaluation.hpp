// An evaluation: what a backend found out about one candidate.
#pragma once

#include <kernelrl/abi.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/task/contract.hpp"

namespace krl {

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

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

// "ok", "wrong_result", …
std::string_view name_of(Verdict verdict);
std::optional<Verdict> verdict_named(std::string_view name);

struct Diagnostic {
  std::uint32_t severity = KRL_SEVERITY_ERROR;
  std::uint32_t line = 0, column = 0;  // from 1, in the candidate's source; 0 = unknown
  std::string code, text;
};

struct KernelRecord {
  std::string name, arch, occupancy_limiter;
  std::int32_t registers = -1, spill_bytes = -1, stack_bytes = -1, shared_bytes = -1,
               max_threads = -1,
               blocks_per_sm = -1;  // -1 = the backend cannot know
  double occupancy = kNotMeasured;
};

// Why a candidate ran on a shape; see KRL_CASE_* of kernelrl/abi.h.
enum class CaseKind : std::uint32_t {
  kShown = KRL_CASE_SHOWN,
  kHoldout = KRL_CASE_HOLDOUT,
  kFresh = KRL_CASE_FRESH,
};

// "shown", "holdout", "fresh".
std::string_view name_of(CaseKind kind);

struct CaseRecord {
  std::string label;
  Verdict verdict = Verdict::kOk;
  CaseKind kind = CaseKind::kShown;
  bool estimated = false;
  double max_abs_error = kNotMeasured, max_rel_error = kNotMeasured;
  double speedup = kNotMeasured, speedup_low = kNotMeasured, speedup_high = kNotMeasured;
  double time_ns = kNotMeasured, baseline_ns = kNotMeasured;
  std::vector<double> samples_ns, baseline_samples_ns;
  std::string detail;
};

struct Value {
  std::int32_t case_index = -1;  // -1 = of the whole evaluation
  std::string name, unit;
  double value = 0;
};

struct Evaluation {
  Verdict verdict = Verdict::kInfraError;
  Contract contract = Contract::kDevice;  // that the candidate was evaluated under
  std::string why;
  std::string backend, toolchain, device, compile_log;
  std::vector<Diagnostic> diagnostics;
  std::vector<KernelRecord> kernels;
  std::vector<CaseRecord> cases;
  std::vector<Value> values;

  bool passed() const { return verdict == Verdict::kOk; }
  bool compiled() const {
    return verdict != Verdict::kFormatError && verdict != Verdict::kRejected &&
           verdict != Verdict::kCompileError && verdict != Verdict::kInfraError;
  }
  bool infra_error() const { return verdict == Verdict::kInfraError; }
  // Geometric mean over the timed cases of the lower end of the speedup's interval; NaN = not
  // timed.
  double speedup() const;
  // The mean over the cases of the value of that name.
  std::optional<double> value(std::string_view name) const;
};

// NaN becomes null and back.
nlohmann::json to_json(const Evaluation& evaluation);
Evaluation evaluation_from_json(const nlohmann::json& json);

}  // namespace krl

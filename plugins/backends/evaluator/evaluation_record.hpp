// An evaluation as a value: what a backend pushes into the host's sink, and what the cache keeps.
// Plain data; the meaning of each field is that of kernelrl/abi.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <kernelrl/backend.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/evaluator/compile/diagnostics.hpp"

namespace krl {

struct KernelRecord {
  std::string name, arch;
  std::int32_t registers = -1, spill_bytes = -1, stack_bytes = -1, shared_bytes = -1;
  std::int32_t max_threads = -1, blocks_per_sm = -1;
  double occupancy = kUnknown;
  std::string occupancy_limiter;
};

struct CaseRecord {
  std::uint32_t verdict = KRL_VERDICT_OK;
  std::string label;
  std::uint32_t kind = KRL_CASE_SHOWN;
  bool estimated = false;
  double max_abs_error = kUnknown, max_rel_error = kUnknown;
  double speedup = kUnknown, speedup_low = kUnknown, speedup_high = kUnknown;
  double time_ns = kUnknown, baseline_ns = kUnknown;
  std::string detail;
  std::vector<double> samples_ns, baseline_samples_ns;  // paired; empty where they are estimated
};

struct ValueRecord {
  std::int32_t case_index = -1;
  std::string name, unit;
  double value = 0;
};

struct EvaluationRecord {
  std::uint32_t verdict = KRL_VERDICT_OK;
  std::string why;
  std::string toolchain, device, compile_log;
  std::vector<DiagnosticRecord> diagnostics;
  std::vector<KernelRecord> kernels;
  std::vector<CaseRecord> cases;
  std::vector<ValueRecord> values;
  // A function of candidate and options alone. False where a clock decided: such an evaluation is
  // not kept. Not part of the record's text.
  bool repeatable = true;

  // Sets the verdict once; later calls change nothing, as the first failure is what counts.
  void fail(std::uint32_t failed_verdict, std::string reason) {
    if (verdict != KRL_VERDICT_OK) return;
    verdict = failed_verdict;
    why = std::move(reason);
  }
};

// Writes everything, the verdict last.
void push(const EvaluationRecord& record, const EvaluationSink& sink);

// As a text and back, losing nothing; no value if the text is none of ours.
std::string to_text(const EvaluationRecord& record);
std::optional<EvaluationRecord> evaluation_from_text(std::string_view text);

// "ok", "wrong_result", …
std::string_view verdict_name(std::uint32_t verdict);

}  // namespace krl

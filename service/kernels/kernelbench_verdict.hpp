// The verdict of KernelBench on a kernel, beside kernelrl's own: from an evaluation by its rules
// (protocol = "kernelbench" of the backends). Pure. See docs/kernelbench.md.
#pragma once

#include <kernelrl/evaluation.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace krl::service {

struct KernelBenchVerdict {
  // None: kernelrl did not run it, for a reason that KernelBench does not have.
  std::optional<bool> compiled, correct;
  double runtime_ms = kUnknown, reference_ms = kUnknown;  // means of the samples
  bool comparable = false;  // the times are of a GPU, at the published sizes
  std::string why;          // the reason why it is wrong
  // How kernelrl's verdict differs: "other_shapes", "other_inputs", "tolerance",
  // "nondeterministic", "fault", "changed_input", "flagged", "refused". Empty: it agrees.
  std::string difference;

  bool is_correct() const { return correct.value_or(false); }
  double speedup() const { return reference_ms / runtime_ms; }  // NaN if not timed
};

KernelBenchVerdict kernelbench_verdict(const Evaluation& own, const Evaluation& by_protocol);

// {"compiled": true, "correct": true, "runtime": 0.21, "ref_runtime": 0.42, "speedup": 2.0,
//  "comparable": true, "difference": "", "why": ""}; times in ms as in KernelBench, null: unknown.
nlohmann::ordered_json to_json(const KernelBenchVerdict& verdict);
KernelBenchVerdict kernelbench_verdict_of(const nlohmann::ordered_json& json);

// "kernelbench: correct, 0.21 ms, 2.00 x the reference; kernelrl differs: other_shapes\n".
std::string describe(const KernelBenchVerdict& verdict);

// Describes fast_p of one answer per problem: the share of all that is correct and more than p
// times as fast as the reference, for p = 0, 1, 2. "fast_0 0.50 fast_1 0.25 …"; only those with
// times count above 0.
std::string describe_fast_p(const std::vector<KernelBenchVerdict>& verdicts);

}  // namespace krl::service

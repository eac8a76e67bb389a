#include "service/kernels/kernelbench_verdict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace krl::service {
namespace {

using Json = nlohmann::ordered_json;

double mean_ms(const std::vector<double>& samples_ns, double otherwise_ns) {
  if (samples_ns.empty()) return otherwise_ns / 1e6;
  return std::accumulate(samples_ns.begin(), samples_ns.end(), 0.0) /
         static_cast<double>(samples_ns.size()) / 1e6;
}

// The first case that did not pass; null: all did.
const Case* failed_case(const Evaluation& evaluation) {
  const auto failed = std::find_if(evaluation.cases.begin(), evaluation.cases.end(),
                                   [](const Case& c) { return !c.passed(); });
  return failed == evaluation.cases.end() ? nullptr : &*failed;
}

// Explains why kernelrl refuses a kernel that is right by KernelBench's rules.
std::string stricter(const Evaluation& own, const Evaluation& by_protocol) {
  switch (own.verdict) {
    case Verdict::kRejected:
      return "refused";
    case Verdict::kNondeterministic:
      return "nondeterministic";
    case Verdict::kFlagged:
      return "flagged";
    case Verdict::kWrongResult:
      break;
    default:
      return "fault";
  }
  if (own.why.find("was changed") != std::string::npos) return "changed_input";
  const Case* const failed = failed_case(own);
  const bool published =
      failed != nullptr && std::any_of(by_protocol.cases.begin(), by_protocol.cases.end(),
                                       [&](const Case& c) { return c.label == failed->label; });
  return published ? "other_inputs" : "other_shapes";
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }
double number_in(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : kUnknown;
}

std::string formatted(const char* format, double value) {
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

}  // namespace

KernelBenchVerdict kernelbench_verdict(const Evaluation& own, const Evaluation& by_protocol) {
  KernelBenchVerdict verdict;
  const Verdict found = by_protocol.verdict;
  if (found == Verdict::kRejected || found == Verdict::kFormatError) {
    verdict.why = by_protocol.why;  // such text is never run
    return verdict;
  }
  verdict.compiled = found != Verdict::kCompileError;
  // A flagged kernel computed the right outputs: KernelBench only warns of great speedups.
  verdict.correct = found == Verdict::kOk || found == Verdict::kFlagged;
  if (!verdict.is_correct()) verdict.why = by_protocol.why;
  if (verdict.is_correct() && !by_protocol.cases.empty()) {
    const Case& timed = by_protocol.cases.front();
    verdict.runtime_ms = mean_ms(timed.samples_ns, timed.time_ns);
    verdict.reference_ms = mean_ms(timed.baseline_samples_ns, timed.baseline_ns);
    verdict.comparable = !timed.estimated && std::isfinite(verdict.speedup());
  }
  const bool own_ok = own.verdict == Verdict::kOk;
  if (verdict.is_correct() && !own_ok) verdict.difference = stricter(own, by_protocol);
  if (!verdict.is_correct() && own_ok) {
    verdict.difference = found == Verdict::kWrongResult ? "tolerance" : "fault";
  }
  return verdict;
}

Json to_json(const KernelBenchVerdict& verdict) {
  const auto known = [](const std::optional<bool>& value) { return value ? Json(*value) : Json(); };
  return {{"compiled", known(verdict.compiled)},
          {"correct", known(verdict.correct)},
          {"runtime", finite_or_null(verdict.runtime_ms)},
          {"ref_runtime", finite_or_null(verdict.reference_ms)},
          {"speedup", finite_or_null(verdict.speedup())},
          {"comparable", verdict.comparable},
          {"difference", verdict.difference},
          {"why", verdict.why}};
}

KernelBenchVerdict kernelbench_verdict_of(const Json& json) {
  KernelBenchVerdict verdict;
  if (json["compiled"].is_boolean()) verdict.compiled = json["compiled"].get<bool>();
  if (json["correct"].is_boolean()) verdict.correct = json["correct"].get<bool>();
  verdict.runtime_ms = number_in(json, "runtime");
  verdict.reference_ms = number_in(json, "ref_runtime");
  verdict.comparable = json.value("comparable", false);
  verdict.difference = json.value("difference", "");
  verdict.why = json.value("why", "");
  return verdict;
}

std::string describe(const KernelBenchVerdict& verdict) {
  std::string text = "kernelbench: ";
  if (!verdict.compiled) {
    text += "not run";
  } else if (!*verdict.compiled) {
    text += "does not compile";
  } else {
    text += verdict.is_correct() ? "correct" : "incorrect";
  }
  if (std::isfinite(verdict.runtime_ms)) text += ", " + formatted("%.4g ms", verdict.runtime_ms);
  if (std::isfinite(verdict.speedup()))
    text += ", " + formatted("%.2f x the reference", verdict.speedup());
  if (std::isfinite(verdict.runtime_ms) && !verdict.comparable) text += " (not comparable)";
  if (!verdict.difference.empty()) text += "; kernelrl differs: " + verdict.difference;
  return text + "\n";
}

std::string describe_fast_p(const std::vector<KernelBenchVerdict>& verdicts) {
  std::string text = "kernelbench:";
  for (const int p : {0, 1, 2}) {
    const auto fast =
        std::count_if(verdicts.begin(), verdicts.end(), [&](const KernelBenchVerdict& v) {
          return v.is_correct() && (p == 0 || (v.comparable && v.speedup() > p));
        });
    const double share =
        verdicts.empty() ? 0 : static_cast<double>(fast) / static_cast<double>(verdicts.size());
    text += "  fast_" + std::to_string(p) + " " + formatted("%.3f", share);
  }
  return text + "\n";
}

}  // namespace krl::service

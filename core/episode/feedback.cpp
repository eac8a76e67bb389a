#include "core/episode/feedback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace krl::core {
namespace {

constexpr std::size_t kLongest = 1200;     // characters of a result
constexpr std::size_t kLongestLine = 200;  // limit of one fact
constexpr int kErrorsShown = 3;

std::string shorten(std::string text, std::size_t most) {
  if (text.size() > most) {
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U)
      --most;  // not inside a code point
    text.resize(most);
    text += "…";
  }
  return text;
}

std::string source_line(const std::string& source, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < number && begin != std::string::npos; ++line) {
    begin = source.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (number == 0 || begin == std::string::npos) return {};
  return source.substr(begin, source.find('\n', begin) - begin);
}

// Returns the place as far as the compiler reports it.
std::string place_of(const Diagnostic& d) {
  if (d.line == 0) return {};
  return d.column == 0 ? fmt::format("line {}: ", d.line)
                       : fmt::format("line {}:{}: ", d.line, d.column);
}

// Returns the first diagnostics of this severity, with their lines of the source.
std::string diagnostics_of(const Candidate& candidate, const Evaluation& evaluation,
                           std::uint32_t severity) {
  std::string text;
  std::vector<std::string> seen;
  for (const Diagnostic& d : evaluation.diagnostics) {
    if (d.severity != severity || std::ranges::find(seen, d.text) != seen.end()) continue;
    if (static_cast<int>(seen.size()) == kErrorsShown) break;
    seen.push_back(d.text);
    text += shorten(place_of(d) + d.text, kLongestLine) + "\n";
    if (const std::string line = source_line(candidate.source, d.line); !line.empty()) {
      text += "  " + shorten(line, kLongestLine) + "\n";
    }
  }
  return text;
}

// Says how a kernel without a directive was launched, which is not what a beginner expects.
std::string note_on_default_launch(const Candidate& candidate, const Evaluation& evaluation) {
  const auto has = [&](std::string_view text) { return candidate.source.find(text) != text.npos; };
  const bool has_run =
      evaluation.verdict == Verdict::kWrongResult || evaluation.verdict == Verdict::kRuntimeFault;
  if (!has_run || evaluation.contract != Contract::kDevice || has("@launch") || !has("__global__"))
    return {};
  return "it has no // @launch name<<<grid, block>>>(arguments), so it was launched with one "
         "thread per output element in blocks of 256\n";
}

std::string failed_case(const Evaluation& evaluation) {
  for (const Case& c : evaluation.cases) {
    if (c.kind == CaseKind::kHoldout || c.verdict == Verdict::kOk) continue;
    std::vector<std::string> facts;
    if (evaluation.why.find(c.detail) == std::string::npos)
      facts.push_back(shorten(c.detail, 3 * kLongestLine));
    if (std::isfinite(c.max_abs_error))
      facts.push_back(fmt::format("largest error {:.3g}", c.max_abs_error));
    const char* kind = c.kind == CaseKind::kFresh ? " (fresh)" : "";
    return facts.empty() ? ""
                         : fmt::format("case {}{}: {}\n", c.label, kind, fmt::join(facts, "; "));
  }
  return {};
}

// Describes the potential gain in a case, as far as it is known: ", 2.10 times PyTorch, 0.31 of the
// roofline".
std::string headroom(const Evaluation& evaluation, std::size_t of_case) {
  std::string text;
  for (const auto& [name, meaning] :
       {std::pair("reference_speedup", "times PyTorch"), {"roofline", "of the roofline"}}) {
    for (const Value& v : evaluation.values) {
      if (v.name == name && v.case_index == static_cast<std::int64_t>(of_case))
        text += fmt::format(", {:.2f} {}", v.value, meaning);
    }
  }
  return text;
}

std::string speeds(const Evaluation& evaluation) {
  std::string text;
  for (std::size_t i = 0; i < evaluation.cases.size(); ++i) {
    const Case& c = evaluation.cases[i];
    if (c.kind != CaseKind::kShown || !std::isfinite(c.time_ns)) continue;
    text += fmt::format("case {}: {:.1f} us{}", c.label, c.time_ns / 1000,
                        c.estimated ? " (estimated)" : "");
    if (std::isfinite(c.speedup)) text += fmt::format(", {:.2f} times the baseline", c.speedup);
    if (c.speedup_high > c.speedup_low)
      text += fmt::format(" [{:.2f}, {:.2f}]", c.speedup_low, c.speedup_high);
    text += headroom(evaluation, i) + "\n";
  }
  return text;
}

std::string resources(const Evaluation& evaluation) {
  std::string text;
  for (const Kernel& k : evaluation.kernels) {
    std::vector<std::string> facts;
    if (k.registers >= 0) facts.push_back(fmt::format("{} registers", k.registers));
    if (k.spill_bytes > 0) facts.push_back(fmt::format("{} bytes spilled", k.spill_bytes));
    if (k.shared_bytes > 0)
      facts.push_back(fmt::format("{} bytes of shared memory", k.shared_bytes));
    if (std::isfinite(k.occupancy)) {
      facts.push_back(
          fmt::format("occupancy {:.0f} % (limit: {})", 100 * k.occupancy, k.occupancy_limiter));
    }
    if (!facts.empty()) text += fmt::format("{}: {}\n", k.name, fmt::join(facts, ", "));
  }
  if (const auto sectors = evaluation.value("sectors_per_request")) {
    text += fmt::format("{:.1f} sectors per global request\n", *sectors);
  }
  return text;
}

// True if warps touch at least twice the sectors that they need. Without the figure, a width of 8
// bytes is assumed where the code has no vectors, and nothing where it has.
bool is_badly_coalesced(const Evaluation& evaluation) {
  if (const auto share = evaluation.value("coalescing")) return *share > 0 && *share < 0.5;
  return evaluation.value("vector_accesses").value_or(0) == 0 &&
         evaluation.value("sectors_per_request").value_or(0) > 16;
}

}  // namespace

std::string describe_result(const Candidate& candidate, const Evaluation& evaluation) {
  std::string text = std::string(name_of(evaluation.verdict));
  if (!evaluation.why.empty()) text += ": " + shorten(evaluation.why, 2 * kLongestLine);
  text += "\n";
  if (evaluation.passed()) {
    text += speeds(evaluation) + resources(evaluation) + describe_advice(evaluation);
  } else if (evaluation.verdict == Verdict::kCompileError) {
    text += diagnostics_of(candidate, evaluation, KRL_SEVERITY_ERROR);
  } else {
    text += failed_case(evaluation) + note_on_default_launch(candidate, evaluation) +
            diagnostics_of(candidate, evaluation, KRL_SEVERITY_NOTE);
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return shorten(std::move(text), kLongest);
}

std::string describe_advice(const Evaluation& evaluation) {
  const auto at_least = [&](std::string_view name, double limit) {
    const auto value = evaluation.value(name);
    return value && *value >= limit;
  };
  for (const Kernel& k : evaluation.kernels) {
    if (k.spill_bytes > 0)
      return "Advice: registers spill; keep fewer values alive or use smaller tiles.";
  }
  if (is_badly_coalesced(evaluation)) {
    return "Advice: accesses are not coalesced; let neighbouring threads read neighbouring "
           "addresses.";
  }
  if (at_least("bank_conflicts_per_request", 1))
    return "Advice: shared memory has bank conflicts; pad the rows.";
  if (at_least("bandwidth_fraction", 0.7))
    return "Advice: memory bandwidth is nearly used up; move fewer bytes.";
  const auto vectors = evaluation.value("vector_accesses");
  if (vectors && *vectors == 0)
    return "Advice: try wider loads (float4), or more work for each thread.";
  return {};
}

std::vector<std::pair<std::string, double>> limits_of(const Evaluation& evaluation) {
  constexpr std::string_view kShare = "share_";
  std::vector<std::pair<std::string, double>> limits;
  for (const Value& value : evaluation.values) {
    if (value.name.starts_with(kShare) && value.case_index == 0 && value.value >= 0.05)
      limits.emplace_back(value.name.substr(kShare.size()), value.value);
  }
  std::ranges::sort(limits, std::greater(),
                    [](const auto& limit) { return std::pair(limit.second, limit.first); });
  return limits;
}

std::string describe_limits(const Evaluation& evaluation) {
  std::vector<std::string> texts;
  for (const auto& [part, share] : limits_of(evaluation))
    texts.push_back(fmt::format("{} {:.0f} %", part, 100 * share));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string describe_briefly(const Evaluation& evaluation) {
  if (!evaluation.passed()) {
    if (evaluation.verdict == Verdict::kCompileError) {
      for (const Diagnostic& d : evaluation.diagnostics) {
        if (d.severity == KRL_SEVERITY_ERROR)
          return shorten(fmt::format("line {}: {}", d.line, d.text), kLongestLine);
      }
    }
    return shorten(evaluation.why, kLongestLine);
  }
  const double speedup = evaluation.speedup();
  return std::isfinite(speedup) ? fmt::format("{:.2f} times the baseline", speedup)
                                : std::string("correct");
}

std::string describe_prospects(const Evaluation& evaluation) {
  if (!evaluation.passed()) return {};
  const auto share = evaluation.value("roofline");
  const std::string advice = describe_advice(evaluation);
  return (share ? fmt::format(", {:.2f} of the roofline", *share) : std::string()) +
         (advice.empty() ? "" : ". " + advice);
}

std::vector<std::string_view> strategies_of(const Evaluation& evaluation) {
  std::vector<std::string_view> found;
  const auto executed = [&](std::string_view name) {
    return evaluation.value(name).value_or(0) > 0;
  };
  if (executed("vector_accesses")) found.push_back("vectorised accesses");
  if (std::ranges::any_of(evaluation.kernels, [](const Kernel& k) { return k.shared_bytes > 0; })) {
    found.push_back("shared memory");
  }
  if (executed("shuffles")) found.push_back("warp shuffles");
  if (executed("atomics")) found.push_back("atomics");
  if (evaluation.kernels.size() > 1) found.push_back("several launches");
  return found;
}

std::string describe_strategies(const Evaluation& evaluation) {
  return fmt::format("{}", fmt::join(strategies_of(evaluation), ", "));
}

}  // namespace krl::core

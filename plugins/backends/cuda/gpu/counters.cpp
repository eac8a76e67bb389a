#include "plugins/backends/cuda/gpu/counters.hpp"

#include <cmath>
#include <kernelrl/values.hpp>
#include <utility>

namespace krl {
namespace {

using nlohmann::json;

constexpr int kStarts = 2;  // of its process, for one reading

double value_of(const std::vector<gpu::Counter>& counters, std::string_view name) {
  for (const gpu::Counter& counter : counters) {
    if (counter.name == name) return counter.value;
  }
  return kUnknown;
}

}  // namespace

const std::string& Counters::problem() {
  if (!problem_ && start_.program.empty()) problem_ = "counters are off";
  if (!problem_) {
    problem_ = start() ? "" : failure_;
  }
  return *problem_;
}

bool Counters::start() {
  Command command;
  command.arguments = {start_.program};
  command.environment = start_.environment;
  try {
    profiler_ = std::make_unique<Conversation>(std::move(command));
  } catch (const Failure& failure) {
    failure_ = failure.what();
    return false;
  }
  const auto ready = ask("setup", start_.setup, gpu::kSetupLimit);
  if (ready) ready_ = ready->get<gpu::ProfilerReady>();
  return ready.has_value();
}

std::optional<json> Counters::ask(const char* kind, const json& request,
                                  std::chrono::milliseconds limit) {
  auto answer = profiler_->ask({{kind, request}}, limit);
  const bool trouble = answer && answer->is_object() && answer->contains("trouble");
  if (answer && !trouble) return answer;
  if (trouble) {
    failure_ = answer->at("trouble").at("message").get<std::string>();
  } else {
    const std::string said = profiler_->complaint();
    failure_ = std::string("the profiler ") + (profiler_->timed_out() ? "hangs" : "ended") +
               " at '" + kind + "'" + (said.empty() ? "" : ": " + said);
  }
  profiler_.reset();
  return std::nullopt;
}

void Counters::add(const GpuCandidate& candidate, const std::vector<PlannedRun>& runs,
                   EvaluationRecord* record) {
  if (!problem().empty()) return;
  for (int attempt = 0; attempt < kStarts; ++attempt) {
    std::vector<ValueRecord> values;
    if (!count(candidate, runs, *record, &values)) continue;
    record->values.insert(record->values.end(), values.begin(), values.end());
    return;
  }
  DiagnosticRecord note;
  note.severity = KRL_SEVERITY_NOTE;
  note.text = "no hardware counters: " + failure_;
  record->diagnostics.push_back(std::move(note));
  record->repeatable = false;
}

bool Counters::count(const GpuCandidate& candidate, const std::vector<PlannedRun>& runs,
                     const EvaluationRecord& record, std::vector<ValueRecord>* values) {
  if (!profiler_ && !start()) return false;
  if (!ask("load", candidate.load(), start_.run_limit)) return false;
  for (const PlannedRun& run : runs) {
    if (!run.counted) continue;
    const gpu::Run request{candidate.buffers(run.case_index).program, run.seed,
                           factor_of(run.distribution)};
    const auto limit = start_.run_limit * static_cast<int>(ready_.passes + 1);
    const auto answer = ask("profile", request, limit);
    if (!answer) return false;
    const auto counters = answer->get<std::vector<gpu::Counter>>();
    const auto index = static_cast<std::int32_t>(run.case_index);
    for (const gpu::Counter& counter : counters) {
      values->push_back({index, counter.name, counter.unit, counter.value});
    }
    const double seconds = 1e-9 * record.cases[run.case_index].time_ns;
    const double fraction = value_of(counters, "dram_bytes") / seconds / start_.bandwidth;
    if (!std::isfinite(fraction)) continue;
    values->push_back({index, "bandwidth_fraction", "", fraction});
    values->push_back({index, "dram_utilisation", "", fraction});
  }
  return true;
}

}  // namespace krl

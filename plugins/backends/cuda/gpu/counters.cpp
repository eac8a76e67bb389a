#include "plugins/backends/cuda/gpu/counters.hpp"

#include <cmath>
#include <kernelrl/values.hpp>
#include <utility>

#include "plugins/backends/cuda/gpu/correctness.hpp"

namespace krl::cuda {
using namespace evaluator;
namespace {

using nlohmann::json;

constexpr int kStarts = 2;  // process starts for one reading

double value_of(const std::vector<gpu::Counter>& counters, std::string_view name) {
  for (const gpu::Counter& counter : counters) {
    if (counter.name == name) return counter.value;
  }
  return kUnknown;
}

}  // namespace

Counters::Counters(ProfilerStart start) : start_(std::move(start)) {
  if (start_.runner.empty()) return;
  ncu_.emplace(
      NcuStart{start_.program, start_.runner, start_.environment, start_.setup, start_.run_limit});
}

const std::string& Counters::problem() {
  if (problem_) return *problem_;
  if (start_.program.empty()) {
    problem_ = "counters are off";
  } else if (ncu_) {
    problem_ = ncu_->problem();
  } else {
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
  std::vector<std::size_t> cases;
  std::vector<gpu::Run> counted;
  for (const PlannedRun& run : runs) {
    if (!run.counted) continue;
    cases.push_back(run.case_index);
    counted.push_back({candidate.buffers(run.case_index).program, 0, drawn_inputs(run)});
  }
  const gpu::Load load = candidate.load();
  for (int attempt = 0; attempt < kStarts; ++attempt) {
    const auto counters = ncu_ ? count_by_ncu(load, counted) : count(load, counted);
    if (!counters) continue;
    for (std::size_t i = 0; i < cases.size(); ++i) add_values(cases[i], (*counters)[i], record);
    return;
  }
  Diagnostic note;
  note.severity = KRL_SEVERITY_NOTE;
  note.text = "no hardware counters: " + failure_;
  record->diagnostics.push_back(std::move(note));
  record->repeatable = false;
}

std::optional<Counters::OfRuns> Counters::count(const gpu::Load& load,
                                                const std::vector<gpu::Run>& runs) {
  if (!profiler_ && !start()) return std::nullopt;
  if (!ask("load", load, start_.run_limit)) return std::nullopt;
  OfRuns counters;
  for (const gpu::Run& run : runs) {
    const auto answer = ask("profile", run, start_.run_limit * static_cast<int>(ready_.passes + 1));
    if (!answer) return std::nullopt;
    counters.push_back(answer->get<std::vector<gpu::Counter>>());
  }
  return counters;
}

std::optional<Counters::OfRuns> Counters::count_by_ncu(const gpu::Load& load,
                                                       const std::vector<gpu::Run>& runs) {
  auto counters = ncu_->profile(load, runs);
  if (counters) return *std::move(counters);
  failure_ = counters.error();
  return std::nullopt;
}

void Counters::add_values(std::size_t case_index, const std::vector<gpu::Counter>& counters,
                          EvaluationRecord* record) const {
  const auto index = static_cast<std::int32_t>(case_index);
  const auto add = [&](std::string name, std::string unit, double value) {
    record->values.push_back({index, std::move(name), std::move(unit), value});
  };
  for (const gpu::Counter& counter : counters) add(counter.name, counter.unit, counter.value);
  const double seconds = 1e-9 * record->cases[case_index].time_ns;
  const double fraction = value_of(counters, "dram_bytes") / seconds / start_.bandwidth;
  if (!std::isfinite(fraction)) return;
  for (const char* name : {"bandwidth_fraction", "dram_utilisation"}) add(name, "", fraction);
}

}  // namespace krl::cuda

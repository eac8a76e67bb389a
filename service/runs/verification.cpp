#include "service/runs/verification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/hash.hpp"
#include "core/episode/evaluations.hpp"
#include "core/run/ledger.hpp"
#include "core/task/answer.hpp"
#include "service/runs/kept_files.hpp"

namespace krl::service {
namespace {

using nlohmann::json;

// A recorded evaluation and the kernel that it is about.
struct Figure {
  std::string task, place;  // "row_sum", "iteration 12"
  std::string source;
  Shapes shapes = Shapes::kTraining;
  Evaluation recorded;  // without cases if the ledger does not have it any more
};

// The evaluations of a ledger, as far as samples must be matched with them.
struct Recorded {
  std::map<std::pair<std::string, double>, Evaluation> passed;  // by task and speedup
  std::set<std::string> keys;
};

Result<Recorded> read_recorded(const RunLayout& run) {
  Recorded recorded;
  std::error_code error;
  if (!std::filesystem::exists(run.ledger(), error)) return recorded;
  KRL_TRY(read_ledger(run.ledger(), [&](const LedgerRecord& record) {
    if (record.key.empty()) return true;  // it was not judged
    recorded.keys.insert(record.key);
    const double speedup = record.evaluation.speedup();
    if (std::isfinite(speedup)) recorded.passed[{record.task, speedup}] = record.evaluation;
    return true;
  }));
  return recorded;
}

std::string digest_of(const Figure& figure) {
  return sha256_hex(figure.task + '\n' + figure.source);
}

// Nothing if no kernel was judged.
std::optional<Figure> figure_of(const json& sample, int iteration, bool in_thought,
                                const Recorded& recorded) {
  Figure figure{sample.at("task"), fmt::format("iteration {}", iteration), {}, {}, {}};
  const auto verdict = named<Verdict>(sample.at("verdict").get<std::string>());
  if (!verdict || *verdict == Verdict::kFormatError || *verdict == Verdict::kInfraError)
    return std::nullopt;
  Answer answer;
  answer.text = sample.at("answer");
  figure.source = extract_candidate(answer, in_thought).source;
  if (figure.source.empty()) return std::nullopt;
  figure.recorded.verdict = *verdict;
  const json& speedup = sample.at("speedup");
  if (!speedup.is_number()) return figure;
  const auto known = recorded.passed.find({figure.task, speedup.get<double>()});
  if (known != recorded.passed.end()) figure.recorded = known->second;
  return figure;
}

// The kernels of samples/, each once.
Result<std::vector<Figure>> read_samples(const RunLayout& run, bool in_thought,
                                         const Recorded& recorded) {
  std::map<std::string, Figure> figures;  // by digest
  KRL_TRY(each_sample(run, [&](const json& sample, int iteration) -> Status {
    if (auto figure = figure_of(sample, iteration, in_thought, recorded))
      figures.try_emplace(digest_of(*figure), std::move(*figure));
    return {};
  }));
  std::vector<Figure> all;
  for (auto& [digest, figure] : figures) all.push_back(std::move(figure));
  return all;
}

Result<std::vector<Figure>> read_best(const RunLayout& run) {
  KRL_ASSIGN(std::vector<BestKernel> kernels, read_best_kernels(run));
  std::vector<Figure> figures;
  for (BestKernel& kernel : kernels)
    figures.push_back({kernel.task, "best", kernel.source, Shapes::kAll, kernel.evaluation});
  return figures;
}

// "1.90 to 2.10 times the baseline".
std::string times(const Case& c) {
  return fmt::format("{:.4g} to {:.4g} times the baseline", c.speedup_low, c.speedup_high);
}

// Estimates repeat up to rounding, and have no interval.
constexpr double kRounding = 1e-6;

bool overlap(const Case& a, const Case& b) {
  return a.speedup_low <= b.speedup_high * (1 + kRounding) &&
         b.speedup_low <= a.speedup_high * (1 + kRounding);
}

// Describes how an evaluation differs from the recorded one; empty if it does not.
std::string difference(const Evaluation& recorded, const Evaluation& found) {
  if (recorded.verdict != found.verdict) {
    return fmt::format("{} was recorded, {} here{}{}", name_of(recorded.verdict),
                       name_of(found.verdict), found.why.empty() ? "" : ": ", found.why);
  }
  if (recorded.device != found.device) return {};
  for (const Case& was : recorded.cases) {
    if (was.kind != CaseKind::kShown || !was.timed()) continue;
    const auto now = std::ranges::find_if(found.cases, [&](const Case& c) {
      return c.kind == CaseKind::kShown && c.label == was.label;
    });
    if (now == found.cases.end() || !now->timed())
      return fmt::format("{}: {} was recorded, not timed here", was.label, times(was));
    if (!overlap(was, *now))
      return fmt::format("{}: {} was recorded, {} here", was.label, times(was), times(*now));
  }
  return {};
}

// Switches off what would answer from memory.
BackendSettings without_caches(BackendSettings settings) {
  const auto switch_off = [](ComponentSettings& backend) {
    if (backend.options.contains("cache")) backend.options["cache"] = "off";
  };
  switch_off(settings);
  for (ComponentSettings& before : settings.before) switch_off(before);
  if (settings.sanitizer) switch_off(*settings.sanitizer);
  return settings;
}

class Recheck {
 public:
  Recheck(const Evaluations& evaluations, const std::vector<Task>& tasks, const Differs& differs,
          Verification& counts)
      : evaluations_(evaluations), differs_(differs), counts_(counts) {
    for (const Task& task : tasks) tasks_.emplace(task.id, &task);
  }

  Status run(const std::vector<Figure>& figures) {
    evaluations_.side_by_side(figures.size(), [&](std::size_t i) { compare(figures[i]); });
    return ended_;
  }

 private:
  void compare(const Figure& figure) {
    const auto task = tasks_.find(figure.task);
    if (task == tasks_.end()) return count(figure, "its task is not in the plan");
    if (!go_on()) return;
    const auto found =
        evaluations_.evaluate(*task->second, {figure.source, {}, Format::kExact}, 0, figure.shapes);
    if (!found) return end(found.error());
    if (found->evaluation.infra_error())
      return count(figure, "not judged: " + found->evaluation.why);
    count(figure, found->evaluation);
  }

  void count(const Figure& figure, const std::string& why_not_judged) {
    const std::lock_guard lock(mutex_);
    ++counts_.not_judged;
    differs_(figure.task + ", " + figure.place, why_not_judged);
  }

  void count(const Figure& figure, const Evaluation& found) {
    const std::lock_guard lock(mutex_);
    ++(figure.shapes == Shapes::kAll ? counts_.best : counts_.samples);
    const bool timed = std::isfinite(figure.recorded.speedup());
    counts_.other_device += timed && figure.recorded.device != found.device ? 1 : 0;
    const std::string how = difference(figure.recorded, found);
    if (how.empty()) return;
    ++counts_.differ;
    differs_(figure.task + ", " + figure.place, how);
  }

  bool go_on() {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(ended_);
  }
  void end(Error error) {
    const std::lock_guard lock(mutex_);
    if (ended_) ended_ = failure(std::move(error));
  }

  const Evaluations& evaluations_;
  std::map<std::string, const Task*> tasks_;  // by id
  std::mutex mutex_;                          // guards the members below
  const Differs& differs_;
  Verification& counts_;
  Status ended_;  // an error that concerns all of them
};

}  // namespace

Result<Verification> verify_run(const RunLayout& run, const std::vector<Task>& tasks,
                                const VerificationOptions& options, Components& components,
                                const Differs& differs) {
  Verification counts;
  KRL_ASSIGN(std::vector<Figure> figures, read_best(run));
  if (!options.only_best) {
    KRL_ASSIGN(const Recorded recorded, read_recorded(run));
    KRL_ASSIGN(std::vector<Figure> samples,
               read_samples(run, options.rollout.in_thought, recorded));
    const std::size_t known = figures.size() + samples.size();
    counts.without_source = std::max(recorded.keys.size(), known) - known;
    samples.resize(std::min(samples.size(), options.sample.value_or(samples.size())));
    std::ranges::move(samples, std::back_inserter(figures));
  }
  KRL_ASSIGN(const JudgeBackends backends,
             open_backends(without_caches(options.backend), components));
  const Evaluations evaluations(Judge(backends), options.run_seed, nullptr,
                                options.rollout.contract);
  KRL_TRY(Recheck(evaluations, tasks, differs, counts).run(figures));
  return counts;
}

}  // namespace krl::service

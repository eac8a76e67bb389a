#include "core/journal/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/clock.hpp"
#include "core/base/hash.hpp"
#include "core/base/log.hpp"
#include "core/episode/sample_record.hpp"
#include "core/plan/printer.hpp"
#include "core/plugin/crash.hpp"
#include "core/run/plan_changes.hpp"
#include "core/run/run_record.hpp"

namespace krl::core {
namespace {

using nlohmann::json;

CheckpointsKept checkpoints_kept(const CheckpointSettings& settings) {
  return {settings.keep == 0 ? std::numeric_limits<int>::max() : static_cast<int>(settings.keep),
          static_cast<int>(settings.keep_every),
          settings.best ? settings.best->expression.text() : std::string()};
}

std::vector<PluginRecord> plugin_records(const Registry& registry) {
  std::vector<PluginRecord> records;
  for (const auto& [key, c] : registry.all()) {
    records.push_back({fmt::format("{}/{}", name_of(c.kind), c.id), c.plugin.version,
                       c.plugin.path.string(),
                       sha256_of_file(c.plugin.path).value_or("unreadable")});
  }
  return records;
}

// Returns the settings of a stage that may change once it is over: it continues if they differ from
// those it ended with.
json length_of(const StageSettings& stage) {
  if (!stage.plays()) return nullptr;
  json length = {{"iterations", stage.rl.iterations},
                 {"until", stage.rl.until ? stage.rl.until->expression.text() : ""}};
  if (stage.rl.until_window > 1) length["until_window"] = stage.rl.until_window;
  if (stage.kind == StageKind::kSearch) {
    const BudgetSettings& budget = stage.search.budget;
    length["budget"] = {budget.kernels, budget.tokens, budget.minutes, budget.dollars};
  }
  return length;
}

}  // namespace

json Position::to_json() const {
  return {{"iteration", iteration},
          {"stage", stage},
          {"stage_iteration", stage_iteration},
          {"curriculum", curriculum},
          {"goal", goal},
          {"archive", archive},
          {"judged", judged},
          {"budget", budget},
          {"discovery", discovery},
          {"best", best},
          {"ended", ended}};
}

Position Position::from_json(const json& j) {
  return {j.at("iteration").get<int>(),
          j.at("stage").get<std::size_t>(),
          j.at("stage_iteration").get<std::int64_t>(),
          j.at("curriculum"),
          j.value("goal", json()),
          j.value("archive", json()),
          j.value("judged", json()),
          j.value("budget", json()),
          j.value("discovery", json()),
          j.value("best", json()),
          j.value("ended", json())};
}

void Position::end_stage(const StageSettings& done) {
  ended = {{"stage_iteration", stage_iteration},
           {"curriculum", std::move(curriculum)},
           {"goal", std::move(goal)},
           {"archive", std::move(archive)},
           {"judged", std::move(judged)},
           {"budget", std::move(budget)},
           {"length", length_of(done)}};
  ++stage;
  stage_iteration = 0;
  curriculum = goal = archive = judged = budget = nullptr;
}

bool Position::over(std::size_t stages) const {
  return stage == stages && stage_iteration == 0 && !ended.is_null();
}

void Position::reopen_if_longer(const std::vector<StageSettings>& stages) {
  if (!over(stages.size()) || ended.at("length") == length_of(stages.back())) return;
  --stage;
  stage_iteration = ended.at("stage_iteration").get<std::int64_t>();
  curriculum = ended.at("curriculum");
  goal = ended.value("goal", json());
  archive = ended.value("archive", json());
  judged = ended.value("judged", json());
  budget = ended.value("budget", json());
}

Result<std::unique_ptr<Journal>> Journal::open(const Plan& plan, const Registry& registry,
                                               bool resume,
                                               const std::vector<std::string>& command_line,
                                               RunObserver& observer) {
  const OpenMode mode = resume ? OpenMode::kResume : OpenMode::kNew;
  KRL_ASSIGN(RunDirectory directory, RunDirectory::open(plan.run.directory, mode));
  std::string program = command_line.empty() ? std::string() : command_line.front();
  std::unique_ptr<Journal> journal(
      new Journal(plan, std::move(directory), std::move(program), observer));
  if (Status begun = journal->begin(resume, registry, command_line); !begun) {
    log_lines(Severity::kError, begun.error().message);
    return failure(std::move(begun).error());
  }
  return journal;
}

Journal::~Journal() { stop_log(); }

Status Journal::begin(bool resume, const Registry& registry,
                      const std::vector<std::string>& command_line) {
  KRL_TRY(start_log(directory_.layout().log(), plan_.log.level));
  if (resume && !directory_.resumed())
    warn("there was no run in " + root().string() + ": starting a new one");
  if (directory_.replaced())
    warn("the previous run in " + root().string() +
         " had not finished any iteration: this one replaces it");
  KRL_TRY(open_files());
  return record_start(registry, command_line);
}

Status Journal::open_files() {
  KRL_ASSIGN(ResumePoint point, find_resume_point(directory_, checkpoints_kept(plan_.checkpoint)));
  KRL_TRY(continue_plan(point.checkpoint));
  KRL_ASSIGN(files_, RunFiles::open(directory_, std::move(point), plan_.log.tensorboard));
  for (const std::string& warning : files_->warnings()) warn(warning);
  return {};
}

// Checks that changes of the plan since the run began do not affect its past.
Status Journal::continue_plan(const std::optional<Checkpoint>& newest) {
  const std::string plan = print_plan(plan_);
  if (directory_.resumed() && newest) {
    const json state = json::parse(newest->state);
    // plan.toml is what `runs resume` reads, so people edit it; older checkpoints have no plan.
    KRL_ASSIGN(std::string before, directory_.read_plan());
    if (state.contains("plan")) before = state.at("plan").get<std::string>();
    KRL_ASSIGN(const std::vector<PlanChange> changes,
               plan_changes(before, plan, default_keys(*plan_.document)));
    const Position position = Position::from_json(state);
    const bool over = position.over(plan_.stages.size());
    const Reached reached{static_cast<int>(position.stage) - (over ? 1 : 0), over};
    KRL_TRY(check_resumable(changes, reached,
                            newest->learned() ? newest->directory : std::filesystem::path()));
    for (const PlanChange& change : changes)
      log(Severity::kInfo, fmt::format("continues with a changed plan: {}", text_of(change)));
  }
  return directory_.write_plan(plan);
}

Status Journal::record_start(const Registry& registry,
                             const std::vector<std::string>& command_line) {
  std::error_code ignored;
  KRL_ASSIGN(const std::vector<std::string> differences,
             krl::core::record_start(
                 directory_.files(), directory_.layout().record(),
                 {KERNELRL_VERSION, command_line, std::filesystem::current_path(ignored),
                  plan_.file, plugin_records(registry), this_machine(), unix_seconds()}));
  for (const std::string& difference : differences) warn(difference);
  if (checkpoint()) {
    status_.iteration = checkpoint()->iteration;
    if (const auto before = read_status(directory_.layout().status()))
      status_.stage = before->stage;
  }
  set_last_words_hint(what_stands());
  return directory_.beat(status_);
}

Status Journal::note_documents(const std::map<std::string, std::string>& of_stages) {
  KRL_ASSIGN(const std::vector<std::string> changed,
             record_documents(directory_.files(), directory_.layout().record(), of_stages));
  for (const std::string& stage : changed)
    warn(
        fmt::format("the documents that stage '{}' retrieves from have changed since the run was "
                    "last started: it goes on with those that are there now",
                    stage));
  return {};
}

void Journal::warn(const std::string& text) {
  log_lines(Severity::kWarning, text);
  observer_.warning(text);
}

void Journal::stage_started(const StageSettings& stage, const Position& position,
                            std::size_t stages, std::int64_t planned) {
  started_ = true;
  status_.stage = stage.name;
  log(Severity::kInfo, fmt::format("stage '{}' ({} of {}) after {} of its iterations", stage.name,
                                   position.stage + 1, stages, position.stage_iteration));
  observer_.stage_started({stage.name, static_cast<int>(position.stage) + 1,
                           static_cast<int>(stages), static_cast<int>(planned),
                           static_cast<int>(position.stage_iteration)});
}

Status Journal::iteration_finished(const Position& position, const std::string& stage,
                                   Metrics values) {
  const IterationMetrics metrics{position.iteration, stage, unix_seconds(), std::move(values)};
  KRL_TRY(files_->finish_iteration(metrics, std::exchange(samples_, {})));
  observer_.iteration_finished(metrics);
  status_.iteration = position.iteration;
  set_last_words_hint(what_stands());
  return directory_.beat(status_);
}

std::string Journal::what_stands() const {
  return fmt::format("{} is complete up to iteration {}; resume with: {}", root().string(),
                     status_.iteration, resume_command(program_, root()));
}

void Journal::keep_samples(int iteration, const std::vector<Episode>& episodes,
                           const std::vector<std::string>& terms) {
  if (plan_.log.samples_every == 0 || iteration % plan_.log.samples_every != 0) return;
  for (const Episode& episode : episodes)
    for (const json& record : sample_records(episode, terms))
      samples_.push_back(sample_line(record));
}

Status Journal::save_checkpoint(const Position& position, const Policy& policy) {
  const auto save = [&](const std::filesystem::path& folder) {
    return plan_.learns() ? policy.save(folder.string()) : Status();
  };
  const auto forget = [&](const std::filesystem::path& folder) {
    const Status forgotten = plan_.learns() ? policy.forget(folder.string()) : Status();
    if (!forgotten) warn(forgotten.error().message);
  };
  json state = position.to_json();
  state["policy"] = plan_.policy.use;
  if (!plan_.learns()) state["learned"] = false;
  state["plan"] = print_plan(plan_);
  // The state at the beginning of a later stage is kept, so that it can be measured and started
  // from.
  const bool begins_stage =
      position.stage > 0 && position.stage_iteration == 0 && position.stage < plan_.stages.size();
  return files_->save_checkpoint(position.iteration, state.dump(2), save, forget, begins_stage);
}

void Journal::finished(const std::string& state, const std::string& message) {
  status_.state = state;
  status_.message = message;
  if (const Status beat = directory_.beat(status_); !beat)
    log(Severity::kWarning, beat.error().message);
  const bool success = state != "failed";
  log_lines(success ? Severity::kInfo : Severity::kError, message);
  observer_.finished({success, message, directory_.layout().root, how_to_resume(state)});
}

std::string Journal::how_to_resume(const std::string& state) const {
  const bool over = state == "finished" || (state == "failed" && !directory_.holds_work());
  return over ? std::string() : resume_command(program_, directory_.layout().root);
}

}  // namespace krl::core

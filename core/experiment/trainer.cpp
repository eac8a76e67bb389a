#include "core/experiment/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/base/hash.hpp"
#include "core/experiment/policy_check.hpp"
#include "core/journal/journal.hpp"
#include "core/learn/policies.hpp"
#include "core/learn/stage_context.hpp"
#include "core/learn/supervised.hpp"
#include "core/plan/source.hpp"
#include "core/stage/stage_data.hpp"
#include "core/stage/stage_setup.hpp"
#include "core/stage/task_preparation.hpp"

namespace krl::core {
namespace {

// A stage that can be run: its components are there, its data are read, its tasks are right.
struct ReadyStage {
  StageSetup setup;
  Evaluations evaluations;
};

class Trainer {
 public:
  Trainer(const Plan& plan, Components components, Journal& journal, const std::atomic<bool>& stop)
      : plan_(plan), journal_(journal), stop_(stop), components_(std::move(components)) {}

  Result<Outcome> run() {
    if (const auto& checkpoint = journal_.checkpoint())
      position_ = Position::from_json(nlohmann::json::parse(checkpoint->state));
    position_.reopen_if_longer(plan_.stages);
    if (position_.stage >= plan_.stages.size()) return Outcome::kNothingToDo;
    KRL_ASSIGN(const std::unique_ptr<Policies> policies,
               Policies::create(plan_.policy, components_, journal_.weights()));
    const Policy& policy = policies->learner();
    KRL_TRY(check_policy(*policies));
    if (const auto& checkpoint = journal_.checkpoint(); checkpoint && checkpoint->learned())
      KRL_TRY(policy.load(checkpoint->policy().string()));
    else if (!plan_.run.from.empty())
      KRL_TRY(begin_with_another(policy));
    KRL_TRY(make_stages_ready());
    KRL_TRY(note_documents());
    while (position_.stage < plan_.stages.size()) {
      KRL_ASSIGN(const StageEnd end, run_stage(*policies));
      if (end == StageEnd::kInterrupted) return Outcome::kInterrupted;
      position_.end_stage(plan_.stages[position_.stage]);
      KRL_TRY(journal_.save_checkpoint(position_, policy));
    }
    return Outcome::kFinished;
  }

 private:
  // Loads the weights that another run's policy has learned; that policy must be one like this.
  Status begin_with_another(const Policy& policy) const {
    const Result<Checkpoint> from = read_checkpoint(plan_.run.from);
    if (!from) return not_from(from.error(), "name a checkpoint of a run with the same policy");
    if (!from->learned()) {
      return not_from({Code::kInvalidArgument, "its run only searched, and learned nothing"},
                      "name a checkpoint of a run that learned");
    }
    const std::string of = nlohmann::json::parse(from->state).value("policy", plan_.policy.use);
    if (of != plan_.policy.use) {
      return not_from(
          {Code::kInvalidArgument,
           fmt::format("the checkpoint {} belongs to policy '{}', but the plan uses '{}'",
                       from->directory.string(), of, plan_.policy.use)},
          "choose that policy, or another checkpoint");
    }
    const Status loaded = policy.load(from->policy().string());
    if (loaded) return {};
    return not_from(
        loaded.error(),
        "give [policy] the same options as in the checkpoint's run, or choose another checkpoint");
  }

  Status not_from(const Error& why, const char* hint) const {
    Error placed =
        problem_at(plan_.run.from_origin, "cannot start from there: " + why.message, hint);
    placed.code = why.code;
    return failure(std::move(placed));
  }

  // Checks what any of the stages needs of the policy: before the first is run, not after it.
  Status check_policy(const Policies& policies) const {
    KRL_ASSIGN(const PolicyInfos infos, describe(policies));
    return check_policies(plan_, infos, components_.registry());
  }

  // All stages that are still to be run: a wrong task of the last one shows before the first is
  // run, not after it.
  Status make_stages_ready() {
    std::map<std::pair<JudgeBackends, Contract>, PreparedTasks> prepared;
    for (std::size_t i = position_.stage; i < plan_.stages.size(); ++i) {
      const StageSettings& stage = plan_.stages[i];
      const RolloutSettings& rollout = stage.settings.rollout;
      KRL_TRY(check_batching(plan_.policy.who_samples(), rollout, components_.registry()));
      KRL_ASSIGN(StageSetup setup, set_up(stage.settings, components_));
      for (const std::string& warning : setup.data.warnings) journal_.warn(warning);
      KRL_TRY(check_data(stage, setup.data));
      const Evaluations evaluations(setup.judge(), plan_.run.seed, &journal_.ledger(),
                                    rollout.contract);
      if (stage.plays()) {
        KRL_TRY(prepare_tasks(setup, evaluations, prepared[{setup.backends, rollout.contract}]));
      }
      ready_.push_back({std::move(setup), evaluations});
    }
    return {};
  }

  // Warns a resumed run whose prompts show documents from other sources than before.
  Status note_documents() {
    std::map<std::string, std::string> of_stages;
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      const auto& retrieval = ready_[i].setup.retrieval;
      if (retrieval == nullptr) continue;
      // One that cannot be had is no reason to stop: turns are lost if its documents are not found.
      if (auto fingerprint = retrieval->fingerprint())
        of_stages[plan_.stages[position_.stage + i].name] = *std::move(fingerprint);
    }
    return of_stages.empty() ? Status() : journal_.note_documents(of_stages);
  }

  Result<StageEnd> run_stage(Policies& policies) {
    const Policy& policy = policies.learner();
    const StageSettings& stage = plan_.stages[position_.stage];
    const ReadyStage ready = std::move(ready_.front());
    ready_.pop_front();
    const auto& [setup, evaluations] = ready;
    KRL_ASSIGN(PolicyInfo info, policy.describe());
    std::vector<Lesson> lessons;
    if (stage.kind == StageKind::kSft || info.needs_corpus) {
      KRL_ASSIGN(lessons, lessons_of(setup, evaluations));
    }
    if (info.needs_corpus) {
      KRL_TRY(fit(policy, setup, lessons));
      KRL_ASSIGN(info, policy.describe());
    }
    const StageContext context{plan_,  stage, setup,    evaluations, policies,
                               policy, info,  journal_, position_,   stop_};
    if (stage.kind == StageKind::kSft) {
      return run_supervised(context, std::move(lessons));
    }
    lessons = {};  // the policy was prepared with them
    journal_.stage_started(stage, position_, plan_.stages.size(), stage.rl.iterations);
    return stage.kind == StageKind::kSearch ? run_search(context) : run_reinforcement(context);
  }

  Status fit(const Policy& policy, const StageSetup& setup,
             const std::vector<Lesson>& lessons) const {
    if (lessons.empty()) return failure(needs_texts(plan_.policy));
    return fit_policy(policy, setup, lessons, seed_for(plan_.run.seed, "policy"));
  }

  const Plan& plan_;
  Journal& journal_;
  const std::atomic<bool>& stop_;
  Components components_;
  Position position_;
  std::deque<ReadyStage> ready_;  // the stages from `position_.stage` on
};

std::string nothing_to_do(const Plan& plan) {
  const StageSettings& last = plan.stages.back();
  const std::string text = "already finished: nothing left to do";
  if (last.kind == StageKind::kSearch)
    return fmt::format("{}; to extend it, set a larger stage.{}.budget", text, last.name);
  if (last.kind != StageKind::kRl) return text;
  return fmt::format("{}; to extend it, set stage.{}.iterations={}", text, last.name,
                     last.rl.iterations + 1);
}

}  // namespace

Result<Outcome> run_plan(const Plan& plan, Components components, Journal& journal,
                         const std::atomic<bool>& stop) {
  Result<Outcome> outcome = Trainer(plan, std::move(components), journal, stop).run();
  const bool cancelled = !outcome && outcome.error().code == Code::kCancelled;
  if (cancelled || (outcome && *outcome == Outcome::kInterrupted)) {
    journal.finished("interrupted", "interrupted");
  } else if (!outcome) {
    journal.finished("failed", outcome.error().message);
  } else {
    journal.finished("finished",
                     *outcome == Outcome::kNothingToDo ? nothing_to_do(plan) : "finished");
  }
  return outcome;
}

}  // namespace krl::core

#include "core/learn/exploration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "core/base/hash.hpp"
#include "core/learn/admission.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/training_set.hpp"
#include "core/measure/measure_policy.hpp"
#include "core/measure/rollout_metrics.hpp"

namespace krl::core {
namespace {

constexpr const char* kExplorationMetrics[] = {
    "curriculum/open_tier",   "time_s/rollout",         "time_s/waiting", "perf/answers_in_flight",
    "perf/tokens_per_s",      "perf/evaluations_per_s", "sampler/lost",   "sampler/refused",
    "sampler/thoughts_ended", "sampler/version_lag"};

// Figures of sampling that are passed on under another name.
struct SamplingFigure {
  const char *metric, *name;
};
constexpr SamplingFigure kOfSampling[] = {{"sampler/retries", "retries"},
                                          {"sampler/prompt_tokens", "prompt_tokens"},
                                          {"sampler/cached_tokens", "cached_tokens"}};

// The warm start may be another stage's.
std::set<Cell> withheld_by(const Plan& plan) {
  std::set<Cell> cells;
  for (const StageSettings& stage : plan.stages)
    cells.merge(withheld_cells(stage.settings.datasets));
  return cells;
}

void add_throughput(const std::vector<Episode>& episodes, double seconds, Metrics& metrics) {
  double tokens = 0, evaluations = 0;
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns)
      tokens += static_cast<double>(turn.answer.tokens.size()), ++evaluations;
  }
  metrics["perf/tokens_per_s"] = tokens / seconds;
  metrics["perf/evaluations_per_s"] = evaluations / seconds;
}

}  // namespace

Exploration::Exploration(const StageContext& context, ExplorationChoices choices)
    : context_(context),
      settings_(context.stage.settings),
      choices_(std::move(choices)),
      outage_(context.plan.run.max_infra_share),
      curriculum_(settings_.curriculum, settings_.rollout.choice, context.setup.data.tasks,
                  seed_for(context.plan.run.seed, "curriculum", context.position.stage)),
      discovery_(withheld_by(context.plan)),
      archive_(settings_.archive,
               seed_for(context.plan.run.seed, "archive", context.position.stage)),
      submitted_(context.position.stage_iteration),
      engine_(own_context()) {
  const Position& position = context.position;
  if (!position.curriculum.is_null()) curriculum_.restore(position.curriculum);
  if (!position.discovery.is_null()) discovery_.restore(position.discovery);
  if (!position.archive.is_null()) archive_.restore(position.archive);
  if (!position.judged.is_null()) judged_.restore(position.judged);
  if (!position.best.is_null()) context.journal.best().return_to(position.best);
}

void Exploration::keep_state() const {
  Position& position = context_.position;
  position.curriculum = curriculum_.state();
  position.discovery = discovery_.state();
  position.best = context_.journal.best().speedups();
  if (settings_.archive.enabled) position.archive = archive_.state();
  if (remembers_judged()) position.judged = judged_.state();
}

// A search counts what it has judged even if it may judge a kernel twice.
bool Exploration::remembers_judged() const {
  return settings_.rollout.distinct > 0 || context_.stage.kind == StageKind::kSearch;
}

Status Exploration::publish() {
  KRL_TRY(context_.policies.publish());
  KRL_ASSIGN(Player player, context_.policies.player());
  player_.emplace(player);
  engine_.publish(std::move(player));
  return {};
}

// Submits the rounds of the stage up to `last`: tasks, and those that replace groups that teach
// nothing.
void Exploration::submit(std::int64_t last) {
  const RolloutSettings& rollout = settings_.rollout;
  while (submitted_ < std::min(last, context_.stage.most_iterations())) {
    const std::int64_t number = ++submitted_;
    const int round =
        context_.position.iteration + static_cast<int>(number - context_.position.stage_iteration);
    std::vector<const Task*> tasks = curriculum_.choose(number, rollout.groups);
    if (choices_.tasks) tasks = choices_.tasks(number, std::move(tasks));
    const std::int64_t tries = choices_.teaches ? rollout.refill_tries : 0;
    const auto spares = curriculum_.spares(number, rollout.groups * tries, tasks);
    engine_.submit(groups_with_parents(tasks, round, 0),
                   groups_with_parents(spares, round, tasks.size()));
  }
}

std::vector<Group> Exploration::groups_with_parents(const std::vector<const Task*>& tasks,
                                                    int round, std::size_t first) const {
  std::vector<Group> groups = groups_of(tasks, round, first);
  archive_.begin(groups);
  for (Group& group : groups) group.judged = judged_.of(*group.task);
  return groups;
}

Result<RolloutResult> Exploration::play(Metrics& metrics) {
  const Stopwatch watch;
  submit(stage_iteration());
  KRL_ASSIGN(RolloutResult rollout, engine_.take_all());
  const auto set_time = [&] { metrics["time_s/rollout"] = watch.seconds(); };
  set_time();
  if (settings_.rollout.ahead == 0) return rollout;
  KRL_TRY(publish());
  submit(stage_iteration() + settings_.rollout.ahead);
  set_time();
  return rollout;
}

Status Exploration::take_in(RolloutResult& rollout, std::vector<Episode> tuned, Metrics& metrics) {
  std::vector<Episode>& episodes = rollout.episodes;
  const auto& terms = context_.setup.terms;
  metrics.merge(rollout_metrics(episodes, terms, settings_.rollout.turns));
  metrics.merge(discovery_.add(episodes, tuned));
  add_sampling(rollout, metrics);
  metrics.merge(Metrics(rollout.retrieval.metrics()));
  context_.journal.keep_samples(iteration(), episodes, terms);
  context_.journal.keep_samples(iteration(), tuned, terms);
  KRL_TRY(at_iteration(check_not_all_lost(rollout)));
  KRL_TRY(at_iteration(outage_.add(rollout)));
  observe_groups(episodes);
  episodes.insert(episodes.end(), std::make_move_iterator(tuned.begin()),
                  std::make_move_iterator(tuned.end()));
  KRL_ASSIGN(const TaskKernelIds refused,
             admit_best_kernels(iteration(), episodes, context_.evaluations,
                                context_.journal.best(), metrics));
  if (settings_.archive.enabled) metrics.merge(archive_.add(iteration(), episodes, refused));
  if (remembers_judged()) metrics.merge(judged_.add(episodes));
  metrics["curriculum/open_tier"] = static_cast<double>(curriculum_.open_tier());
  return {};
}

// Adds the iteration to the error that ends the run.
Status Exploration::at_iteration(Status status) const {
  if (status) return status;
  const Error& why = status.error();
  return failure(why.code, fmt::format("iteration {}: {}", iteration(), why.message));
}

void Exploration::observe_groups(const std::vector<Episode>& episodes) {
  const std::set<GroupId> differ = groups_that_differ(episodes, settings_.learn);
  const RolloutSettings& rollout = settings_.rollout;
  std::map<GroupId, double> passing, played;  // episodes, without those that were lost
  for (const Episode& episode : episodes) {
    passing[episode.group] += std::ranges::any_of(
        episode.turns, [](const TurnRecord& turn) { return turn.evaluation.passed(); });
    played[episode.group] += std::ranges::any_of(
        episode.turns, [](const TurnRecord& turn) { return !turn.infra_error(); });
  }
  for (const Episode& episode : episodes) {
    if (episode.member != 0) continue;
    const double share = passing[episode.group] / std::max(1.0, played[episode.group]);
    const bool within = share >= rollout.pass_low && share <= rollout.pass_high;
    curriculum_.observe(*episode.task, within && differ.contains(episode.group));
  }
}

// Adds metrics of the answers. Version lag: optimiser steps from the weights that sampled to those
// that learn.
void Exploration::add_sampling(const RolloutResult& rollout, Metrics& metrics) const {
  double lost = 0, refused = 0, answered = 0, lag = 0, ended_thoughts = 0;
  for (const Episode& episode : rollout.episodes) {
    refused += episode.refused ? 1 : 0;
    for (const TurnRecord& turn : episode.turns) {
      if (turn.lost) {
        lost += episode.refused ? 0 : 1;
      } else {
        ++answered;
        ended_thoughts += turn.answer.given_end > 0 ? 1 : 0;
        if (player_->version)
          lag += static_cast<double>(*player_->version - turn.answer.policy_version);
      }
    }
  }
  metrics["sampler/lost"] = lost;
  metrics["sampler/refused"] = refused;
  if (answered > 0 && player_->version) metrics["sampler/version_lag"] = lag / answered;
  if (answered > 0 && settings_.rollout.thinking_tokens > 0)
    metrics["sampler/thoughts_ended"] = ended_thoughts / answered;
  for (const SamplingFigure& figure : kOfSampling) {
    const auto reported = rollout.sampling.find(figure.name);
    if (reported != rollout.sampling.end()) metrics[figure.metric] = reported->second;
  }
  const double seconds = metrics["time_s/rollout"];
  metrics["time_s/waiting"] = rollout.load.wait_seconds;
  metrics["perf/answers_in_flight"] = rollout.load.answers_in_flight;
  add_throughput(rollout.episodes, seconds, metrics);
}

RolloutContext Exploration::rollout_context(const RolloutSettings& settings) const {
  return {context_.evaluations,
          *context_.setup.scorer,
          *context_.setup.prompts,
          context_.setup.retrieval.get(),
          settings,
          context_.plan.run.seed,
          [this](std::string_view phase, int done, int of) {
            context_.journal.progress({std::string(phase), done, of});
          }};
}

// The context of the rounds.
RolloutContext Exploration::own_context() const {
  RolloutContext context = rollout_context(settings_.rollout);
  if (settings_.rollout.ahead > 0) context.progress = nullptr;  // the learning shows its own
  context.teaches = choices_.teaches;
  return context;
}

Status Exploration::measure_holdouts(Metrics& metrics) const {
  RolloutSettings settings = settings_.rollout;
  if (settings_.eval.samples > 0) settings.group_size = settings_.eval.samples;
  return measure_tasks(context_.setup.data.holdouts, iteration(), rollout_context(settings),
                       *player_, context_.setup.terms, metrics);
}

void declare_exploration_metrics(MetricNames& names) {
  for (const char* name : kExplorationMetrics) names.of_iterations.emplace_back(name);
  for (const SamplingFigure& figure : kOfSampling) names.of_iterations.emplace_back(figure.metric);
}

}  // namespace krl::core

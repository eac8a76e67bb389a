#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/hash.hpp"
#include "core/episode/rollout_engine.hpp"
#include "core/learn/admission.hpp"
#include "core/learn/archive.hpp"
#include "core/learn/critic_examples.hpp"
#include "core/learn/curriculum.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/goal.hpp"
#include "core/learn/imitation.hpp"
#include "core/learn/judged.hpp"
#include "core/learn/objectives.hpp"
#include "core/learn/optimizer_step.hpp"
#include "core/learn/outage.hpp"
#include "core/learn/stage_context.hpp"
#include "core/learn/stagnation.hpp"
#include "core/learn/step_figures.hpp"
#include "core/learn/training_set.hpp"
#include "core/measure/discovery.hpp"
#include "core/measure/measure_policy.hpp"
#include "core/measure/rollout_metrics.hpp"

namespace krl::core {
namespace {

// Metrics computed in this file.
constexpr const char* kMetrics[] = {
    "curriculum/open_tier",  "time_s/rollout",         "time_s/learn",
    "time_s/iteration",      "time_s/waiting",         "perf/answers_in_flight",
    "perf/tokens_per_s",     "perf/evaluations_per_s", "sampler/lost",
    "sampler/refused",       "sampler/version_lag",    "sampler/thoughts_ended",
    "groups/refilled",       "groups/lost_future",     "groups/zero_variance",
    "groups/below_noise",    "groups/dropped",         "actor/lr",
    "advantage/correctness", "advantage/speed",        "sampler/tis/effective",
    "actor/not_finite",      "actor/imitation_loss"};

// Metrics passed on under another name: from optimiser steps, and from sampling.
struct Figure {
  const char *metric, *name;
};
constexpr Figure kOfLearning[] = {{"actor/loss", "loss"},
                                  {"actor/pg_loss", "pg_loss"},
                                  {"actor/kl", "kl"},
                                  {"actor/clip_fraction", "clip_fraction"},
                                  {"actor/ppo_kl", "ppo_kl"},
                                  {"actor/entropy", "entropy"},
                                  {"actor/grad_norm", "grad_norm"},
                                  {"critic/value_loss", "value_loss"},
                                  {"sampler/logprob_diff/mean", "logprob_diff_mean"},
                                  {"sampler/logprob_diff/max", "logprob_diff_max"},
                                  {"sampler/tis/cut", "tis_cut"}};
constexpr Figure kOfSampling[] = {{"sampler/retries", "retries"},
                                  {"sampler/prompt_tokens", "prompt_tokens"},
                                  {"sampler/cached_tokens", "cached_tokens"}};

// One stage; its iterations share the curriculum and the settings.
class Reinforcement {
 public:
  explicit Reinforcement(const StageContext& context)
      : context_(context),
        settings_(context.stage.settings),
        figures_(context.policy.component().id),
        outage_(context.plan.run.max_infra_share),
        curriculum_(settings_.curriculum, settings_.rollout.choice, context.setup.data.tasks,
                    seed_for(context.plan.run.seed, "curriculum", context.position.stage)),
        goal_(context.stage, context.setup.terms),
        archive_(settings_.archive,
                 seed_for(context.plan.run.seed, "archive", context.position.stage)),
        submitted_(context.position.stage_iteration),
        engine_(learning_context()) {
    if (!context.position.curriculum.is_null()) curriculum_.restore(context.position.curriculum);
    if (!context.position.goal.is_null()) goal_.restore(context.position.goal);
    if (!context.position.discovery.is_null()) discovery_.restore(context.position.discovery);
    if (!context.position.archive.is_null()) archive_.restore(context.position.archive);
    if (!context.position.judged.is_null()) judged_.restore(context.position.judged);
  }

  Result<StageEnd> run() {
    const RlSettings& rl = context_.stage.rl;
    bool last = context_.position.stage_iteration >= rl.iterations;
    if (!last) KRL_TRY(publish());
    bool stops = context_.stop.load();
    while (!last) {
      if (stops) return StageEnd::kInterrupted;
      Metrics metrics;
      const bool measured = measures_holdouts();
      if (measured) KRL_TRY(measure_holdouts(metrics));
      KRL_ASSIGN(const std::vector<Episode> episodes, iterate(metrics));
      KRL_ASSIGN(const bool reached, goal_.reached(stage_iteration(), metrics));
      last = reached || stage_iteration() == rl.iterations;
      if (submitted_ == stage_iteration()) KRL_TRY(publish());
      // An iteration is sampled before it is learned from, and `ahead` ones earlier.
      const int sampled_by = iteration() - 1 - static_cast<int>(settings_.rollout.ahead);
      KRL_TRY(context_.rate_checkpoint(metrics, sampled_by));
      if (last) KRL_TRY(measure_last_holdouts(metrics));
      if (last || measured)
        KRL_TRY(measure_shapes(episodes, iteration(), context_.evaluations, metrics));
      curriculum_.update(metrics);
      KRL_ASSIGN(stops, context_.finish_iteration(std::move(metrics), last, [&] { keep_state(); }));
    }
    return StageEnd::kDone;
  }

 private:
  void keep_state() const {
    Position& position = context_.position;
    position.curriculum = curriculum_.state();
    position.goal = goal_.state();
    position.discovery = discovery_.state();
    if (settings_.archive.enabled) position.archive = archive_.state();
    if (settings_.rollout.distinct > 0) position.judged = judged_.state();
  }

  // The iteration in progress: over the whole run, and of this stage.
  int iteration() const { return context_.position.iteration + 1; }
  std::int64_t stage_iteration() const { return context_.position.stage_iteration + 1; }

  // True if the hold-outs are measured before this iteration: before the first one, so that the
  // starting point of the learning is known.
  bool measures_holdouts() const {
    const std::int64_t every = settings_.eval.every, done = stage_iteration() - 1;
    return every == 0 ? done == 0 : done % every == 0;
  }

  // Samples, evaluates, learns.
  Result<std::vector<Episode>> iterate(Metrics& metrics) {
    const Stopwatch watch;
    KRL_ASSIGN(RolloutResult rollout, take_rollout());
    std::vector<Episode>& episodes = rollout.episodes;
    const double rollout_seconds = watch.seconds();
    metrics.merge(rollout_metrics(episodes, context_.setup.terms, settings_.rollout.turns));
    metrics.merge(discovery_.add(episodes));
    add_sampling(rollout, metrics);
    metrics.merge(rollout.retrieval.metrics());
    context_.journal.keep_samples(iteration(), episodes, context_.setup.terms);
    KRL_TRY(at_iteration(check_not_all_lost(rollout)));
    KRL_TRY(at_iteration(outage_.add(rollout)));
    KRL_ASSIGN(const KernelIds refused,
               admit_best_kernels(iteration(), episodes, context_.evaluations,
                                  context_.journal.best(), metrics));
    if (settings_.archive.enabled) metrics.merge(archive_.add(iteration(), episodes, refused));
    if (settings_.rollout.distinct > 0) metrics.merge(judged_.add(episodes));
    KRL_TRY(learn(episodes, metrics));
    observe_groups(episodes);
    metrics["curriculum/open_tier"] = static_cast<double>(curriculum_.open_tier());
    metrics["time_s/rollout"] = rollout_seconds;
    metrics["time_s/learn"] = watch.seconds() - rollout_seconds;
    metrics["time_s/iteration"] = watch.seconds();
    metrics["time_s/waiting"] = rollout.load.wait_seconds;
    metrics["perf/answers_in_flight"] = rollout.load.answers_in_flight;
    add_throughput(episodes, rollout_seconds, metrics);
    return std::move(episodes);
  }

  Status publish() {
    KRL_TRY(context_.policies.publish());
    KRL_ASSIGN(Player player, context_.policies.player());
    player_.emplace(player);
    engine_.publish(std::move(player));
    return {};
  }

  // Submits the rounds of the stage up to `last`: tasks, and those that replace groups that teach
  // nothing.
  void submit(std::int64_t last) {
    const RolloutSettings& rollout = settings_.rollout;
    while (submitted_ < std::min(last, context_.stage.rl.iterations)) {
      const std::int64_t number = ++submitted_;
      const int round = context_.position.iteration +
                        static_cast<int>(number - context_.position.stage_iteration);
      const std::vector<const Task*> tasks = curriculum_.choose(number, rollout.groups);
      const auto spares = curriculum_.spares(number, rollout.groups * rollout.refill_tries, tasks);
      std::vector<Group> groups = groups_of(tasks, round);
      std::vector<Group> others = groups_of(spares, round, tasks.size());
      for (std::vector<Group>* list : {&groups, &others}) {
        archive_.begin(*list);
        for (Group& group : *list) group.judged = judged_.of(*group.task);
      }
      engine_.submit(std::move(groups), std::move(others));
    }
  }

  // Returns the episodes of this iteration. If the plan asks for it, begins those of the next, by
  // weights that have not learned from these.
  Result<RolloutResult> take_rollout() {
    submit(stage_iteration());
    KRL_ASSIGN(RolloutResult rollout, engine_.take_all());
    if (settings_.rollout.ahead == 0) return rollout;
    KRL_TRY(publish());
    submit(stage_iteration() + settings_.rollout.ahead);
    return rollout;
  }

  // Adds the iteration to the error that ends the run.
  Status at_iteration(Status status) const {
    if (status) return status;
    const Error& why = status.error();
    return failure(why.code, fmt::format("iteration {}: {}", iteration(), why.message));
  }

  // Returns the number of groups played beyond the plan's number.
  std::int64_t refilled(const std::vector<Episode>& episodes) const {
    const RolloutSettings& rollout = settings_.rollout;
    return static_cast<std::int64_t>(episodes.size()) / rollout.group_size - rollout.groups;
  }

  // Returns the number of turns of an iteration whose groups all differ.
  double full_turns(const TrainingSet& set, const std::vector<Episode>& episodes) const {
    const auto groups = static_cast<double>(settings_.rollout.groups);
    return set.turns * groups / (groups + static_cast<double>(refilled(episodes)));
  }

  void observe_groups(const std::vector<Episode>& episodes) {
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

  // Adds metrics of the answers. Version lag: optimiser steps from the weights that sampled to
  // those that learn.
  void add_sampling(const RolloutResult& rollout, Metrics& metrics) const {
    double lost = 0, refused = 0, answered = 0, lag = 0, ended_thoughts = 0;
    for (const Episode& episode : rollout.episodes) {
      refused += episode.refused ? 1 : 0;
      for (const TurnRecord& turn : episode.turns) {
        if (turn.lost) {
          lost += episode.refused ? 0 : 1;
        } else {
          ++answered;
          ended_thoughts += turn.answer.given_end > 0 ? 1 : 0;
          lag += static_cast<double>(*player_->version - turn.answer.policy_version);
        }
      }
    }
    metrics["sampler/lost"] = lost;
    metrics["sampler/refused"] = refused;
    if (answered > 0) metrics["sampler/version_lag"] = lag / answered;
    if (answered > 0 && settings_.rollout.thinking_tokens > 0)
      metrics["sampler/thoughts_ended"] = ended_thoughts / answered;
    for (const Figure& figure : kOfSampling) {
      const auto reported = rollout.sampling.find(figure.name);
      if (reported != rollout.sampling.end()) metrics[figure.metric] = reported->second;
    }
  }

  RolloutContext rollout_context(const RolloutSettings& settings) const {
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

  // The context of what the stage learns from.
  RolloutContext learning_context() const {
    RolloutContext context = rollout_context(settings_.rollout);
    if (settings_.rollout.ahead > 0) context.progress = nullptr;  // the learning shows its own
    context.teaches = [this](const PlayedGroup& group) {
      return !groups_that_differ(group.episodes, settings_.learn).empty();
    };
    return context;
  }

  // Hold-outs after the last update measure other weights than the iteration's other metrics do.
  Status measure_last_holdouts(Metrics& metrics) const {
    Metrics after;
    KRL_TRY(measure_holdouts(after));
    KRL_TRY(context_.rate_checkpoint(after, iteration()));
    for (const auto& [name, value] : after) metrics[name] = value;
    return {};
  }

  Status measure_holdouts(Metrics& metrics) const {
    RolloutSettings settings = settings_.rollout;
    if (settings_.eval.samples > 0) settings.group_size = settings_.eval.samples;
    return measure_tasks(context_.setup.data.holdouts, iteration(), rollout_context(settings),
                         *player_, context_.setup.terms, metrics);
  }

  // The optimiser steps of one iteration.
  Status learn(const std::vector<Episode>& episodes, Metrics& metrics) {
    KRL_ASSIGN(TrainingSet set, choose_examples(episodes, metrics));
    const std::vector<LossParameter> penalty = treat_covariance(set.examples);
    if (!set.examples.empty()) KRL_TRY(context_.policies.add_logprobs(settings_, set.examples));
    figures_.begin_iteration();
    const std::int64_t of_epoch =
        steps_of_epoch(set.examples.size(), full_turns(set, episodes), settings_.learn.minibatches);
    KRL_ASSIGN(const std::vector<Example> found, examples_to_imitate(episodes));
    imitation_losses_.clear();
    int steps = 0;
    for (std::int64_t epoch = 0; epoch < settings_.learn.epochs && !set.examples.empty(); ++epoch) {
      const std::uint64_t seed =
          seed_for(context_.plan.run.seed, "minibatches", iteration(), epoch);
      std::vector<Batch> imitated = minibatches(found, of_epoch, seed);
      for (const Batch& batch : minibatches(set.examples, of_epoch, seed)) {
        if (weighted_tokens(batch) == 0) continue;
        if (!imitated.empty()) KRL_TRY(imitate(imitated.back()));
        if (!imitated.empty()) imitated.pop_back();
        KRL_TRY(step(batch, penalty, metrics));
        context_.journal.progress(
            {"learn", ++steps, static_cast<int>(settings_.learn.epochs * of_epoch)});
      }
    }
    write_learning(metrics);
    if (const auto warning = stagnation_.add(episodes, steps > 0))
      context_.warn(fmt::format("iteration {}: {}", iteration(), *warning));
    return {};
  }

  // None unless the plan wants it.
  Result<std::vector<Example>> examples_to_imitate(const std::vector<Episode>& episodes) const {
    const LearnSettings& learn = settings_.learn;
    if (learn.imitate == 0) return std::vector<Example>();
    return core::examples_to_imitate(archive_, episodes, learn.imitate_kernels,
                                     *context_.setup.prompts, context_.policy,
                                     context_.policy_info.context_tokens);
  }

  Status imitate(const Batch& batch) {
    KRL_ASSIGN(const double loss, core::imitate(context_.policy, batch, settings_.learn.imitate));
    imitation_losses_.push_back(loss);
    return {};
  }

  Result<TrainingSet> choose_examples(const std::vector<Episode>& episodes,
                                      Metrics& metrics) const {
    metrics["groups/refilled"] = static_cast<double>(refilled(episodes));
    if (settings_.learn.advantage == AdvantageKind::kGae) {
      KRL_ASSIGN(TrainingSet set,
                 select_examples_by_critic(episodes, settings_.learn, context_.policy, metrics));
      metrics["groups/lost_future"] = set.lost_future;
      return set;
    }
    TrainingSet set = select_examples(episodes, settings_.learn);
    metrics["groups/lost_future"] = set.lost_future;
    metrics["groups/zero_variance"] = set.zero_variance;
    metrics["groups/below_noise"] = set.below_noise;
    metrics["groups/dropped"] = set.zero_variance + set.below_noise + set.too_small;
    if (const double all = set.by_correctness + set.by_speed; all > 0) {
      metrics["advantage/correctness"] = set.by_correctness / all;
      metrics["advantage/speed"] = set.by_speed / all;
    }
    return set;
  }

  // Clip-Cov and KL-Cov, as far as the plan has them: takes away weights, and returns the parameters
  // of the loss that it needs in addition.
  std::vector<LossParameter> treat_covariance(std::vector<Example>& examples) const {
    const CovarianceSettings& s = settings_.learn.loss.covariance;
    if (s.clip_share == 0 && s.kl_share == 0) return {};
    const Covariance covariance(examples);
    covariance.clip(examples, s.clip_share, s.clip_low, s.clip_high,
                    seed_for(context_.plan.run.seed, "clip_cov", iteration()));
    return covariance.penalty(s.kl_share, s.kl_weight);
  }

  Status step(const Batch& batch, const std::vector<LossParameter>& penalty, Metrics& metrics) {
    Loss loss = loss_of(settings_);
    for (const LossParameter& p : penalty) loss.parameters.push_back({p.name, p.value});
    const double examples = weighted_examples(batch), tokens = weighted_tokens(batch);
    loss.normaliser = normaliser_of(settings_, examples, tokens);
    Metrics reported;
    KRL_TRY(context_.policy.forward_backward(loss, batch, reported));
    // Iterations, not steps, count for the schedule: how many steps an iteration has depends on its
    // samples.
    Optimizer optimizer = optimizer_at(
        settings_.learn.optimizer, default_lr(context_.policy_info, kLrOfReinforcement),
        context_.position.stage_iteration, context_.stage.rl.iterations);
    if (context_.position.stage_iteration < settings_.learn.critic_warmup) optimizer.lr = 0;
    KRL_TRY(context_.policy.optimizer_step(optimizer, reported));
    metrics["actor/lr"] = optimizer.lr;
    scale_figures(figures_scale(settings_, examples, tokens), reported);
    return figures_.add(reported);
  }

  // The figures that are means over tokens.
  static void scale_figures(double scale, Metrics& reported) {
    for (const char* name : {"clip_fraction", "ppo_kl", "kl", "entropy", "logprob_diff_mean",
                             "tis_cut", "tis_weight", "tis_weight_square"}) {
      const auto figure = reported.find(name);
      if (figure != reported.end()) figure->second *= scale;
    }
  }

  // Figures that no step has reported are left out: 0 would be misleading.
  void write_learning(Metrics& metrics) const {
    for (const Figure& figure : kOfLearning)
      if (const auto value = figures_.of(figure.name)) metrics[figure.metric] = *value;
    // Kish's: as many tokens of weight 1 would tell as much, as a share of those there are.
    if (const auto weight = figures_.of("tis_weight"))
      metrics["sampler/tis/effective"] = *weight * *weight / *figures_.of("tis_weight_square");
    metrics["actor/not_finite"] = figures_.not_finite();
    if (!imitation_losses_.empty()) metrics["actor/imitation_loss"] = mean_of(imitation_losses_);
    if (figures_.not_finite() > 0)
      context_.warn(fmt::format("iteration {}: {}", iteration(), figures_.warning()));
  }

  static void add_throughput(const std::vector<Episode>& episodes, double seconds,
                             Metrics& metrics) {
    double tokens = 0, evaluations = 0;
    for (const Episode& episode : episodes) {
      for (const TurnRecord& turn : episode.turns)
        tokens += static_cast<double>(turn.answer.tokens.size()), ++evaluations;
    }
    metrics["perf/tokens_per_s"] = tokens / seconds;
    metrics["perf/evaluations_per_s"] = evaluations / seconds;
  }

  const StageContext& context_;
  const Settings& settings_;
  StepFigures figures_;
  std::vector<double> imitation_losses_;  // the iteration's, one a step
  Outage outage_;
  Stagnation stagnation_;
  Curriculum curriculum_;
  Goal goal_;
  Discovery discovery_;
  Archive archive_;
  Judged judged_;
  std::optional<Player> player_;  // answers from here on
  std::int64_t submitted_;        // rounds of the stage
  RolloutEngine engine_;          // the last to come and the first to go: it uses the others
};

}  // namespace

Result<StageEnd> run_reinforcement(const StageContext& context) {
  return Reinforcement(context).run();
}

void declare_learning_metrics(MetricNames& names) {
  for (const char* name : kMetrics) names.of_iterations.emplace_back(name);
  for (const Figure& figure : kOfLearning) names.of_iterations.emplace_back(figure.metric);
  for (const Figure& figure : kOfSampling) names.of_iterations.emplace_back(figure.metric);
}

}  // namespace krl::core

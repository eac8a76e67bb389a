#include <fmt/format.h>

#include <algorithm>

#include "core/base/hash.hpp"
#include "core/learn/critic_examples.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/learn/exploration.hpp"
#include "core/learn/goal.hpp"
#include "core/learn/imitation.hpp"
#include "core/learn/objectives.hpp"
#include "core/learn/optimizer_step.hpp"
#include "core/learn/stage_context.hpp"
#include "core/learn/stagnation.hpp"
#include "core/learn/step_figures.hpp"
#include "core/learn/training_set.hpp"
#include "core/measure/measure_policy.hpp"

namespace krl::core {
namespace {

// Metrics computed in this file.
constexpr const char* kMetrics[] = {
    "time_s/learn",          "time_s/iteration",   "groups/refilled",       "groups/lost_future",
    "groups/zero_variance",  "groups/below_noise", "groups/dropped",        "actor/lr",
    "advantage/correctness", "advantage/speed",    "sampler/tis/effective", "actor/not_finite",
    "actor/imitation_loss"};

// Metrics of optimiser steps that are passed on under another name.
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

// One stage; its iterations share the exploration and the settings.
class Reinforcement {
 public:
  explicit Reinforcement(const StageContext& context)
      : context_(context),
        settings_(context.stage.settings),
        figures_(context.policy.component().id),
        goal_(context.stage, context.setup.terms),
        exploration_(context, {[this](const PlayedGroup& group) {
                       return !groups_that_differ(group.episodes, settings_.learn).empty();
                     }}) {
    if (!context.position.goal.is_null()) goal_.restore(context.position.goal);
  }

  Result<StageEnd> run() {
    const RlSettings& rl = context_.stage.rl;
    bool last = context_.position.stage_iteration >= rl.iterations;
    if (!last) KRL_TRY(exploration_.publish());
    bool stops = context_.stop.load();
    while (!last) {
      if (stops) return StageEnd::kInterrupted;
      Metrics metrics;
      const bool measured = measures_holdouts();
      if (measured) KRL_TRY(exploration_.measure_holdouts(metrics));
      KRL_ASSIGN(const std::vector<Episode> episodes, iterate(metrics));
      KRL_ASSIGN(const bool reached, goal_.reached(stage_iteration(), metrics));
      last = reached || stage_iteration() == rl.iterations;
      if (exploration_.idle()) KRL_TRY(exploration_.publish());
      // An iteration is sampled before it is learned from, and `ahead` ones earlier.
      const int sampled_by = iteration() - 1 - static_cast<int>(settings_.rollout.ahead);
      KRL_TRY(context_.rate_checkpoint(metrics, sampled_by));
      if (last) KRL_TRY(measure_last_holdouts(metrics));
      if (last || measured)
        KRL_TRY(measure_shapes(episodes, iteration(), context_.evaluations, metrics));
      exploration_.update(metrics);
      KRL_ASSIGN(stops, context_.finish_iteration(std::move(metrics), last, [&] { keep_state(); }));
    }
    return StageEnd::kDone;
  }

 private:
  void keep_state() const {
    exploration_.keep_state();
    context_.position.goal = goal_.state();
  }

  // The iteration in progress: over the whole run, and of this stage.
  int iteration() const { return exploration_.iteration(); }
  std::int64_t stage_iteration() const { return exploration_.stage_iteration(); }

  // True if the hold-outs are measured before this iteration: before the first one, so that the
  // starting point of the learning is known.
  bool measures_holdouts() const {
    const std::int64_t every = settings_.eval.every, done = stage_iteration() - 1;
    return every == 0 ? done == 0 : done % every == 0;
  }

  // Samples, evaluates, learns.
  Result<std::vector<Episode>> iterate(Metrics& metrics) {
    const Stopwatch watch;
    KRL_ASSIGN(RolloutResult rollout, exploration_.play(metrics));
    KRL_TRY(exploration_.take_in(rollout, {}, metrics));
    KRL_TRY(learn(rollout.episodes, metrics));
    metrics["time_s/learn"] = watch.seconds() - metrics["time_s/rollout"];
    metrics["time_s/iteration"] = watch.seconds();
    return std::move(rollout.episodes);
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

  // Hold-outs after the last update measure other weights than the iteration's other metrics do.
  Status measure_last_holdouts(Metrics& metrics) const {
    Metrics after;
    KRL_TRY(exploration_.measure_holdouts(after));
    KRL_TRY(context_.rate_checkpoint(after, iteration()));
    for (const auto& [name, value] : after) metrics[name] = value;
    return {};
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
      const std::vector<Batch> imitated = minibatches(found, of_epoch, seed);
      for (const Batch& batch : minibatches(set.examples, of_epoch, seed)) {
        if (weighted_tokens(batch) == 0) continue;
        if (!imitated.empty())
          KRL_TRY(imitate(imitated[static_cast<std::size_t>(steps) % imitated.size()]));
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
    return core::examples_to_imitate(exploration_.archive(), episodes, learn.imitate_kernels,
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
    metrics.merge(figures_.own());
    // Kish's: as many tokens of weight 1 would tell as much, as a share of those there are.
    if (const auto weight = figures_.of("tis_weight"))
      metrics["sampler/tis/effective"] = *weight * *weight / *figures_.of("tis_weight_square");
    metrics["actor/not_finite"] = figures_.not_finite();
    if (!imitation_losses_.empty()) metrics["actor/imitation_loss"] = mean_of(imitation_losses_);
    if (figures_.not_finite() > 0)
      context_.warn(fmt::format("iteration {}: {}", iteration(), figures_.warning()));
  }

  const StageContext& context_;
  const Settings& settings_;
  StepFigures figures_;
  std::vector<double> imitation_losses_;  // the iteration's, one a step
  Stagnation stagnation_;
  Goal goal_;
  Exploration exploration_;
};

}  // namespace

Result<StageEnd> run_reinforcement(const StageContext& context) {
  return Reinforcement(context).run();
}

void declare_learning_metrics(MetricNames& names) {
  for (const char* name : kMetrics) names.of_iterations.emplace_back(name);
  for (const Figure& figure : kOfLearning) names.of_iterations.emplace_back(figure.metric);
}

}  // namespace krl::core

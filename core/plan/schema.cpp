#include "core/plan/schema.hpp"

#include <algorithm>

namespace krl::core {
namespace {

void describe_optimizer(Keys& key, OptimizerSettings& optimizer, const char* lr,
                        const char* schedule, const char* warmup) {
  key("optimizer.lr", optimizer.lr, lr, "", "0..1");
  key("optimizer.schedule", optimizer.schedule, "how the learning rate goes on after the warm-up",
      schedule, "constant|linear|cosine")
      .chooses = true;
  key("optimizer.warmup", optimizer.warmup, warmup, "10", "0..");
  key("optimizer.min_lr", optimizer.min_lr, "learning rate at the end of the schedule", "0.0",
      "0..1")
      .only_if = "optimizer.schedule=linear|cosine";
  key("optimizer.beta1", optimizer.beta1, "decay of the first moment", "0.9", "0..1");
  key("optimizer.beta2", optimizer.beta2, "decay of the second moment", "0.95", "0..1");
  key("optimizer.epsilon", optimizer.epsilon, "added to the root of the second moment", "1e-8",
      "0..1");
  key("optimizer.weight_decay", optimizer.weight_decay, "decoupled weight decay", "0.0", "0..1");
  key("optimizer.grad_clip", optimizer.grad_clip, "largest global norm of the gradient; 0 = off",
      "1.0", "0..");
}

void describe_loss(Keys& key, LossSettings& loss) {
  key("loss.name", loss.name, "the policy-gradient loss", "\"ppo\"",
      "ppo|gspo|cispo|importance_sampling")
      .chooses = true;
  key("loss.aggregation", loss.aggregation,
      "over the whole optimiser step: by_loss is sequence_mean for gspo, else fixed_length with "
      "advantage = \"dr_grpo\", else token_mean; fixed_length counts each answer as "
      "rollout.max_tokens long",
      "\"by_loss\"", "by_loss|token_mean|sequence_mean|fixed_length|token_sum");
  key.only_if = "loss.name=ppo";
  key.parameter("clip_low", loss, "ratio clipped below at 1 - clip_low", "0.2", "0..1");
  key.parameter("clip_high", loss, "ratio clipped above at 1 + clip_high", "0.28", "0..");
  key.only_if = "loss.name=cispo";
  key.parameter("clip_low", loss, "weight of a token clipped below at 1 - clip_low", "1.0", "0..1");
  key.parameter("clip_high", loss, "weight of a token clipped above at 1 + clip_high", "4.0",
                "0..");
  key.only_if = "loss.name=gspo";
  key.parameter("clip_low", loss, "ratio of the sequence, clipped below at 1 - clip_low", "3e-4",
                "0..1");
  key.parameter("clip_high", loss, "ratio of the sequence, clipped above at 1 + clip_high", "4e-4",
                "0..");
  key.only_if = "loss.name=ppo";
  key.parameter("dual_clip", loss, "bound of the loss at negative advantages", "3.0", "1..");
  key.only_if = "";
  key.parameter("kl", loss,
                "weight of the KL divergence to policy.reference, or to this policy as it was when "
                "a stage first had a weight above 0",
                "0.0", "0..");
  key.parameter("kl_estimator", loss,
                "of the divergence, from d = log-probability by the reference - by the policy: 2 "
                "is d^2 / 2, 3 is e^d - d - 1",
                "3.0", "2..3");
  key.parameter("entropy", loss, "weight of the entropy bonus", "0.0", "0..");
  key.parameter("tis", loss, "bound of the importance weight between sampler and trainer; 0 = off",
                "2.0", "0..");
}

void use_key(Keys& key, std::string& use, const char* doc) {
  KeyRule& rule = key("use", use, doc);
  rule.required = rule.chooses = true;
}

constexpr const char* kOfGroups = "advantage=grpo|dr_grpo|rloo";

void describe_critic(Keys& key, LearnSettings& learn) {
  key.only_if = "advantage=gae";
  key("gae.gamma", learn.gae.gamma, "discount from a token to the next", "1.0", "0..1");
  key("gae.lambda", learn.gae.lambda, "0: one token ahead; 1: up to the end of the episode", "0.95",
      "0..1");
  key("gae.whiten", learn.gae.whiten,
      "shift and scale the advantages of an iteration's tokens to mean 0 and deviation 1", "true");
  key.critic_parameter("weight", learn, "of the critic's loss beside the policy's", "0.5", "0..");
  key.critic_parameter("clip", learn,
                       "how far a value may move from what it was when sampled; 0 = off", "0.0",
                       "0..");
  key("critic.warmup", learn.critic_warmup,
      "first iterations of a stage in which only the critic learns, at its own learning rate "
      "(libtorch: policy.critic_lr)",
      "0", "0..");
  key.only_if = "";
}

std::vector<KeyRule> component_rules(const char* doc_of_use) {
  std::vector<KeyRule> rules = rules_of<ComponentSettings>();
  rules.front().doc = doc_of_use;
  return rules;
}

}  // namespace

void describe(Keys& key, RunSettings& run) {
  key("name", run.name, "the run's folder; the plan's file name by default").on_resume =
      OnResume::kFree;
  // Unlike other paths from the current folder, so no path to the checker.
  key("directory", run.directory, "where runs lie, from the current folder", "\"runs\"").type =
      ValueType::kString;
  key("from", run.from,
      "a checkpoint of another run, runs/NAME/checkpoints/step_000020: the policy begins with what "
      "it has learned, its optimiser included, and the run with its first stage");
  run.from_origin = key.origin("from");
  key("seed", run.seed, "every random choice of the run follows from it", "0", "0..");
  key.on_resume = OnResume::kFree;
  key("threads", run.threads,
      "evaluations at a time, at most; 0 = as many as the backend asks for, up to 1024", "0",
      "0..1024");
  key("call_timeout_s", run.call_timeout_s,
      "seconds that a call into a plugin may take, one of sampling, learning or evaluating; 0 = "
      "any "
      "time",
      "0", "0..604800");
  key("retries", run.retries,
      "times that a call is made again while a plugin says it is unavailable; then what was asked "
      "for is lost, and counted",
      "5", "0..100");
  key("retry_wait_s", run.retry_wait_s,
      "seconds before the first of them; each waits twice as long as the one before, 30 s at most",
      "0.5", "0..30");
  key("max_infra_share", run.max_infra_share,
      "share of an iteration's turns that may be lost to infrastructure; the third iteration in a "
      "row that loses more ends the run with the first cause; 1 = any",
      "0.5", "0..1");
}

void describe(Keys& key, PluginSettings& plugins) {
  key("path", plugins.path, "more folders with plugins, searched first", "[]").on_resume =
      OnResume::kFree;
  key("replace", plugins.replace,
      "built-in components whose place one of the same id takes, from a plugin of another folder: "
      "\"reward.speedup\"",
      "[]");
}

void describe(Keys& key, ComponentSettings& component) {
  use_key(key, component.use, "the component's id");
  key.component(component);
}

void describe(Keys& key, PolicySettings& policy) {
  use_key(key, policy.use, "the policy's id");
  key("sampler", policy.sampler,
      "another policy, a table with its own use and options, that samples in this one's place and "
      "is given its weights after each iteration")
      .on_resume = OnResume::kFree;
  key("reference", policy.reference,
      "another policy, which learn.loss.kl keeps this one near; without it, this one before its "
      "training");
  key.component(policy);
}

void describe(Keys& key, DatasetSettings& dataset) {
  use_key(key, dataset.use, "the dataset's id");
  key("role", dataset.role,
      "train: tasks of rl stages; holdout: tasks that are only measured; warmup: examples of sft "
      "stages",
      "\"train\"", "train|holdout|warmup")
      .later = "retrieval";
  key.component(dataset);
}

void describe(Keys& key, RolloutSettings& rollout) {
  key("contract", rollout.contract,
      "what an answer holds: device code that is launched for it, or a .cu with host code of its "
      "own, which few backends take and whose results are trusted less",
      "\"device\"", "device|host");
  key("groups", rollout.groups, "tasks an iteration", "16", "1..65536").on_resume =
      OnResume::kFromHereOn;
  key("group_size", rollout.group_size, "episodes a task", "8", "2..4096").on_resume =
      OnResume::kFromHereOn;
  key("choice", rollout.choice,
      "even: every task comes equally often; learnable: a task comes less often, down to a tenth, "
      "while the returns of its groups do not differ, as they do not while nobody solves it, or "
      "everybody equally well",
      "\"even\"", "even|learnable");
  key("refill_tries", rollout.refill_tries,
      "up to this many times `groups` further groups are played in the place of those whose "
      "returns "
      "do not differ, so that an iteration learns from as many as it should (DAPO's dynamic "
      "sampling)",
      "0", "0..100")
      .on_resume = OnResume::kFromHereOn;
  key("turns", rollout.turns, "turns an episode", "1", "1..64");
  key("max_tokens", rollout.max_tokens, "tokens an answer may have", "1024", "1..1048576")
      .on_resume = OnResume::kFromHereOn;
  key("thinking_tokens", rollout.thinking_tokens,
      "tokens after which a thought that still goes on is ended, by a </think> that nothing is "
      "learned from, and the answer begins; takes a policy that goes on with answers; 0 = never",
      "0", "0..1048576");
  key("min_answer_tokens", rollout.min_answer_tokens,
      "an episode ends before a turn whose prompt leaves the context fewer tokens than this (or "
      "max_tokens)",
      "64", "1..1048576");
  key("in_thought", rollout.in_thought,
      "the model's chat template ends with <think>: an answer is a thought up to its </think>, and "
      "holds no kernel without one",
      "false");
  key("temperature", rollout.temperature, "of sampling; 0 = greedy", "1.0", "0..10").on_resume =
      OnResume::kFromHereOn;
  key("top_p", rollout.top_p, "sample from the likeliest tokens with this probability; 1 = all",
      "1.0", "0..1");
  key("top_k", rollout.top_k, "sample from this many likeliest tokens; -1 = all", "-1", "-1..");
  key("stop", rollout.stop, "texts that end an answer", "[]");
  key("stop_when", rollout.stop_when,
      "condition that ends an episode after a turn: \"score >= 0.95\"; empty = none");
  key("batching", rollout.batching,
      "waves: the next turns of all live episodes are sampled as one batch, which is repeatable; "
      "continuous: each as soon as the turn before is evaluated, with a policy that can; "
      "in_turns: as waves, and nothing is evaluated while the policy samples, for the two to share "
      "a GPU",
      "\"waves\"", "waves|continuous|in_turns");
  key("answer_timeout_s", rollout.answer_timeout_s,
      "seconds after which an answer comes too late: its turn is lost, and counted in "
      "infra_errors; "
      "0 = never",
      "0", "0..604800")
      .on_resume = OnResume::kFromHereOn;
  key("ahead", rollout.ahead,
      "1: the next iteration is sampled while this one is learned from, with the weights from "
      "before; takes a sampler of its own, or a policy that samples while it trains",
      "0", "0..1");
}

void describe(Keys& key, LearnSettings& learn) {
  key("returns.kind", learn.returns.kind,
      "a turn's return: the sum or the largest of the discounted scores from it on", "\"sum\"",
      "sum|max")
      .only_if = kOfGroups;
  key("returns.discount", learn.returns.discount, "of the score of the next turn", "0.4", "0..1");
  key("returns.after_stop", learn.returns.after_stop,
      "what the turns that rollout.stop_when leaves out score: the same as the last one, or 0, "
      "which pays for staying below the condition",
      "\"repeat\"", "repeat|zero");
  key("advantage", learn.advantage,
      "return against the group: divided by its deviation, not divided, leave-one-out; "
      "gae: against the values of a critic, token by token, which takes a policy that has one "
      "(libtorch: policy.critic = true)",
      "\"grpo\"", "grpo|dr_grpo|rloo|gae");
  key("group_by", learn.group_by,
      "a group: all turns of a task's episodes, or those of the same number, whose prompts know "
      "as much and which have as many turns to come",
      "\"turn\"", "task|turn")
      .only_if = kOfGroups;
  describe_critic(key, learn);
  describe_loss(key, learn.loss);
  key.on_resume = OnResume::kFromHereOn;
  describe_optimizer(
      key, learn.optimizer,
      "learning rate of AdamW; without it 1e-6, or 4e-5 for a policy that exports adapters "
      "(libtorch: policy.lora.rank)",
      "\"constant\"", "iterations (not optimiser steps) over which the learning rate rises to lr");
  key("epochs", learn.epochs, "passes over the samples of an iteration", "1", "1..100");
  key("minibatches", learn.minibatches,
      "optimiser steps an epoch; fewer in proportion, at least one, where few turns are left as "
      "samples",
      "4", "1..4096");
  key.on_resume = OnResume::kKept;
  key("truncated", learn.truncated,
      "answers cut off at max_tokens: left out of the loss, or scored 0 at most", "\"mask\"",
      "mask|zero");
  key("drop_zero_variance", learn.drop_zero_variance,
      "leave out groups whose returns are all equal, up to min_spread", "true")
      .only_if = kOfGroups;
  key.on_resume = OnResume::kFromHereOn;
  key("min_spread", learn.min_spread,
      "a group whose largest and smallest return differ by less teaches nothing: its differences "
      "are noise, which an advantage divided by their deviation would make as large as any other",
      "0.02", "0..")
      .only_if = kOfGroups;
}

void describe(Keys& key, CurriculumSettings& curriculum) {
  key("enabled", curriculum.enabled,
      "open the tiers one after the other; without this table all are open", "true");
  key("first_tier", curriculum.first_tier, "the highest tier that is open at first", "0", "0..3");
  key("compile_rate", curriculum.compile_rate,
      "the next tier opens when both rates of the newest are exceeded: the shares of episodes in "
      "which some turn compiled, passed",
      "0.9", "0..1");
  key("pass_rate", curriculum.pass_rate, "see above", "0.75", "0..1");
  key("window", curriculum.window, "iterations over which the rates are averaged", "3", "1..1000");
  key("earlier_share", curriculum.earlier_share,
      "share of the groups that go on with earlier tiers", "0.25", "0..1");
}

void describe(Keys& key, EvalSettings& eval) {
  key.on_resume = OnResume::kFromHereOn;
  key("every", eval.every,
      "iterations of an rl stage from one measurement of the holdout datasets to the next; the "
      "first is before any learning, the last after it; 0 = only those two",
      "0", "0..");
}

void describe(Keys& key, PromptSettings& prompt) {
  key("templates", prompt.templates,
      "folder with task.txt, turn.txt and older_turn.txt; without it, prompts/default, or "
      "prompts/host for the contract host");
  key("system", prompt.system, "system message; empty = none", "\"\"");
}

void describe(Keys& key, RewardSettings& reward) {
  use_key(key, reward.use, "the reward's id");
  key("name", reward.name, "its metric is reward/NAME/mean; the id by default");
  key("weight", reward.weight, "factor of the term's score", "1.0");
  key("when", reward.when, "turns that the term is paid for", "\"always\"",
      "always|compiled|passed");
  key.component(reward);
  if (reward.name.empty()) reward.name = reward.use;
}

void describe(Keys& key, StageSettings& stage) {
  key("name", stage.name, "unique in the plan").required = true;
  stage.origin = key.origin("name");
  key("kind", stage.kind,
      "sft: supervised, on the warmup datasets; rl: reinforcement, on the train datasets", "",
      "sft|rl")
      .required = true;
  key.on_resume = OnResume::kFromHereOn;
  key.only_if = "kind=rl";
  key("iterations", stage.rl.iterations, "at most this many", "", "1..").required = true;
  key("until", stage.rl.until,
      "condition over metrics that ends the stage: \"pass_rate > 0.9 and iteration >= 5\"");
  key("until_window", stage.rl.until_window,
      "the condition is of the means of its metrics over as many iterations, in each of which they "
      "were measured",
      "1", "1..1000");
  key.only_if = "kind=sft";
  key("epochs", stage.sft.epochs, "passes over the examples", "2", "1..10000").on_resume =
      OnResume::kUntilOver;
  key.on_resume = OnResume::kKept;
  key("batch_size", stage.sft.batch_size, "examples an optimiser step", "16", "1..65536");
  key("log_every", stage.sft.log_every, "optimiser steps between two lines of metrics", "10",
      "1..");
  key.on_resume = OnResume::kFromHereOn;
  describe_optimizer(key, stage.sft.optimizer,
                     "learning rate of AdamW; without it 1e-5, or 4e-5 for a policy that exports "
                     "adapters (libtorch: policy.lora.rank)",
                     "\"cosine\"", "optimiser steps over which the learning rate rises to lr");
}

void describe(Keys& key, CheckpointSettings& checkpoint) {
  key.on_resume = OnResume::kFree;
  key("every", checkpoint.every,
      "iterations between two checkpoints; 0 = only at the end of a stage", "10", "0..");
  key("keep", checkpoint.keep, "newest checkpoints that are kept; 0 = all", "3", "0..");
  key("keep_every", checkpoint.keep_every,
      "iterations, at least, between two checkpoints that are kept for good; 0 = none", "0",
      "0..1000000000");
  key("best", checkpoint.best,
      "what the best checkpoint has the most of, which is kept as well: a metric, or an expression "
      "of several, \"holdout/tasks/pass_rate\" or \"pass_rate * speedup_capped\"");
}

void describe(Keys& key, LogSettings& log) {
  key.on_resume = OnResume::kFree;
  key("level", log.level, "what goes into logs.log", "\"info\"", "trace|debug|info|warning|error");
  key("tensorboard", log.tensorboard, "also write the metrics as TensorBoard event files", "true");
  key("samples_every", log.samples_every,
      "iterations between two whose prompts and answers are kept; 0 = never", "1", "0..");
}

const std::vector<TableRules>& plan_schema() {
  static const std::vector<TableRules> kTables = {
      {"run", false, false, "The run.", rules_of<RunSettings>()},
      {"plugins", false, false, "Where plugins are found.", rules_of<PluginSettings>()},
      {"policy", false, false, "The model. The other keys are the component's own.",
       rules_of<PolicySettings>()},
      {"backend", false, true, "What evaluates kernels. The other keys are the component's own.",
       component_rules("the backend's id")},
      {"dataset", true, true, "Tasks and examples. The other keys are the component's own.",
       rules_of<DatasetSettings>()},
      {"rollout", false, true, "How answers are sampled.", rules_of<RolloutSettings>(), "rl"},
      {"learn", false, true, "How the policy learns from the episodes of an iteration.",
       rules_of<LearnSettings>(), "rl"},
      {"curriculum", false, true, "Tiers of tasks that open one after the other.",
       rules_of<CurriculumSettings>(), "rl"},
      {"eval", false, true, "What is measured on the way, and not learned from.",
       rules_of<EvalSettings>()},
      {"prompt", false, true, "What the model reads.", rules_of<PromptSettings>()},
      {"reward", true, true, "The terms of a turn's score. The other keys are the component's own.",
       rules_of<RewardSettings>(), "rl"},
      {"stage", true, false, "What is done, in this order.", rules_of<StageSettings>()},
      {"checkpoint", false, false, "What a run can be resumed from.",
       rules_of<CheckpointSettings>()},
      {"log", false, false, "What is written down.", rules_of<LogSettings>()},
  };
  return kTables;
}

const TableRules& table_rules(std::string_view name) {
  const auto& tables = plan_schema();
  return *std::find_if(tables.begin(), tables.end(),
                       [name](const TableRules& table) { return table.name == name; });
}

const KeyRule* find_rule(std::string_view key) {
  const std::size_t dot = std::min(key.find('.'), key.size());
  const std::string_view name = key.substr(std::min(dot + 1, key.size()));
  for (const TableRules& table : plan_schema()) {
    if (table.name != key.substr(0, dot)) continue;
    for (const KeyRule& rule : table.keys) {
      const bool inside = rule.type == ValueType::kTable && name.starts_with(rule.key + ".");
      if (name == rule.key || inside) return &rule;
    }
  }
  return nullptr;
}

bool chooses(std::string_view key) {
  for (const TableRules& table : plan_schema()) {
    for (const KeyRule& rule : table.keys)
      if (rule.chooses && (key == rule.key || key.ends_with("." + rule.key))) return true;
  }
  return false;
}

}  // namespace krl::core

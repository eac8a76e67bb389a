#include "core/plan/schema.hpp"

#include <algorithm>

namespace krl {
namespace {

using enum ValueType;

std::vector<KeyRule> run_keys() {
  return {
      {.key = "name", .range = "", .doc = "the run's folder; the plan's file name by default"},
      {.key = "directory",
       .fallback = "\"runs\"",
       .doc = "where runs lie, from the current folder"},
      {.key = "seed",
       .type = kInteger,
       .fallback = "0",
       .range = "0..",
       .doc = "every random choice of the run follows from it"},
      {.key = "threads",
       .type = kInteger,
       .fallback = "0",
       .range = "0..1024",
       .doc = "threads for blocking work; 0 = one per core"},
  };
}

std::vector<KeyRule> plugin_keys() {
  return {{.key = "path",
           .type = kPaths,
           .fallback = "[]",
           .doc = "more folders with plugins, searched first"}};
}

std::vector<KeyRule> use_key(const char* doc) {
  return {{.key = "use", .doc = doc, .required = true}};
}

std::vector<KeyRule> dataset_keys() {
  return {
      {.key = "use", .doc = "the dataset's id", .required = true},
      {.key = "role",
       .fallback = "\"train\"",
       .range = "train|holdout|warmup",
       .doc = "train: tasks of rl stages; holdout: tasks that are only measured; warmup: examples "
              "of sft stages",
       .later = "retrieval"},
  };
}

std::vector<KeyRule> rollout_keys() {
  return {
      {.key = "groups",
       .type = kInteger,
       .fallback = "16",
       .range = "1..65536",
       .doc = "tasks an iteration"},
      {.key = "group_size",
       .type = kInteger,
       .fallback = "8",
       .range = "2..4096",
       .doc = "episodes a task"},
      {.key = "turns",
       .type = kInteger,
       .fallback = "1",
       .range = "1..64",
       .doc = "turns an episode"},
      {.key = "max_tokens",
       .type = kInteger,
       .fallback = "1024",
       .range = "1..1048576",
       .doc = "tokens an answer may have"},
      {.key = "temperature",
       .type = kFloat,
       .fallback = "1.0",
       .range = "0..10",
       .doc = "of sampling; 0 = greedy"},
      {.key = "top_p",
       .type = kFloat,
       .fallback = "1.0",
       .range = "0..1",
       .doc = "sample from the likeliest tokens with this probability; 1 = all"},
      {.key = "top_k",
       .type = kInteger,
       .fallback = "-1",
       .range = "-1..",
       .doc = "sample from this many likeliest tokens; -1 = all"},
      {.key = "stop", .type = kStrings, .fallback = "[]", .doc = "texts that end an answer"},
      {.key = "stop_when", .doc = "condition that ends an episode after a turn: \"score >= 0.95\""},
      {.key = "batching",
       .fallback = "\"waves\"",
       .range = "waves",
       .doc = "waves: the next turns of all live episodes are sampled as one batch; repeatable",
       .later = "continuous"},
  };
}

std::vector<KeyRule> optimizer_keys(const char* lr, const char* schedule, const char* only_if) {
  const auto key = [&](KeyRule rule) {
    rule.key = "optimizer." + rule.key;
    if (rule.only_if.empty()) rule.only_if = only_if;
    return rule;
  };
  const auto number = [&](const char* name, const char* fallback, const char* range,
                          const char* doc) {
    return key({.key = name, .type = kFloat, .fallback = fallback, .range = range, .doc = doc});
  };
  return {
      number("lr", lr, "0..1", "learning rate of AdamW"),
      key({.key = "schedule",
           .fallback = schedule,
           .range = "constant|linear|cosine",
           .doc = "how the learning rate goes on after the warm-up"}),
      key({.key = "warmup",
           .type = kInteger,
           .fallback = "10",
           .range = "0..",
           .doc = "optimiser steps over which the learning rate rises from 0"}),
      key({.key = "min_lr",
           .type = kFloat,
           .fallback = "0.0",
           .range = "0..1",
           .doc = "learning rate at the end of the schedule",
           .only_if = "optimizer.schedule=linear|cosine"}),
      number("beta1", "0.9", "0..1", "decay of the first moment"),
      number("beta2", "0.95", "0..1", "decay of the second moment"),
      number("epsilon", "1e-8", "0..1", "added to the root of the second moment"),
      number("weight_decay", "0.0", "0..1", "decoupled weight decay"),
      number("grad_clip", "1.0", "0..", "largest global norm of the gradient; 0 = off"),
  };
}

std::vector<KeyRule> loss_keys() {
  const auto number = [](const char* name, const char* fallback, const char* range, const char* doc,
                         const char* only_if = "") {
    return KeyRule{.key = std::string("loss.") + name,
                   .type = kFloat,
                   .fallback = fallback,
                   .range = range,
                   .doc = doc,
                   .only_if = only_if};
  };
  return {
      {.key = "loss.name",
       .fallback = "\"ppo\"",
       .range = "ppo|gspo|cispo|importance_sampling",
       .doc = "the policy-gradient loss"},
      {.key = "loss.aggregation",
       .fallback = "\"token_mean\"",
       .range = "token_mean|sequence_mean|token_sum",
       .doc = "over the whole optimiser step"},
      number("clip_low", "0.2", "0..1", "ratio clipped below at 1 - clip_low",
             "loss.name=ppo|cispo"),
      number("clip_high", "0.28", "0..", "ratio clipped above at 1 + clip_high",
             "loss.name=ppo|cispo"),
      number("clip_low", "3e-4", "0..1", "ratio of the sequence, clipped below at 1 - clip_low",
             "loss.name=gspo"),
      number("clip_high", "4e-4", "0..", "ratio of the sequence, clipped above at 1 + clip_high",
             "loss.name=gspo"),
      number("dual_clip", "3.0", "1..", "bound of the loss at negative advantages",
             "loss.name=ppo"),
      number("kl", "0.0", "0..", "weight of the KL divergence to the policy before training"),
      number("entropy", "0.0", "0..", "weight of the entropy bonus"),
      number("tis", "2.0", "0..",
             "bound of the importance weight between sampler and trainer; 0 = off"),
  };
}

std::vector<KeyRule> learn_keys() {
  std::vector<KeyRule> keys = {
      {.key = "returns.kind",
       .fallback = "\"sum\"",
       .range = "sum|max",
       .doc = "a turn's return: the sum or the largest of the discounted scores from it on"},
      {.key = "returns.discount",
       .type = kFloat,
       .fallback = "0.4",
       .range = "0..1",
       .doc = "of the score of the next turn"},
      {.key = "advantage",
       .fallback = "\"grpo\"",
       .range = "grpo|dr_grpo|rloo",
       .doc = "return against the group: divided by its deviation, not divided, leave-one-out",
       .later = "gae"},
      {.key = "group_by",
       .fallback = "\"task\"",
       .range = "task|turn",
       .doc = "a group: all turns of a task's episodes, or those with the same turn index"},
  };
  const auto append = [&](std::vector<KeyRule> more) {
    keys.insert(keys.end(), more.begin(), more.end());
  };
  append(loss_keys());
  append(optimizer_keys("1e-6", "\"constant\"", ""));
  append({
      {.key = "epochs",
       .type = kInteger,
       .fallback = "1",
       .range = "1..100",
       .doc = "passes over the samples of an iteration"},
      {.key = "minibatches",
       .type = kInteger,
       .fallback = "4",
       .range = "1..4096",
       .doc = "optimiser steps an epoch"},
      {.key = "truncated",
       .fallback = "\"mask\"",
       .range = "mask|zero",
       .doc = "answers cut off at max_tokens: left out of the loss, or scored 0"},
      {.key = "drop_zero_variance",
       .type = kBool,
       .fallback = "true",
       .doc = "leave out groups whose returns are all equal"},
  });
  return keys;
}

std::vector<KeyRule> curriculum_keys() {
  return {
      {.key = "enabled",
       .type = kBool,
       .fallback = "true",
       .doc = "open the tiers one after the other; without this table all are open"},
      {.key = "first_tier",
       .type = kInteger,
       .fallback = "0",
       .range = "0..3",
       .doc = "the highest tier that is open at first"},
      {.key = "compile_rate",
       .type = kFloat,
       .fallback = "0.9",
       .range = "0..1",
       .doc = "the next tier opens when both rates of the newest are exceeded"},
      {.key = "pass_rate", .type = kFloat, .fallback = "0.75", .range = "0..1", .doc = "see above"},
      {.key = "window",
       .type = kInteger,
       .fallback = "3",
       .range = "1..1000",
       .doc = "iterations over which the rates are averaged"},
      {.key = "earlier_share",
       .type = kFloat,
       .fallback = "0.25",
       .range = "0..1",
       .doc = "share of the groups that go on with earlier tiers"},
  };
}

std::vector<KeyRule> prompt_keys() {
  return {
      {.key = "templates",
       .type = kPath,
       .doc = "folder with task.txt, turn.txt and older_turn.txt; without it, prompts/default"},
      {.key = "system", .fallback = "\"\"", .doc = "system message; empty = none"},
  };
}

std::vector<KeyRule> reward_keys() {
  return {
      {.key = "use", .doc = "the reward's id", .required = true},
      {.key = "name", .doc = "its metric is reward/NAME/mean; the id by default"},
      {.key = "weight", .type = kFloat, .fallback = "1.0", .doc = "factor of the term's score"},
      {.key = "when",
       .fallback = "\"always\"",
       .range = "always|compiled|passed",
       .doc = "turns that the term is paid for"},
  };
}

std::vector<KeyRule> stage_keys() {
  std::vector<KeyRule> keys = {
      {.key = "name", .doc = "unique in the plan", .required = true},
      {.key = "kind",
       .range = "sft|rl",
       .doc = "sft: supervised, on the warmup datasets; rl: reinforcement, on the train datasets",
       .required = true},
      {.key = "iterations",
       .type = kInteger,
       .range = "1..",
       .doc = "at most this many",
       .required = true,
       .only_if = "kind=rl"},
      {.key = "until",
       .doc = "condition over metrics that ends the stage: \"pass_rate > 0.9 and iteration >= 5\"",
       .only_if = "kind=rl"},
      {.key = "epochs",
       .type = kInteger,
       .fallback = "2",
       .range = "1..10000",
       .doc = "passes over the examples",
       .only_if = "kind=sft"},
      {.key = "batch_size",
       .type = kInteger,
       .fallback = "16",
       .range = "1..65536",
       .doc = "examples an optimiser step",
       .only_if = "kind=sft"},
      {.key = "log_every",
       .type = kInteger,
       .fallback = "10",
       .range = "1..",
       .doc = "optimiser steps between two lines of metrics",
       .only_if = "kind=sft"},
  };
  for (KeyRule& rule : optimizer_keys("1e-5", "\"cosine\"", "kind=sft")) {
    keys.push_back(std::move(rule));
  }
  return keys;
}

std::vector<KeyRule> checkpoint_keys() {
  return {
      {.key = "every",
       .type = kInteger,
       .fallback = "10",
       .range = "0..",
       .doc = "iterations between two checkpoints; 0 = only at the end of a stage"},
      {.key = "keep",
       .type = kInteger,
       .fallback = "3",
       .range = "0..",
       .doc = "newest checkpoints that are kept; 0 = all"},
  };
}

std::vector<KeyRule> log_keys() {
  return {
      {.key = "level",
       .fallback = "\"info\"",
       .range = "trace|debug|info|warning|error",
       .doc = "what goes into logs.log"},
      {.key = "tensorboard",
       .type = kBool,
       .fallback = "true",
       .doc = "also write the metrics as TensorBoard event files"},
      {.key = "samples_every",
       .type = kInteger,
       .fallback = "1",
       .range = "0..",
       .doc = "iterations between two whose prompts and answers are kept; 0 = never"},
  };
}

}  // namespace

const std::vector<TableRules>& plan_schema() {
  static const std::vector<TableRules> kTables = {
      {"run", false, false, "The run.", run_keys()},
      {"plugins", false, false, "Where plugins are found.", plugin_keys()},
      {"policy", false, false, "The model. The other keys are the component's own.",
       use_key("the policy's id")},
      {"backend", false, true, "What evaluates kernels. The other keys are the component's own.",
       use_key("the backend's id")},
      {"dataset", true, true, "Tasks and examples. The other keys are the component's own.",
       dataset_keys()},
      {"rollout", false, true, "How answers are sampled.", rollout_keys()},
      {"learn", false, true, "How the policy learns from the episodes of an iteration.",
       learn_keys()},
      {"curriculum", false, true, "Tiers of tasks that open one after the other.",
       curriculum_keys()},
      {"prompt", false, true, "What the model reads.", prompt_keys()},
      {"reward", true, true, "The terms of a turn's score. The other keys are the component's own.",
       reward_keys()},
      {"stage", true, false, "What is done, in this order.", stage_keys()},
      {"checkpoint", false, false, "What a run can be resumed from.", checkpoint_keys()},
      {"log", false, false, "What is written down.", log_keys()},
  };
  return kTables;
}

const TableRules& table_rules(std::string_view name) {
  const auto& tables = plan_schema();
  return *std::find_if(tables.begin(), tables.end(),
                       [name](const TableRules& table) { return table.name == name; });
}

}  // namespace krl

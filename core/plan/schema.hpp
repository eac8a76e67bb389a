// Every table and key of a plan that belongs to the core: type, default, range, meaning, and
// target. The one source by which plans are checked, defaults filled in, settings read, and
// docs/plan.md made. Constant; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/keys.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// Describe the keys of the tables that become these settings; of a component's table, only the
// core's own keys.
void describe(Keys& key, RunSettings& run);
void describe(Keys& key, PluginSettings& plugins);
void describe(Keys& key, ComponentSettings& component);
void describe(Keys& key, PolicySettings& policy);
void describe(Keys& key, BackendSettings& backend);
void describe(Keys& key, DatasetSettings& dataset);
void describe(Keys& key, RolloutSettings& rollout);
void describe(Keys& key, LearnSettings& learn);
void describe(Keys& key, CurriculumSettings& curriculum);
void describe(Keys& key, ArchiveSettings& archive);
void describe(Keys& key, EvalSettings& eval);
void describe(Keys& key, PromptSettings& prompt);
void describe(Keys& key, RetrievalSettings& retrieval);
void describe(Keys& key, RewardSettings& reward);
void describe(Keys& key, StageSettings& stage);
void describe(Keys& key, CheckpointSettings& checkpoint);
void describe(Keys& key, LogSettings& log);
void describe(Keys& key, PythonSettings& python);

template <class Settings>
std::vector<KeyRule> rules_of() {
  Settings settings;
  Keys keys;
  describe(keys, settings);
  return std::move(keys).rules();
}

// REQUIRES: a table in which nothing is wrong any more, or null.
template <class Settings>
Settings read_settings(const Node* table) {
  Settings settings;
  Keys keys(table);
  describe(keys, settings);
  return settings;
}

struct TableRules {
  std::string name;       // "rollout"
  bool list = false;      // written [[name]], any number of times
  bool in_stage = false;  // a stage may override it
  std::string doc;
  std::vector<KeyRule> keys;
  std::string stage_kind = {};  // the kinds of stages that use it, "rl|search"; empty: all
};

// Returns the tables in the order in which they are documented and printed.
const std::vector<TableRules>& plan_schema();

// REQUIRES: a table of that name.
const TableRules& table_rules(std::string_view name);

// Finds the rule of "learn.optimizer.lr", or of the sampler's own options in "policy.sampler"; null
// if the schema has no such key.
const KeyRule* find_rule(std::string_view key);

// True if a key, with any tables before it, determines which other keys there are.
bool chooses(std::string_view key);

}  // namespace krl::core

// Checks of a plan that go beyond one key: conditions and the names in them, templates, names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/keys.hpp"
#include "core/plan/node.hpp"
#include "core/plan/source.hpp"

namespace krl::core {

// `until` of a stage and `rollout.stop_when` of the tables in force during it: their syntax, and
// that they name only what will be known.
void check_conditions(const Node& stage, const Node& settings, const MetricNames& metrics,
                      std::vector<Problem>& problems);

// `checkpoint.best`: its syntax, and that it names metrics of rl stages alone, whose tables in
// force are `stages`.
void check_best(const Node& checkpoint, const std::vector<Node>& stages, const MetricNames& metrics,
                std::vector<Problem>& problems);

// Checks that the schedule of `table`, an sft stage or an rl stage's [learn], does not end above
// its learning rate.
void check_schedule(const Node& table, std::vector<Problem>& problems);

// Checks that some pass rate is within the bounds of [rollout].
void check_pass_bounds(const Node& rollout, std::vector<Problem>& problems);

// Checks that there is an archive to imitate, where [learn] asks for it. `settings`: the tables in
// force.
void check_imitation(const Node& settings, std::vector<Problem>& problems);

// Checks that a search ends, and that it has an archive if it tunes. `settings`: as above.
void check_search(const Node& stage, const Node& settings, std::vector<Problem>& problems);

// Checks that some turn of an episode can show documents. `settings`: the tables in force, with a
// dataset that is searched.
void check_retrieval_turns(const Node& settings, std::vector<Problem>& problems);

// Checks that each of `plugins.replace` names a component that a plugin offers in place of a
// built-in one.
void check_replacements(const Node& document, const Catalog& catalog,
                        std::vector<Problem>& problems);

// Checks that the files which [prompt] names can be read.
void check_templates(const Node& prompt, std::vector<Problem>& problems);

// Checks that `run.name` is the name of a folder.
void check_run_name(const Node& run, std::vector<Problem>& problems);

// Notes the paths among the options of a component that the plan sets and that do not exist, or only
// among what is built in. This is no error: only the component knows the purpose of a path.
void note_surprising_paths(const Node& table, Kind kind, const Catalog& catalog,
                           std::vector<std::string>& notes);

// The names that `rollout.stop_when` sees after a turn of an episode. Constant; thread-safe.
//   score      of this turn            best_score  of the episode so far
//   turn       from 1                  speedup     Evaluation::speedup(); 0 if not timed
//   compiled   0 or 1                  passed      0 or 1
const std::vector<std::string>& stop_names();

// The names that a stage's `until` sees after an iteration: `iteration` (from 1, of the stage) and
// every metric, by its full name or, for the kernel's own, without the "kernel/": `pass_rate`.
// Returns the metric's full name ("iteration" stays), or nothing if it is not among `known`.
// `rewards` are the names of the reward terms in force, `turns` the number of turns.
std::optional<std::string> resolve_metric(std::string_view name, const MetricNames& known,
                                          const std::vector<std::string>& rewards,
                                          std::int64_t turns);

// True if a run writes such a metric of a holdout dataset; `datasets`: their names in metrics.
bool is_holdout_metric(std::string_view name, const MetricNames& known,
                       const std::vector<std::string>& datasets);

// Returns the names that `resolve_metric` knows, for messages: the kernel's by their short names,
// without those of single turns and tiers.
std::vector<std::string> metric_names(const MetricNames& known,
                                      const std::vector<std::string>& rewards);

}  // namespace krl::core

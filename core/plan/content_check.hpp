// Checks of a plan that go beyond one key: conditions and the names in them, templates, names.
#pragma once

#include <string>
#include <vector>

#include "core/plan/catalog.hpp"
#include "core/plan/node.hpp"
#include "core/plan/problem.hpp"

namespace krl {

// `until` of a stage and `rollout.stop_when` of the tables in force during it: their syntax, and
// that they name only what will be known.
void check_conditions(const Node& stage, const Node& settings, std::vector<Problem>& problems);

// `checkpoint.best`: its syntax, and that it names metrics of rl stages alone, whose tables in
// force are `stages`.
void check_best(const Node& checkpoint, const std::vector<Node>& stages,
                std::vector<Problem>& problems);

// That each of `plugins.replace` names a component that a plugin offers in a built-in one's place.
void check_replacements(const Node& document, const Catalog& catalog,
                        std::vector<Problem>& problems);

// That the files which [prompt] names can be read.
void check_templates(const Node& prompt, std::vector<Problem>& problems);

// That `run.name` is the name of a folder.
void check_run_name(const Node& run, std::vector<Problem>& problems);

// Notes the paths among the options of a component that the plan sets and that are not there. No
// error: what a path is for, only the component knows.
void note_absent_paths(const Node& table, Kind kind, const Catalog& catalog,
                       std::vector<std::string>& notes);

}  // namespace krl

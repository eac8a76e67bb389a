// The options by which commands name a plan, its plugins, and a policy. Main thread only.
#pragma once

#include <filesystem>

#include "cli/command_line.hpp"
#include "service/plans/chosen_policy.hpp"

namespace krl::cli {
using namespace service;

// Adds --set and --plugin-path.
void add_plan_options(CommandLine& line);
void add_plugin_path_option(CommandLine& line);

// Reads --set and --plugin-path.
Result<PlanOptions> plan_options(const CommandLine& line);

// The plugins of the usual folders and of --plugin-path, whose folders must exist.
Result<Registry> load_registry(const CommandLine& line);

// The plan of `file` under --set and --plugin-path.
Result<LoadedPlan> load_plan_of(const std::filesystem::path& file, const CommandLine& line);

// Adds --plan, --run, --checkpoint, --stage and the options of add_plan_options.
void add_policy_options(CommandLine& line);

// True if the command names a policy at all.
bool names_policy(const CommandLine& line);

// REQUIRES: names_policy. Prints warnings about its checkpoints.
Result<ChosenPolicy> choose_policy(const CommandLine& line);

// Shows the notes of the plan on the error stream.
void show_notes(const ChosenPolicy& chosen);

}  // namespace krl::cli

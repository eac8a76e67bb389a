// A plan and its plugins, as the options of a command name them. Main thread only.
#pragma once

#include <filesystem>

#include "cli/command_line.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/registry.hpp"

namespace krl::cli {
using namespace core;

struct LoadedPlan {
  Plan plan;
  Registry registry;  // the plugins that the plan was checked against
};

// Adds --set and --plugin-path.
void add_plan_options(CommandLine& line);
void add_plugin_path_option(CommandLine& line);

// The plugins of the usual folders and of --plugin-path, whose folders must exist.
Result<Registry> load_registry(const CommandLine& line);

// The plan of `file` under --set, --plugin-path and, where the command has it, --from.
Result<LoadedPlan> load_plan_of(const std::filesystem::path& file, const CommandLine& line);

}  // namespace krl::cli

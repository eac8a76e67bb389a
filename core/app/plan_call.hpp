// What the calls that read a plan have in common. Main thread only.
#pragma once

#include <filesystem>

#include "core/app/call_line.hpp"
#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/registry.hpp"

namespace krl {

struct LoadedPlan {
  Plan plan;
  Registry registry;  // with the plugins that the plan was checked against
};

// Adds --set and --plugin-path.
void add_plan_options(CallLine& line);
void add_plugin_path_option(CallLine& line);

// The plugins of the usual folders and of --plugin-path, whose folders must exist.
Result<Registry> load_registry(const CallLine& line);

// The plan of `file` under --set, --plugin-path and, where the call has it, --from.
Result<LoadedPlan> load_plan_of(const std::filesystem::path& file, const CallLine& line);

// The words this process was started with.
std::vector<std::string> command_line();

// Checks a plan's components, then runs it with the display and the signals of the program; returns
// the exit code.
int run_and_show(const LoadedPlan& loaded, bool resume);

}  // namespace krl

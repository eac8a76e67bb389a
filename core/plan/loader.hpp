// Reads a plan: defaults < includes < the file < `--set`, checked against the core's schema and the
// options that plugins declare.
//
// Errors come all at once, in the order of the text, each with file, line, column, the line itself
// and what to do. However hostile the text, loading returns; a plan is at most 1 MiB.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/keys.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

// Called once per loading, with the plan's [plugins].
using CatalogSource = std::function<Result<Catalog>(const PluginSettings&)>;

// `overrides` are the `--set` arguments, "rollout.groups=4": a dotted key, then TOML or a bare
// word. An element of a list is named by its number from 0 or by its `name` or `use`:
// "stage.reinforce.iterations=3", "reward.0.weight=2".
// `name` is a file, or the name of a built-in plan: "quickstart". `over`: further files, laid over it
// as if it were the last of what they include.
// The error's message is the whole list, ready to print.
Result<Plan> load_plan(const std::filesystem::path& name, const std::vector<std::string>& overrides,
                       const CatalogSource& catalog,
                       const std::vector<std::filesystem::path>& over = {});

// The options of a component alone, from arguments such as "device=0" (`kernelrl eval --set`).
Result<ComponentSettings> configure_component(Kind kind, const std::string& id,
                                              const std::vector<std::string>& overrides,
                                              const Catalog& catalog);

}  // namespace krl::core

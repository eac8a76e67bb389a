// Loads a plan with the plugins that it is checked against.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/registry.hpp"

namespace krl::service {
using namespace core;

struct LoadedPlan {
  Plan plan;
  Registry registry;  // the plugins that the plan was checked against
};

struct PlanOptions {
  std::vector<std::string> changes;                   // "rollout.groups=4"
  std::vector<std::filesystem::path> plugin_folders;  // searched first
  std::vector<std::filesystem::path> over = {};       // files that are laid over the plan
};

Result<LoadedPlan> load_plan_of(const std::filesystem::path& file, const PlanOptions& options);

}  // namespace krl::service

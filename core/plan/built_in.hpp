// The plans, presets, prompts and tasks that come with kernelrl, which plans find by name from any
// folder. Pure but for reading the file system; any thread.
#pragma once

#include <filesystem>
#include <string>

namespace krl::core {

// The folder that holds them: "PREFIX/share/kernelrl/configs".
std::filesystem::path built_in_configs();

// Returns `path` as seen from `folder`. If nothing is there and the path is relative, returns the
// built-in file or folder of that name, if there is one: "rewards/kevin.toml", "prompts/compact",
// "configs/quickstart.toml".
std::filesystem::path find_near(const std::filesystem::path& folder,
                                const std::filesystem::path& path);

// Returns the plan of this name: a file, or a built-in plan, with or without its ending.
std::filesystem::path plan_named(const std::filesystem::path& name);

// Returns advice for an error about a path that is in neither place: "searched FOLDER and CONFIGS";
// empty if the path is absolute.
std::string searched_for(const std::filesystem::path& folder, const std::filesystem::path& path);

}  // namespace krl::core

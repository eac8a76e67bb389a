#include "cli/completion.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "core/plan/built_in.hpp"
#include "core/plugin/registry.hpp"

namespace krl::cli {
namespace {

namespace fs = std::filesystem;

Words built_in_tasks() {
  Words ids;
  std::error_code ignored;
  for (const auto& entry :
       fs::recursive_directory_iterator(core::built_in_configs() / "tasks", ignored)) {
    if (entry.path().extension() == ".toml") ids.push_back(entry.path().stem());
  }
  return ids;
}

Words runs_here() {
  Words names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("runs", ignored)) {
    if (entry.is_directory(ignored)) names.push_back(entry.path().filename());
  }
  return names;
}

Words backends() {
  Words ids;
  const core::Registry registry = core::Registry::load(core::plugin_folders({}));
  for (const auto& [key, component] : registry.all()) {
    if (key.first == core::Kind::kBackend) ids.push_back(component.id);
  }
  return ids;
}

// "list" and "show" of "kernelrl plugins [list | show ID] [--set KEY=VALUE]".
Words subcommands_in(const std::string& usage) {
  const std::size_t open = usage.find_first_of("[{"), close = usage.find_first_of("]}", open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::istringstream group(usage.substr(open + 1, close - open - 1));
  Words names;
  for (std::string alternative; std::getline(group, alternative, '|');) {
    std::istringstream words(alternative);
    std::string name;
    if (words >> name && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos)
      names.push_back(name);
  }
  return names.size() > 1 ? names : Words();
}

}  // namespace

bool is_completing() {
  static const bool completing = std::getenv("KERNELRL_COMPLETE") != nullptr;
  return completing;
}

Words completions(const Words& words, const Words& options, const std::string& usage) {
  const std::string last = words.empty() ? "" : words.back();
  if (last == "--task" || last == "--tasks") return built_in_tasks();
  if (last == "--run") return runs_here();
  if (last == "--backend") return backends();
  Words next = options;
  const bool names_run = usage.starts_with("kernelrl runs") && words.size() == 1;
  const Words names = words.empty() ? subcommands_in(usage) : names_run ? runs_here() : Words();
  next.insert(next.end(), names.begin(), names.end());
  return next;
}

}  // namespace krl::cli

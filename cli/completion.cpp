#include "cli/completion.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
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

Words components(std::optional<core::Kind> kind) {
  Words ids;
  const core::Registry registry = core::Registry::load(core::plugin_folders({}));
  for (const auto& [key, component] : registry.all()) {
    if (!kind || key.first == *kind) ids.push_back(component.id);
  }
  return ids;
}

// "list", "show" and "export" of "kernelrl x [list | show ID] [--set KEY=VALUE]\n kernelrl x export".
Words subcommands_in(const std::string& usage) {
  Words names;
  std::istringstream lines(usage);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string program, command, word;
    words >> program >> command;
    for (bool in_choice = false; words >> word;) {
      in_choice = in_choice || word.front() == '[' || word.front() == '{';
      word.erase(0, word.find_first_not_of("[{|"));
      const bool ends = word.find_first_of("]}") != std::string::npos;
      word.erase(std::min(word.size(), word.find_first_of("]}")));
      const bool is_name = !word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz") ==
                                                std::string::npos;
      if (is_name) names.push_back(word);
      if (!in_choice || ends) break;
    }
  }
  return names.size() > 1 ? names : Words();
}

Words values_of(const std::string& option, const std::string& usage) {
  if (option == "--task") return built_in_tasks();
  if (option == "--tasks" && usage.starts_with("kernelrl eval")) return {"train", "holdout", "all"};
  if (option == "--run") return runs_here();
  if (option == "--backend" || option == "--before" || option == "--sanitizer")
    return components(core::Kind::kBackend);
  return {};
}

// The names that an argument after `words` may have, besides those of files.
Words names_after(const Words& words, const std::string& usage) {
  if (usage.starts_with("kernelrl verify") || usage.starts_with("kernelrl report"))
    return runs_here();
  if (usage.starts_with("kernelrl solve")) return built_in_tasks();
  if (words.empty()) return subcommands_in(usage);
  const std::string& what = words.front();
  if (usage.starts_with("kernelrl runs") && what != "list") return runs_here();
  if (usage.starts_with("kernelrl tasks") && what == "show") return built_in_tasks();
  if (usage.starts_with("kernelrl plugins") && what == "show") return components(std::nullopt);
  return {};
}

}  // namespace

bool is_completing() {
  static const bool completing = std::getenv("KERNELRL_COMPLETE") != nullptr;
  return completing;
}

Words completions(const Words& words, const Words& options, bool takes_value,
                  const std::string& usage) {
  if (takes_value) return values_of(words.back(), usage);
  Words next = options;
  const Words names = names_after(words, usage);
  next.insert(next.end(), names.begin(), names.end());
  return next;
}

}  // namespace krl::cli

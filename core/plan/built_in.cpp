#include "core/plan/built_in.hpp"

#include "core/base/file_system.hpp"

namespace krl::core {
namespace fs = std::filesystem;

fs::path built_in_configs() { return shared_files() / "configs"; }

fs::path find_near(const fs::path& folder, const fs::path& path) {
  const fs::path near = (folder / path).lexically_normal();
  std::error_code ignored;
  if (path.empty() || path.is_absolute() || fs::exists(near, ignored)) return near;
  const bool names_configs = *path.begin() == "configs";
  const fs::path built_in =
      ((names_configs ? shared_files() : built_in_configs()) / path).lexically_normal();
  return fs::exists(built_in, ignored) ? built_in : near;
}

fs::path plan_named(const fs::path& name) {
  std::error_code ignored;
  for (const char* ending : {"", ".toml"}) {
    fs::path file = find_near({}, name.string() + ending);
    if (fs::is_regular_file(file, ignored)) return file;
  }
  return name;
}

std::string searched_for(const fs::path& folder, const fs::path& path) {
  if (path.empty() || path.is_absolute()) return {};
  std::error_code ignored;
  const fs::path own = folder.empty() ? fs::current_path(ignored) : folder;
  return "searched " + own.string() + " and " + built_in_configs().string();
}

}  // namespace krl::core

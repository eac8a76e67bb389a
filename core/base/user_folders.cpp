#include "core/base/user_folders.hpp"

#include <cstdlib>
#include <string>

namespace krl::core {
namespace fs = std::filesystem;
namespace {

fs::path absolute_path_in(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

}  // namespace

Result<fs::path> users_folder(UserFolder folder) {
  const bool data = folder == UserFolder::kData;
  const std::string variable = data ? "XDG_DATA_HOME" : "XDG_STATE_HOME";
  if (const fs::path base = absolute_path_in(variable); !base.empty()) return base / "kernelrl";
  if (const fs::path home = absolute_path_in("HOME"); !home.empty())
    return home / ".local" / (data ? "share" : "state") / "kernelrl";
  return failure(Code::kFailedPrecondition,
                 "there is no folder for your files: set HOME or " + variable);
}

}  // namespace krl::core

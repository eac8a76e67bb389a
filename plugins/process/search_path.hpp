// The folders of the environment's PATH, in their order. Thread-safe as long as no one changes it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

namespace krl::process {

inline std::vector<std::filesystem::path> folders_on_path() {
  std::vector<std::filesystem::path> all;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (!folder.empty()) all.emplace_back(folder);
  }
  return all;
}

}  // namespace krl::process

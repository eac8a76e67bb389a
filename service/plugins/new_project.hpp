// The project of a new component or task, made from the templates of the installation: one folder
// that builds, tests and validates itself. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"

namespace krl::service {
using namespace core;

struct NewProject {
  std::string kind;              // "reward", "dataset", "backend", "policy" or "task"
  std::string name;              // "short_source", or "acme.short_source" for the id of a vendor
  std::string language;          // "c++", "c", "rust" or "python"; empty: C++, or TOML for a task
  std::filesystem::path folder;  // made, or empty
};

// Writes the project, and returns its files. An error, before anything is written: a kind, name or
// language that there is not, or a folder that holds something.
Result<std::vector<std::filesystem::path>> write_project(const NewProject& project);

}  // namespace krl::service

// Tasks as other projects' agents and trainers read them: docs/task_export.md. Their files are
// templates in share/kernelrl/export, one folder for each format. What an agent or a policy is
// shown lies apart from what only the judge may see.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/task/task.hpp"

namespace krl::service {
using namespace core;

// "harbor": a folder for each task; "nemo-gym": a row for each; "openenv": one server for all.
const std::vector<std::string>& export_formats();

// Writes FOLDER and, in it, image/, a recipe for a container with kernelrl. Files of the same names
// are replaced. REQUIRES: a known format, at least one task.
Status export_tasks(const std::vector<Task>& tasks, const std::string& format,
                    const std::filesystem::path& folder);

}  // namespace krl::service

// The archive of a run, as its newest checkpoint has it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/learn/archive.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/run_directory.hpp"

namespace krl::service {
using namespace core;

// The kernels of each task, the fastest first; those of the stage that runs, or else ended last.
// kNotFound if the run has no checkpoint or kept no kernels.
Result<std::map<std::string, std::vector<ArchivedKernel>>> archive_of(const RunLayout& run);

// A part of the state of the stage that runs, or else ended last; null if there is none.
nlohmann::json state_of_stage(const Checkpoint& checkpoint, const char* part);

// Writes FOLDER/TASK/N_ID.cu, N from 1 for the fastest, and archive.jsonl with all that is known of
// each kernel but its answer.
Status write_archive(const std::map<std::string, std::vector<ArchivedKernel>>& tasks,
                     const std::filesystem::path& folder);

}  // namespace krl::service

// One HTML file that shows runs in a browser, without a network: their metrics, tasks, best kernels
// and episodes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "service/runs/runs.hpp"

namespace krl::service {

struct ReportedRun {
  RunInfo run;
  std::map<std::string, std::string> naive = {};  // naive kernels by task id, as far as known
};

// Writes the file, in place of one of that name once it is complete. A file of a run that cannot be
// read is an error that names it. REQUIRES: there is a run.
Status write_report(const std::vector<ReportedRun>& runs, const std::filesystem::path& file);

}  // namespace krl::service

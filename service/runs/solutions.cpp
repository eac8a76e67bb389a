#include "service/runs/solutions.hpp"

#include <algorithm>
#include <kernelrl/language.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "core/run/checkpoints.hpp"
#include "core/task/source_identity.hpp"
#include "service/runs/kept_files.hpp"
#include "service/runs/run_archive.hpp"

namespace krl::service {
namespace {

using nlohmann::json;

std::vector<ArchivedKernel> lineage_of(const std::string& source,
                                       const std::vector<ArchivedKernel>& archive) {
  std::vector<ArchivedKernel> lineage;
  KernelIds seen;  // a kernel that was found anew may descend from its own child
  for (std::string id = identity_of(source); seen.insert(id).second;) {
    const auto kernel = std::ranges::find(archive, id, &ArchivedKernel::id);
    if (kernel == archive.end()) break;
    lineage.push_back(*kernel);
    if (kernel->parents.empty()) break;
    id = kernel->parents.back();
  }
  std::ranges::reverse(lineage);
  return lineage;
}

}  // namespace

Result<std::vector<Solution>> solutions_of(const RunLayout& run) {
  std::vector<std::string> ignored;
  KRL_ASSIGN(const auto checkpoint, newest_checkpoint(run.checkpoints(), ignored));
  if (!checkpoint) return failure(Code::kNotFound, run.root.string() + " has no checkpoint yet");
  const json judged = state_of_stage(*checkpoint, "judged");
  KRL_ASSIGN(const std::vector<BestKernel> best, read_best_kernels(run));
  std::map<std::string, std::vector<ArchivedKernel>> archive;
  if (auto kept = archive_of(run)) archive = *std::move(kept);
  std::vector<Solution> solutions;
  for (const auto& [task, kernels] : judged.items()) {
    Solution solution{task, kernels.size(), {}, {}, {}};
    const auto kernel = std::ranges::find(best, task, &BestKernel::task);
    if (kernel != best.end()) {
      solution.best = *kernel;
      solution.file = run.best() / file_name_of_task(task);
      solution.file += extension_of(kernel->source);
      solution.lineage = lineage_of(kernel->source, archive[task]);
    }
    solutions.push_back(std::move(solution));
  }
  return solutions;
}

}  // namespace krl::service

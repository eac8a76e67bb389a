#include "service/runs/run_archive.hpp"

#include <fmt/format.h>

#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/language.hpp>

#include "core/run/best.hpp"
#include "core/run/checkpoints.hpp"

namespace krl::service {
namespace {

using nlohmann::json;

std::string line_of(const std::string& task, const ArchivedKernel& kernel) {
  const json line = {{"task", task},
                     {"id", kernel.id},
                     {"parents", kernel.parents},
                     {"iteration", kernel.iteration},
                     {"depth", kernel.depth},
                     {"tuned", kernel.tuned},
                     {"island", kernel.island},
                     {"visits", kernel.visits},
                     {"structure", kernel.structure},
                     {"speedup", kernel.evaluation.speedup()},
                     {"source", kernel.source},
                     {"evaluation", kernel.evaluation}};
  return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

json state_of_stage(const Checkpoint& checkpoint, const char* part) {
  const json state = json::parse(checkpoint.state);
  const json running = state.value(part, json()), ended = state.value("ended", json());
  return running.is_null() && ended.is_object() ? ended.value(part, json()) : running;
}

Result<std::map<std::string, std::vector<ArchivedKernel>>> archive_of(const RunLayout& run) {
  std::vector<std::string> ignored;
  KRL_ASSIGN(const auto checkpoint, newest_checkpoint(run.checkpoints(), ignored));
  const json archive = checkpoint ? state_of_stage(*checkpoint, "archive") : json();
  if (!archive.is_null()) return archived_kernels(archive);
  return failure(Code::kNotFound, run.root.string() +
                                      " has no archive: its plan has no [archive], or the run no "
                                      "checkpoint yet");
}

Status write_archive(const std::map<std::string, std::vector<ArchivedKernel>>& tasks,
                     const std::filesystem::path& folder) {
  FileSystem& files = real_file_system();
  std::string lines;
  for (const auto& [task, kernels] : tasks) {
    const std::filesystem::path of_task = folder / file_name_of_task(task);
    KRL_TRY(make_directories(files, of_task));
    int number = 0;
    for (const ArchivedKernel& kernel : kernels) {
      const std::string name =
          fmt::format("{:03}_{}{}", ++number, kernel.id, extension_of(kernel.source));
      KRL_TRY(write_atomically(files, of_task / name, kernel.source, Durability::kFast));
      lines += line_of(task, kernel);
    }
  }
  return write_atomically(files, folder / "archive.jsonl", lines);
}

}  // namespace krl::service

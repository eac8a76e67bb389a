#include "core/run/run_files.hpp"

#include <fmt/format.h>

#include "core/base/file_system.hpp"

namespace krl::core {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "iteration_";
constexpr std::string_view kSuffix = ".jsonl";

std::string file_name(int iteration) {
  return fmt::format("{}{:06}{}", kPrefix, iteration, kSuffix);
}

}  // namespace

SampleWriter::SampleWriter(fs::path directory, std::uintmax_t most_bytes, FileSystem& files)
    : directory_(std::move(directory)), most_bytes_(most_bytes), files_(&files) {}

Result<SampleWriter> SampleWriter::open(const fs::path& directory, int last_iteration,
                                        FileSystem& files, std::uintmax_t most_bytes) {
  KRL_TRY(make_directories(files, directory));
  KRL_ASSIGN(const std::vector<fs::path> found, children_of(directory));
  for (const fs::path& file : found) {
    const std::string name = file.filename();
    const bool samples = name.starts_with(kPrefix) && name.ends_with(kSuffix);
    if (samples && name > file_name(last_iteration)) KRL_TRY(files.remove(file));
  }
  return SampleWriter(directory, most_bytes, files);
}

Status SampleWriter::write(int iteration, const std::vector<std::string>& records) {
  if (records.empty()) return {};
  std::string text;
  std::size_t written = 0;
  for (; written < records.size(); ++written) {
    if (text.size() + records[written].size() + 1 > most_bytes_) break;
    text += records[written] + "\n";
  }
  if (written < records.size())
    text += "{\"left_out\":" + std::to_string(records.size() - written) + "}\n";
  const fs::path path = directory_ / file_name(iteration);
  return explain_full_disk(write_atomically(*files_, path, text, Durability::kFast), directory_,
                           text.size());
}

Result<ResumePoint> find_resume_point(RunDirectory& directory, CheckpointsKept kept) {
  const RunLayout& layout = directory.layout();
  KRL_ASSIGN(
      Checkpoints checkpoints,
      explain_full_disk(Checkpoints::open(layout.checkpoints(), std::move(kept), directory.files()),
                        layout.root));
  std::vector<std::string> warnings;
  KRL_ASSIGN(std::optional<Checkpoint> newest, checkpoints.newest(warnings));
  return ResumePoint{std::move(checkpoints), std::move(newest), std::move(warnings)};
}

Result<RunFiles> RunFiles::open(RunDirectory& directory, ResumePoint point, bool tensorboard) {
  return explain_full_disk(open_each(directory, std::move(point), tensorboard),
                           directory.layout().root);
}

Result<RunFiles> RunFiles::open_each(RunDirectory& directory, ResumePoint point, bool tensorboard) {
  const RunLayout& layout = directory.layout();
  FileSystem& files = directory.files();
  const int last = point.checkpoint ? point.checkpoint->iteration : 0;
  KRL_ASSIGN(std::unique_ptr<Ledger> ledger, Ledger::open(layout.ledger(), last, files));
  if (ledger->damaged() > 0)
    point.warnings.push_back(std::to_string(ledger->damaged()) + " damaged records in " +
                             layout.ledger().string() + " are left out");
  KRL_ASSIGN(MetricsWriter metrics, MetricsWriter::open(layout.metrics(), last, files));
  std::optional<TensorBoardWriter> events;
  if (tensorboard) {
    const std::string plan = directory.read_plan().value_or("");
    KRL_ASSIGN(events, TensorBoardWriter::open(layout.tensorboard(), last, plan, files));
  }
  KRL_ASSIGN(SampleWriter samples, SampleWriter::open(layout.samples(), last, files));
  KRL_ASSIGN(BestKernels best, BestKernels::open(layout.best(), files));
  if (!point.checkpoint) KRL_TRY(best.clear());  // the plan may be another one
  return RunFiles({std::move(point), std::move(ledger), std::move(metrics), std::move(events),
                   std::move(samples), std::move(best)});
}

Status RunFiles::finish_iteration(const IterationMetrics& metrics,
                                  const std::vector<std::string>& samples) {
  if (!samples.empty()) KRL_TRY(opened_.samples.write(metrics.iteration, samples));
  KRL_TRY(opened_.metrics.append(metrics));
  return opened_.tensorboard ? opened_.tensorboard->append(metrics, samples) : Status();
}

Status RunFiles::save_checkpoint(int iteration, std::string_view state,
                                 const Checkpoints::SavePolicy& save_policy,
                                 const Checkpoints::ForgetPolicy& forget_policy, bool permanent) {
  KRL_TRY(opened_.metrics.sync());
  KRL_TRY(opened_.ledger->sync());
  return opened_.point.checkpoints.save(iteration, state, save_policy, forget_policy, permanent);
}

Status RunFiles::rate_checkpoint(int iteration, double value) {
  return opened_.point.checkpoints.rate(iteration, value);
}

}  // namespace krl::core

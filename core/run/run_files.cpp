#include "core/run/run_files.hpp"

namespace krl {

Result<RunFiles> RunFiles::open(RunDirectory& directory, const RunFileOptions& options) {
  const RunLayout& layout = directory.layout();
  FileSystem& files = directory.files();
  std::vector<std::string> warnings;
  KRL_ASSIGN(Checkpoints checkpoints,
             Checkpoints::open(layout.checkpoints(), options.checkpoints_kept, files));
  KRL_ASSIGN(std::optional<Checkpoint> checkpoint, checkpoints.newest(warnings));
  KRL_TRY(options.may_go_on(checkpoint ? &*checkpoint : nullptr));
  const int last = checkpoint ? checkpoint->iteration : 0;
  KRL_ASSIGN(std::unique_ptr<Ledger> ledger, Ledger::open(layout.ledger(), last, files));
  if (ledger->damaged() > 0)
    warnings.push_back(std::to_string(ledger->damaged()) + " damaged records in " +
                       layout.ledger().string() + " are left out");
  KRL_ASSIGN(MetricsWriter metrics, MetricsWriter::open(layout.metrics(), last, files));
  std::optional<TensorBoardWriter> tensorboard;
  if (options.tensorboard) {
    KRL_ASSIGN(tensorboard, TensorBoardWriter::open(layout.tensorboard(), last, files));
  }
  KRL_ASSIGN(SampleWriter samples, SampleWriter::open(layout.samples(), last, files));
  KRL_ASSIGN(BestKernels best, BestKernels::open(layout.best(), files));
  return RunFiles({std::move(checkpoint), std::move(warnings), std::move(checkpoints),
                   std::move(ledger), std::move(metrics), std::move(tensorboard),
                   std::move(samples), std::move(best)});
}

Status RunFiles::finish_iteration(const IterationMetrics& metrics,
                                  const std::vector<std::string>& samples) {
  if (!samples.empty()) KRL_TRY(opened_.samples.write(metrics.iteration, samples));
  KRL_TRY(opened_.metrics.append(metrics));
  return opened_.tensorboard ? opened_.tensorboard->append(metrics) : Status();
}

Status RunFiles::save_checkpoint(int iteration, std::string_view state,
                                 const Checkpoints::SavePolicy& save_policy,
                                 const Checkpoints::ForgetPolicy& forget_policy) {
  KRL_TRY(opened_.metrics.sync());
  KRL_TRY(opened_.ledger->sync());
  return opened_.checkpoints.save(iteration, state, save_policy, forget_policy);
}

Status RunFiles::rate_checkpoint(int iteration, double value) {
  return opened_.checkpoints.rate(iteration, value);
}

}  // namespace krl

// Everything a run writes, opened together and written in the order that makes a resume exact.
// One owner, not thread-safe, but for `ledger()`, which is.
//
// The rule: what belongs to iteration n is written before iteration n + 1 begins, and a checkpoint
// is published only after all that it builds on is on disk. On a resume everything after the
// checkpoint is forgotten and done again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/run/best.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/ledger.hpp"
#include "core/run/metrics.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/samples.hpp"
#include "core/run/tensorboard.hpp"

namespace krl {

struct RunFileOptions {
  CheckpointsKept checkpoints_kept;
  bool tensorboard = true;  // whether TensorBoard's event files are written too
  // Asked before what came after the newest checkpoint (null if there is none) is forgotten; its
  // error leaves the files as they are.
  std::function<Status(const Checkpoint*)> may_go_on = [](const Checkpoint*) { return Status(); };
};

class RunFiles {
 public:
  // Opens the files of a run whose directory is open and whose plan is written, at its newest whole
  // checkpoint, or at the beginning if it has none. `directory` must outlive the object.
  static Result<RunFiles> open(RunDirectory& directory, const RunFileOptions& options = {});

  // Where the run goes on from; empty at the beginning.
  const std::optional<Checkpoint>& checkpoint() const { return opened_.checkpoint; }

  // What the user should hear about the files: damaged checkpoints, damaged ledger records.
  const std::vector<std::string>& warnings() const { return opened_.warnings; }

  // The end of an iteration: samples, metrics, TensorBoard, in this order.
  Status finish_iteration(const IterationMetrics& metrics, const std::vector<std::string>& samples);

  // Makes the iterations so far permanent, then writes the checkpoint that builds on them.
  Status save_checkpoint(int iteration, std::string_view state,
                         const Checkpoints::SavePolicy& save_policy,
                         const Checkpoints::ForgetPolicy& forget_policy = {});

  // Says what the weights after `iteration` are worth, for which checkpoint is the best.
  Status rate_checkpoint(int iteration, double value);

  Ledger& ledger() { return *opened_.ledger; }
  BestKernels& best() { return opened_.best; }

 private:
  struct Opened {
    std::optional<Checkpoint> checkpoint;
    std::vector<std::string> warnings;
    Checkpoints checkpoints;
    std::unique_ptr<Ledger> ledger;
    MetricsWriter metrics;
    std::optional<TensorBoardWriter> tensorboard;
    SampleWriter samples;
    BestKernels best;
  };
  explicit RunFiles(Opened opened) : opened_(std::move(opened)) {}

  Opened opened_;
};

}  // namespace krl

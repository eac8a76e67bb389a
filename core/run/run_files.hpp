// Everything a run writes, opened together and written in the order that makes a resume exact. One
// owner, not thread-safe, except for `ledger()`, which is.
//
// The rule: the data of iteration n are written before iteration n + 1 begins, and a checkpoint is
// published only after all that it builds on is on disk. On a resume everything after the
// checkpoint is forgotten and done again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"
#include "core/run/best.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/ledger.hpp"
#include "core/run/metrics.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/tensorboard.hpp"

namespace krl::core {

// samples/iteration_000012.jsonl: the prompts and answers of an iteration, for people to read.
// One writer; each file appears complete, and doing an iteration again replaces its file.
class SampleWriter {
 public:
  static constexpr std::uintmax_t kMostBytes = 16u << 20;

  // Removes the files of iterations after `last_iteration`.
  static Result<SampleWriter> open(const std::filesystem::path& directory, int last_iteration,
                                   FileSystem& files = real_file_system(),
                                   std::uintmax_t most_bytes = kMostBytes);

  // Writes an iteration's records, each one JSON text without newlines; without records, no file.
  // If they exceed `most_bytes`, only the first whole records are kept; the number left out follows
  // in a last record, {"left_out": n}.
  Status write(int iteration, const std::vector<std::string>& records);

 private:
  SampleWriter(std::filesystem::path directory, std::uintmax_t most_bytes, FileSystem& files);

  std::filesystem::path directory_;
  std::uintmax_t most_bytes_;
  FileSystem* files_;
};

// The place where a run resumes. It is found before the run's files are opened, so that a refusal
// to continue leaves them as they are.
struct ResumePoint {
  Checkpoints checkpoints;
  std::optional<Checkpoint> checkpoint;  // the newest whole one; empty: the run begins
  std::vector<std::string> warnings;     // warnings of damaged checkpoints
};
Result<ResumePoint> find_resume_point(RunDirectory& directory, CheckpointsKept kept = {});

class RunFiles {
 public:
  // Opens the files of a run whose directory is open and whose plan is written, and forgets what
  // came after `point`. `directory` must outlive the object. `tensorboard`: whether TensorBoard's
  // event files are written too.
  static Result<RunFiles> open(RunDirectory& directory, ResumePoint point, bool tensorboard = true);

  // The checkpoint that the run resumes from; empty at the beginning.
  const std::optional<Checkpoint>& checkpoint() const { return opened_.point.checkpoint; }

  // Warnings for the user: damaged checkpoints, damaged ledger records.
  const std::vector<std::string>& warnings() const { return opened_.point.warnings; }

  // The end of an iteration: samples, metrics, TensorBoard, in this order.
  Status finish_iteration(const IterationMetrics& metrics, const std::vector<std::string>& samples);

  // Makes the iterations so far permanent, then writes the checkpoint that builds on them.
  Status save_checkpoint(int iteration, std::string_view state,
                         const Checkpoints::SavePolicy& save_policy,
                         const Checkpoints::ForgetPolicy& forget_policy = {},
                         bool permanent = false);

  // Rates the weights after `iteration`, which decides which checkpoint is the best.
  Status rate_checkpoint(int iteration, double value);

  Ledger& ledger() { return *opened_.ledger; }
  BestKernels& best() { return opened_.best; }

 private:
  struct Opened {
    ResumePoint point;
    std::unique_ptr<Ledger> ledger;
    MetricsWriter metrics;
    std::optional<TensorBoardWriter> tensorboard;
    SampleWriter samples;
    BestKernels best;
  };
  explicit RunFiles(Opened opened) : opened_(std::move(opened)) {}
  static Result<RunFiles> open_each(RunDirectory& directory, ResumePoint point, bool tensorboard);

  Opened opened_;
};

}  // namespace krl::core

// The journal of a run: everything that a running experiment leaves on disk, logs, and tells its
// observer, behind one object.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/journal/run_observer.hpp"
#include "core/plan/plan.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/run_files.hpp"

namespace krl::core {

// The position of a run, which a checkpoint holds in addition to the policy.
struct Position {
  int iteration = 0;                 // finished ones, over all stages
  std::size_t stage = 0;             // the one that comes next or continues
  std::int64_t stage_iteration = 0;  // finished ones of that stage
  // State of that stage; null = none yet.
  nlohmann::json curriculum, goal, archive, judged, budget;
  nlohmann::json discovery, best;  // state of the run; null = none yet
  // How the last stage ended, so that a run that is over can be made longer. Null if none ended, or
  // if an older version made the checkpoint.
  nlohmann::json ended;

  // Moves on to the next stage.
  void end_stage(const StageSettings& stage);
  // Moves back into the last stage of a run that is over, where the plan has another length for it
  // than it ended with.
  void reopen_if_longer(const std::vector<StageSettings>& stages);
  // True if all stages are done, and it is known how the last one ended.
  bool over(std::size_t stages) const;

  nlohmann::json to_json() const;
  static Position from_json(const nlohmann::json& json);
};

// Used by one thread, except for the ledger and where noted.
class Journal {
 public:
  // Opens runs/NAME and locks it. With `resume` it continues from the newest complete checkpoint.
  static Result<std::unique_ptr<Journal>> open(const Plan& plan, const Registry& registry,
                                               bool resume,
                                               const std::vector<std::string>& command_line,
                                               RunObserver& observer);
  ~Journal();  // closes the run's log

  // The checkpoint to resume from; nothing if the run begins.
  const std::optional<Checkpoint>& checkpoint() const { return files_->checkpoint(); }
  Ledger& ledger() { return files_->ledger(); }
  BestKernels& best() { return files_->best(); }
  const std::filesystem::path& root() const { return directory_.layout().root; }
  // Returns the folder of weights that were handed to another policy.
  std::filesystem::path weights() const { return directory_.layout().weights(); }

  // Records the fingerprints of the documents that stages' prompts show, and warns of changes since
  // the run was last started.
  Status note_documents(const std::map<std::string, std::string>& of_stages);

  // Both tell the observer; a warning goes to the log too. Any thread.
  void warn(const std::string& text);
  void progress(const Progress& progress) { observer_.progress(progress); }

  void stage_started(const StageSettings& stage, const Position& position, std::size_t stages,
                     std::int64_t planned);

  // Writes the metrics of the iteration that `position` has just counted.
  Status iteration_finished(const Position& position, const std::string& stage, Metrics metrics);

  // Keeps the answers of the iteration in progress for people to read.
  void keep_samples(int iteration, const std::vector<Episode>& episodes,
                    const std::vector<std::string>& terms);

  Status save_checkpoint(const Position& position, const Policy& policy);
  // Rates the weights after `iteration` by checkpoint.best.
  Status rate_checkpoint(int iteration, double value) {
    return files_->rate_checkpoint(iteration, value);
  }

  // True if a stage has begun in this process: everything that its start checks was right.
  bool started() const { return started_; }

  // Writes the last record, after any kind of end. Errors here change nothing any more.
  void finished(const std::string& state, const std::string& message);

 private:
  Journal(const Plan& plan, RunDirectory directory, std::string program, RunObserver& observer)
      : plan_(plan),
        directory_(std::move(directory)),
        program_(std::move(program)),
        observer_(observer) {}

  Status begin(bool resume, const Registry& registry, const std::vector<std::string>& command_line);
  Status record_start(const Registry& registry, const std::vector<std::string>& command_line);
  Status open_files();
  Status continue_plan(const std::optional<Checkpoint>& newest);
  std::string what_stands() const;
  std::string how_to_resume(const std::string& state) const;

  const Plan& plan_;
  RunDirectory directory_;
  const std::string program_;  // as it was called
  RunObserver& observer_;
  std::optional<RunFiles> files_;
  std::vector<std::string> samples_;  // from the iteration in progress
  RunStatus status_;
  bool started_ = false;
};

}  // namespace krl::core

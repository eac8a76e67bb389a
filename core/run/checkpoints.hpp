// Checkpoints: checkpoints/step_000020/ holds everything a run needs to continue after iteration
// 20. A step is written to a temporary name, synced, and renamed, so a crash at any moment leaves
// only complete ones. One owner; not thread-safe.
//
//   step_000020/state.json      the core's own state, as the caller gave it
//               policy/         whatever the policy saved
//               manifest.json   size and SHA-256 of every file, checked before the step is used
//   best.json                   which step has the highest value, and of what
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::core {

struct Checkpoint {
  int iteration = 0;  // the last one it includes
  std::filesystem::path directory;
  std::string state;  // state.json

  std::filesystem::path policy() const { return directory / "policy"; }
  // False if its run only searched: there is no state of a policy to load.
  bool learned() const;
};

// The checkpoints that are kept.
struct CheckpointsKept {
  int newest = 2;            // number of the newest, at least 1
  int every = 0;             // permanent checkpoints: at least this many iterations apart; 0 = none
  std::string best_of = {};  // metric of the values of rate(); the best of another is forgotten
};

class Checkpoints {
 public:
  // Opens or creates the folder and removes files that a crash left half written.
  static Result<Checkpoints> open(const std::filesystem::path& directory, CheckpointsKept kept,
                                  FileSystem& files = real_file_system());

  using SavePolicy = std::function<Status(const std::filesystem::path& folder)>;
  // Told of a folder that `save_policy` has filled, before it goes.
  using ForgetPolicy = std::function<void(const std::filesystem::path& folder)>;

  // Writes a checkpoint; `save_policy` fills an existing, empty folder. When it returns without
  // error the checkpoint survives a power loss, and the ones that are no longer kept are gone. On
  // error the older ones are untouched. A `permanent` one is always kept.
  Status save(int iteration, std::string_view state, const SavePolicy& save_policy,
              const ForgetPolicy& forget_policy = {}, bool permanent = false);

  // Rates the weights after `iteration`. The checkpoint after it, whether it exists or is saved
  // next, is the best one and stays if no earlier one had as high a value.
  Status rate(int iteration, double value);

  // The newest whole one, if any. A damaged one is set aside under the name damaged_step_…, and a
  // sentence about it is added to `warnings`.
  Result<std::optional<Checkpoint>> newest(std::vector<std::string>& warnings);

 private:
  struct Rated {
    int iteration = 0;
    double value = 0;
  };

  Checkpoints(std::filesystem::path directory, CheckpointsKept kept, FileSystem& files);

  Status write_draft(const std::filesystem::path& draft, std::string_view state,
                     const SavePolicy& save_policy);
  Status publish(const std::filesystem::path& draft, int iteration, bool permanent);
  Status discard(const std::filesystem::path& step);
  Status remove_old(const ForgetPolicy& forget_policy);
  Status compare(const Rated& rated);

  std::filesystem::path directory_;
  CheckpointsKept kept_;
  FileSystem* files_;
  std::optional<Rated> best_, awaited_;  // awaited: its checkpoint is not there
};

// Reads the checkpoint in the folder `step`, if it is whole, without touching anything, whether its
// run is active or not. `step` may also be checkpoints/best: the folder of the best one. kNotFound
// names alternatives.
Result<Checkpoint> read_checkpoint(const std::filesystem::path& step);

// The newest whole one in a run's checkpoints/, if any; about damaged ones a sentence is added to
// `warnings`.
Result<std::optional<Checkpoint>> newest_checkpoint(const std::filesystem::path& directory,
                                                    std::vector<std::string>& warnings);

}  // namespace krl::core

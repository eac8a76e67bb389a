// The broken world: real runs of the program in which one component is broken, and what is to be
// said of them whatever the defect was. Used by one test at a time.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/plans/program.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {

constexpr int kIterations = 4;  // of world.toml

// How a run with a broken component is to end.
enum class End {
  kFinishes,   // 0: what the row says is right to be accepted, or mended by trying again
  kRefused,    // 2: before the first iteration; nothing is left that the next try has to remove
  kFails,      // 1: an error that names kind, id, call or file, and the reason
  kDies,       // the plugin ended the process: the same, on the screen and in the log
  kDiesAside,  // so did a thread of its own, in none of its calls: the file is named
  kHangs,      // a note names the call that does not return; three Ctrl-C end it
  kObeys,      // a call that lasts until it is cancelled: two Ctrl-C end it, by 130
};

// A defect of a component of world.toml and what the program makes of it.
struct Defect {
  std::string_view name;  // option `defect` of the component
  End end;
  std::vector<std::string_view> says = {};  // on the screen or in logs.log
  std::string_view at = {};                 // option `at`; empty: the kind's usual function
  int from = 9;                             // option `from`: in the second iteration
  // The turns that were lost or changed on the way leave a mark: the metrics of a run that went on
  // are not those of one that was never broken.
  bool marks = false;
  int times = 0;  // option `times`; 0: every call from there
};
std::ostream& operator<<(std::ostream& stream, const Defect& defect);
std::string test_name(const Defect& defect);

// What all defects of a kind share.
struct Patient {
  std::string_view kind;      // "reward"
  std::string_view table;     // its key in the plan, "reward.0"
  std::string_view function;  // where it is broken if the row says nothing else
};

// One run in a folder of its own, called "broken".
class World {
 public:
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path run() const { return folder() / "runs/broken"; }

  // `kernelrl --plan world.toml` with more words.
  static std::vector<std::string> call(std::vector<std::string> more = {});
  // The same with a broken component.
  static std::vector<std::string> call(const Patient& patient, const Defect& defect);

  // Lines of metrics.jsonl are numbered from 1 without a gap, and every checkpoint is whole.
  void expect_whole() const;
  // As the user would after the repair: continues the run by its name, or starts over where none
  // was left, and gets to the end. Unless `marks`, with the metrics of an undisturbed run.
  void expect_to_go_on(bool marks, const std::vector<std::string>& again) const;

 private:
  ScratchFolder folder_;
};

// Runs it, judges the outcome, and continues with the repaired plugin.
void expect_outcome(const Patient& patient, const Defect& defect);

// `kernelrl plugins validate` finds a broken rule for each of the defects, but for those that a run
// survives, and none where there is no defect.
void expect_validation_to_find(const Patient& patient, const std::vector<Defect>& defects);

}  // namespace krl::test

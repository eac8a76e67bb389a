#include "core/run/run_directory.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/run/run_record.hpp"
#include "core/run/runs.hpp"
#include "tests/unit/core/base/scratch_folder.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

// Another process that has a run open, until it is told to end or is killed.
class OtherProcess {
 public:
  explicit OtherProcess(const fs::path& run) {
    int ready[2], stop[2];
    if (::pipe(ready) != 0 || ::pipe(stop) != 0) throw std::runtime_error("no pipes");
    process_ = ::fork();
    if (process_ == 0) {
      const auto directory = RunDirectory::open(run, OpenMode::kResume);
      ::close(stop[1]);
      char byte = directory ? 'y' : 'n';
      if (::write(ready[1], &byte, 1) == 1) static_cast<void>(::read(stop[0], &byte, 1));
      ::_exit(0);
    }
    ::close(ready[1]);
    ::close(stop[0]);
    stop_ = stop[1];
    char byte = 0;
    opened_ = ::read(ready[0], &byte, 1) == 1 && byte == 'y';
    ::close(ready[0]);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::close(stop_);
    wait();
  }

  bool opened() const { return opened_; }
  pid_t process() const { return process_; }

  void kill() {
    ::kill(process_, SIGKILL);
    wait();
  }

  // The signal that ended it, or 0.
  int wait() {
    if (process_ == 0) return 0;
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = 0;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }

 private:
  pid_t process_ = 0;
  int stop_ = -1;
  bool opened_ = false;
};

TEST(RunDirectory, IsRefusedToASecondProcessWithTheFirstOnesNumber) {
  const test::ScratchFolder folder;
  OtherProcess other(folder / "runs/x");
  ASSERT_TRUE(other.opened());
  const auto second = RunDirectory::open(folder / "runs/x", OpenMode::kResume);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kFailedPrecondition);
  EXPECT_NE(
      second.error().message.find("runs/x is in use by process " + std::to_string(other.process())),
      std::string::npos)
      << second.error().message;
  other.kill();
  EXPECT_TRUE(RunDirectory::open(folder / "runs/x", OpenMode::kResume))
      << "a killed owner must leave nothing behind";
}

TEST(RunDirectory, IsRefusedToASecondOwnerInOneProcess) {
  const test::ScratchFolder folder;
  const auto first = RunDirectory::open(folder / "x", OpenMode::kNew);
  ASSERT_TRUE(first);
  EXPECT_FALSE(RunDirectory::open(folder / "x", OpenMode::kResume));
  EXPECT_EQ(lock_owner(first->layout().lock()), ::getpid());
}

TEST(RunDirectory, DoesNotBeginANewRunOverAnOldOne) {
  const test::ScratchFolder folder;
  {
    auto first = RunDirectory::open(folder / "x", OpenMode::kNew);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->resumed());
    ASSERT_TRUE(first->write_plan("[run]\nseed = 1\n"));
    std::ofstream(first->layout().metrics()) << "{}\n";
  }
  const auto second = RunDirectory::open(folder / "x", OpenMode::kNew);
  ASSERT_FALSE(second);
  const std::string root = (folder / "x").string();
  EXPECT_EQ(second.error().message,
            root +
                " already holds a run; go on with it (--resume), give this one another name "
                "(--set run.name=…), or remove it (rm -r " +
                root + ")");
  const auto resumed = RunDirectory::open(folder / "x", OpenMode::kResume);
  ASSERT_TRUE(resumed);
  EXPECT_TRUE(resumed->resumed());
  EXPECT_EQ(resumed->read_plan(), "[run]\nseed = 1\n");
}

// A start that failed is in nobody's way: but its log stays, and whatever is not the run's.
TEST(RunDirectory, BeginsAgainWhereNothingWasFinished) {
  const test::ScratchFolder folder;
  {
    auto first = RunDirectory::open(folder / "x", OpenMode::kNew);
    ASSERT_TRUE(first->write_plan("[run]\nseed = 1\n"));
    fs::create_directories(first->layout().ledger());
    std::ofstream(first->layout().ledger() / "000001.log") << "an evaluation\n";
    std::ofstream(first->layout().metrics()) << "{\"half a line";
    std::ofstream(first->layout().log()) << "why it failed\n";
    std::ofstream(first->layout().root / "notes.txt") << "mine";
  }
  const auto second = RunDirectory::open(folder / "x", OpenMode::kNew);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_FALSE(second->resumed());
  EXPECT_TRUE(second->replaced());
  EXPECT_FALSE(fs::exists(second->layout().ledger()));
  EXPECT_FALSE(fs::exists(second->layout().plan()));
  EXPECT_TRUE(fs::exists(second->layout().log()));
  EXPECT_TRUE(fs::exists(second->layout().root / "notes.txt"));
}

TEST(RunDirectory, KeepsARunThatHasACheckpoint) {
  const test::ScratchFolder folder;
  {
    auto first = RunDirectory::open(folder / "x", OpenMode::kNew);
    ASSERT_TRUE(first->write_plan(""));
    fs::create_directories(first->layout().checkpoints());
    std::ofstream(first->layout().checkpoints() / "checkpoints.jsonl") << "{}\n";
  }
  EXPECT_FALSE(RunDirectory::open(folder / "x", OpenMode::kNew));
}

TEST(RunDirectory, DoesNotWriteAmongAUsersOwnFiles) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "thesis.tex") << "x";
  const auto directory = RunDirectory::open(folder.path(), OpenMode::kResume);
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find("is not empty and holds no run"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "lock"));
}

TEST(RunDirectory, BeginsAgainWhereAProcessDiedBeforeThePlanWasWritten) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(RunDirectory::open(folder / "x", OpenMode::kNew));
  std::ofstream(folder / "x/logs.log") << "started";
  const auto directory = RunDirectory::open(folder / "x", OpenMode::kNew);
  ASSERT_TRUE(directory) << directory.error().message;
  EXPECT_FALSE(directory->resumed());
}

TEST(RunDirectory, WritesItsHeartbeat) {
  const test::ScratchFolder folder;
  auto directory = RunDirectory::open(folder / "x", OpenMode::kNew);
  RunStatus status;
  status.stage = "reinforce";
  status.iteration = 7;
  ASSERT_TRUE(directory->beat(status));
  const auto found = read_status(directory->layout().status());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->stage, "reinforce");
  EXPECT_EQ(found->iteration, 7);
  EXPECT_EQ(found->process, ::getpid());
  EXPECT_GE(found->updated, found->started);
}

TEST(RunRecord, SaysWhatDiffersFromTheStartBefore) {
  const test::ScratchFolder folder;
  RunStart start;
  start.version = "0.1.0";
  start.machine = this_machine();
  start.plugins = {{"reward/speedup", "1.0.0", "a.krl.so", "aa"}};
  EXPECT_TRUE(record_start(real_file_system(), folder / "run.json", start)->empty());
  EXPECT_TRUE(record_start(real_file_system(), folder / "run.json", start)->empty());
  start.version = "0.2.0";
  start.plugins[0].sha256 = "bb";
  start.plugins.push_back({"backend/cpu", "1.0.0", "b.krl.so", "cc"});
  EXPECT_EQ(record_start(real_file_system(), folder / "run.json", start),
            (std::vector<std::string>{"kernelrl's version was '0.1.0' before and is '0.2.0' now",
                                      "plugin backend/cpu was not used before",
                                      "the file of plugin reward/speedup has changed"}));
  ASSERT_TRUE(write_atomically(real_file_system(), folder / "run.json", "{"));
  EXPECT_FALSE(record_start(real_file_system(), folder / "run.json", start));
}

TEST(Runs, AreFoundByTheirFolderToo) {
  const test::ScratchFolder folder;
  { ASSERT_TRUE(RunDirectory::open(folder / "runs/x", OpenMode::kNew)->write_plan("")); }
  for (const std::string path : {"runs/x", "runs/x/"}) {
    const auto run = find_run("elsewhere", (folder / path).string());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->name, "x");
    EXPECT_EQ(run->directory, folder / "runs/x");
  }
  EXPECT_FALSE(find_run("elsewhere", (folder / "runs").string()));
}

TEST(Runs, AreFoundByThePlanTheyWereFirstStartedFrom) {
  const test::ScratchFolder folder;
  for (const std::string name : {"a", "b"}) {
    auto run = RunDirectory::open(folder / name, OpenMode::kNew);
    ASSERT_TRUE(run->write_plan(""));
    RunStart start;
    start.plan = "/plans/" + name + ".toml";
    ASSERT_TRUE(record_start(real_file_system(), run->layout().record(), start));
    start.plan = run->layout().plan();  // as it is resumed
    ASSERT_TRUE(record_start(real_file_system(), run->layout().record(), start));
  }
  const auto found = runs_of_plan(folder.path(), "/plans/b.toml");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().name, "b");
}

TEST(Runs, TellsARunningOneFromADeadOne) {
  const test::ScratchFolder folder;
  fs::create_directory(folder / "no run");
  OtherProcess other(folder / "alive");
  {
    auto dead = RunDirectory::open(folder / "dead", OpenMode::kNew);
    ASSERT_TRUE(dead->write_plan(""));
    ASSERT_TRUE(dead->beat({}));
  }
  const auto runs = list_runs(folder.path());
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[0].name, "alive");
  EXPECT_EQ((*runs)[0].state, "running");
  EXPECT_EQ((*runs)[0].process, other.process());
  EXPECT_EQ((*runs)[1].name, "dead");
  EXPECT_EQ((*runs)[1].state, "died");
  const auto mistyped = find_run(folder.path(), "alife");
  ASSERT_FALSE(mistyped);
  EXPECT_NE(mistyped.error().message.find("did you mean 'alive'?"), std::string::npos);
  EXPECT_TRUE(list_runs(folder / "absent")->empty());
}

TEST(Runs, StopsARunByItsLockAndWaitsForItsEnd) {
  const test::ScratchFolder folder;
  OtherProcess other(folder / "x");
  const RunInfo run = *find_run(folder.path(), "x");
  const Status stopped = stop_run(run, std::chrono::hours(1));
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(other.wait(), SIGTERM);
  const Status again = stop_run(run, std::chrono::hours(1));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message, "x is not running");
}

}  // namespace
}  // namespace krl

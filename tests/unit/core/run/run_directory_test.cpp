#include "core/run/run_directory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/run/run_record.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/core/run/other_process.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

TEST(RunDirectory, IsRefusedToASecondProcessWithTheFirstOnesNumber) {
  const test::ScratchFolder folder;
  test::OtherProcess other(folder / "runs/x");
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
  EXPECT_EQ(
      second.error().message,
      root +
          " already contains a run; resume it, give this one another run.name, or remove it (rm -r " +
          root + ")");
  const auto resumed = RunDirectory::open(folder / "x", OpenMode::kResume);
  ASSERT_TRUE(resumed);
  EXPECT_TRUE(resumed->resumed());
  EXPECT_EQ(resumed->read_plan(), "[run]\nseed = 1\n");
}

// A start that failed does not block the name; its log stays, and so do files of others.
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
  EXPECT_NE(directory.error().message.find("is not empty and contains no run"), std::string::npos);
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
            (std::vector<std::string>{"kernelrl's version changed from '0.1.0' to '0.2.0'",
                                      "plugin backend/cpu was not used before",
                                      "the file of plugin reward/speedup has changed"}));
  ASSERT_TRUE(write_atomically(real_file_system(), folder / "run.json", "{"));
  EXPECT_FALSE(record_start(real_file_system(), folder / "run.json", start));
}

}  // namespace
}  // namespace krl::core

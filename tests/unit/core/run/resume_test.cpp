// What a run promises: interrupted in whatever way, it ends as one that never was.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <random>

#include "core/run/run_directory.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"
#include "tests/unit/core/run/toy_run.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;
using test::FaultyFileSystem;
using test::outcome;
using test::run_toy;
using test::ToyRun;

// Runs `body` in a process of its own; what it returns as its exit status, or minus the signal that
// ended it.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FaultyFileSystem files;
    ASSERT_TRUE(run_toy(toy_, scratch_ / "whole", files));
    operations_ = files.operations();
    expected_ = outcome(scratch_ / "whole");
    ASSERT_EQ(expected_.size(), static_cast<std::size_t>(toy_.iterations) + 2);
  }

  void expect_resumes(const fs::path& run, const std::string& when) {
    FaultyFileSystem files;
    const Status status = run_toy(toy_, run, files);
    ASSERT_TRUE(status) << when << ": " << status.error().message;
    ASSERT_EQ(outcome(run), expected_) << when;
    fs::remove_all(run);
  }

  const test::ScratchFolder scratch_;
  const ToyRun toy_ = {};
  int operations_ = 0;  // of a run from beginning to end
  std::vector<std::string> expected_;
};

TEST_F(ResumeTest, AfterAStopAtEveryOperation) {
  for (int operation = 1; operation <= operations_; ++operation) {
    FaultyFileSystem files;
    files.stop_at(operation);
    ASSERT_FALSE(run_toy(toy_, scratch_ / "run", files));
    expect_resumes(scratch_ / "run", "stopped at operation " + std::to_string(operation));
    if (HasFatalFailure()) return;
  }
}

TEST_F(ResumeTest, AfterAPowerLossAtEveryOperation) {
  for (int operation = 1; operation <= operations_; ++operation) {
    FaultyFileSystem files;
    files.stop_at(operation);
    ASSERT_FALSE(run_toy(toy_, scratch_ / "run", files));
    files.lose_power();
    expect_resumes(scratch_ / "run", "power lost at operation " + std::to_string(operation));
    if (HasFatalFailure()) return;
  }
}

TEST_F(ResumeTest, AfterTenDeathsBySigkillInOneRun) {
  std::mt19937 random(17);
  const fs::path run = scratch_ / "run";
  for (int death = 0; death < 10; ++death) {
    const int operation = std::uniform_int_distribution(1, operations_ / 3)(random);
    const int ended = in_child([&] {
      FaultyFileSystem files;
      files.stop_at(operation, [] { ::raise(SIGKILL); });
      return run_toy(toy_, run, files) ? 0 : 1;
    });
    ASSERT_TRUE(ended == -SIGKILL || (ended == 0 && outcome(run) == expected_)) << ended;
  }
  expect_resumes(run, "killed ten times");
}

TEST_F(ResumeTest, WhenAFullDiskHasRoomAgain) {
  for (int operation = 1; operation <= operations_; ++operation) {
    FaultyFileSystem files;
    files.fill_at(operation);
    const Status status = run_toy(toy_, scratch_ / "run", files);
    if (!status) {
      ASSERT_EQ(status.error().code, Code::kResourceExhausted) << status.error().message;
      ASSERT_NE(status.error().message.find("no space left on device"), std::string::npos);
      ASSERT_NE(status.error().message.find("free some space and resume"), std::string::npos)
          << status.error().message;
    }
    expect_resumes(scratch_ / "run", "full at operation " + std::to_string(operation));
    if (HasFatalFailure()) return;
  }
}

// A file system of our own, in a mount namespace of our own; false where this machine does not
// allow it.
bool mount_small_disk(const fs::path& folder, const char* size) {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size) == 0;
}

TEST_F(ResumeTest, WhenARealFullDiskHasRoomAgain) {
  enum Outcome {
    kGood = 0,
    kNoMount = 1,
    kNeverFull = 2,
    kWrongError = 3,
    kNoResume = 4,
    kDiffers = 5
  };
  fs::create_directory(scratch_ / "disk");
  const int ended = in_child([&] {
    if (!mount_small_disk(scratch_ / "disk", "size=48k")) return kNoMount;
    const fs::path run = scratch_ / "disk/run";
    const Status full = run_toy(toy_, run, real_file_system());
    if (full) return kNeverFull;
    if (full.error().message.find("no space left on device") == std::string::npos)
      return kWrongError;
    if (::mount("tmpfs", (scratch_ / "disk").c_str(), "tmpfs", MS_REMOUNT, "size=4m") != 0)
      return kNoMount;
    if (!run_toy(toy_, run, real_file_system())) return kNoResume;
    return outcome(run) == expected_ ? kGood : kDiffers;
  });
  if (ended == kNoMount) GTEST_SKIP() << "skipped: this machine lets us mount no file system";
  EXPECT_EQ(ended, kGood);
}

TEST_F(ResumeTest, FromTheCheckpointBeforeADamagedOne) {
  const fs::path checkpoints = scratch_ / "whole/checkpoints";
  ASSERT_TRUE(fs::exists(checkpoints / "step_000008"));
  ASSERT_TRUE(
      write_atomically(real_file_system(), checkpoints / "step_000008/policy/weights", "damaged"));
  expect_resumes(scratch_ / "whole", "its newest checkpoint was damaged");
}

}  // namespace
}  // namespace krl::core

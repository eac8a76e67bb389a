// Whole runs of the program that are killed, interrupted, doubled and starved of disk, and still
// end with what an undisturbed run writes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "tests/plans/program.hpp"
#include "tests/plans/run_folder.hpp"
#include "tests/unit/core/base/scratch_folder.hpp"

namespace krl::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string> toy_run(std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"--plan", KERNELRL_SOURCE_DIR "/tests/plans/toy.toml",
                                    "--plugin-path", KERNELRL_BINARY_DIR "/tests/plugins"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// `--set` that ends the toy's stage after `iterations`.
std::string until(std::size_t iterations) {
  return "stage.reinforce.iterations=" + std::to_string(iterations);
}

std::vector<std::string> undisturbed(std::size_t iterations) {
  const ScratchFolder folder;
  const Ending ending = run_program(toy_run({"--set", until(iterations)}), folder.path());
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  return repeatable_lines(folder / "runs/toy");
}

// Goes on with the run for a few iterations more, to its end, and compares all of it.
void expect_same_after_resume(const fs::path& folder) {
  const std::size_t iterations = metrics_in(folder / "runs/toy").size() + 4;
  const Ending ending = run_program(toy_run({"--resume", "--set", until(iterations)}), folder);
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(repeatable_lines(folder / "runs/toy"), undisturbed(iterations));
}

TEST(Interruptions, TenKillsAtRandomMomentsChangeNothing) {
  constexpr int kKills = 10;
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  std::mt19937 random(20);
  for (int i = 0; i < kKills; ++i) {
    Program program(toy_run({"--resume"}), folder.path());
    const std::size_t goal =
        newest_checkpoint(run) + std::uniform_int_distribution<int>(0, 5)(random);
    ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= goal; }))
        << program.wait().output;
    ::usleep(std::uniform_int_distribution<useconds_t>(0, 20'000)(random));  // anywhere within it
    program.send(SIGKILL);
    EXPECT_EQ(program.wait().signal, SIGKILL);
  }
  expect_same_after_resume(folder.path());
}

class StopSignal : public testing::TestWithParam<int> {};

TEST_P(StopSignal, EndsTheRunCleanly) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= 2; }))
      << program.wait().output;
  program.send(GetParam());
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 130);
  EXPECT_THAT(ending.output, HasSubstr("interrupted; go on with: kernelrl --plan"));
  EXPECT_THAT(ending.output, HasSubstr("--resume"));
  EXPECT_EQ(newest_checkpoint(run), static_cast<int>(metrics_in(run).size()));
  expect_same_after_resume(folder.path());
}

INSTANTIATE_TEST_SUITE_P(Interruptions, StopSignal, testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

TEST(Interruptions, RunsStopWaitsForTheCheckpoint) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return !metrics_in(run).empty(); }));
  const Ending stop = run_program({"runs", "stop", "toy"}, folder.path());
  EXPECT_EQ(stop.exit_code, 0) << stop.output;
  EXPECT_EQ(newest_checkpoint(run), static_cast<int>(metrics_in(run).size()));
  EXPECT_EQ(program.wait().exit_code, 130);
}

TEST(Interruptions, ASecondProcessIsToldWhoIsThere) {
  const ScratchFolder folder;
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return !metrics_in(folder / "runs/toy").empty(); }));
  for (const bool resume : {false, true}) {
    const Ending second = run_program(resume ? toy_run({"--resume"}) : toy_run(), folder.path());
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.output, HasSubstr("in use by process " + std::to_string(program.id())));
  }
  program.send(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 130);
  expect_same_after_resume(folder.path());
}

// A file system of its own, of `bytes`; unmounted at the end.
class SmallDisk {
 public:
  SmallDisk(const fs::path& folder, const std::string& bytes) : folder_(folder) {
    fs::create_directories(folder);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, ("size=" + bytes).c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

// Takes all but about `bytes` of the room at `file`, though others are writing: room that one of
// them took meanwhile is no longer asked for.
void fill(const fs::path& file, std::uintmax_t bytes) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ASSERT_GE(descriptor, 0);
  std::uintmax_t free = 0;
  do {
    free = fs::space(file.parent_path()).available;
  } while (free > bytes && ::posix_fallocate(descriptor, 0, static_cast<off_t>(free - bytes)) != 0);
  ::close(descriptor);
}

TEST(Interruptions, AFullDiskIsSaidAndLosesNothing) {
  const ScratchFolder folder;
  const SmallDisk disk(folder / "runs", "8m");
  if (!disk.mounted()) GTEST_SKIP() << "this user may not mount a small file system";
  const fs::path run = folder / "runs/toy", filler = folder / "runs/filler";
  for (const std::uintmax_t room : {300'000, 60'000, 0}) {  // in different places of the run
    Program program(toy_run({"--resume"}), folder.path());
    const std::size_t goal = newest_checkpoint(run) + 2;
    ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= goal; }))
        << program.wait().output;
    fill(filler, room);
    const Ending ending = program.wait();
    EXPECT_EQ(ending.exit_code, 1) << ending.output;
    EXPECT_THAT(ending.output, HasSubstr("make room and go on with --resume"));
    fs::remove(filler);
  }
  expect_same_after_resume(folder.path());
}

}  // namespace
}  // namespace krl::test

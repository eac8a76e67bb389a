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
#include "tests/scratch_folder.hpp"

namespace krl::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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

class StopSignal : public ::testing::TestWithParam<int> {};

TEST_P(StopSignal, EndsTheRunCleanly) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= 2; }))
      << program.wait().output;
  program.send(GetParam());
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 130);
  EXPECT_THAT(ending.output, HasSubstr("\nstopping after this iteration"));
  EXPECT_THAT(ending.output, HasSubstr("interrupted; results in " + run.string()));
  EXPECT_EQ(newest_checkpoint(run), static_cast<int>(metrics_in(run).size()));
  expect_same_after_resume(folder.path());
}

INSTANTIATE_TEST_SUITE_P(Interruptions, StopSignal, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& info) {
                           return info.param == SIGINT ? "Interrupt" : "Terminate";
                         });

TEST(Interruptions, AHangUpEndsTheRunCleanlyHoweverOftenItComes) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= 2; }))
      << program.wait().output;
  for (int i = 0; i < 5; ++i) program.send(SIGHUP);
  EXPECT_EQ(program.wait().exit_code, 130);
  EXPECT_EQ(newest_checkpoint(run), static_cast<int>(metrics_in(run).size()));
  EXPECT_THAT(read_file(run / "logs.log").value_or(""), HasSubstr("the terminal or the reader"));
  expect_same_after_resume(folder.path());
}

// `call` of the toy's run in bash, $RUN; the exit code.
int in_shell(const std::string& call, const fs::path& folder) {
  std::string words = "cd " + folder.string() + " && RUN='" KERNELRL_BINARY_DIR "/bin/kernelrl";
  for (const std::string& word : toy_run()) words += " " + word;
  const int status = std::system((words + "' bash -c '" + call + "' > said 2>&1").c_str());
  return WEXITSTATUS(status);
}

TEST(Interruptions, AReaderThatGoesAwayEndsTheRunCleanly) {
  for (const char* call :
       {"$RUN | head -1; exit ${PIPESTATUS[0]}", "$RUN 2>&1 | head -1; exit ${PIPESTATUS[0]}"}) {
    const ScratchFolder folder;
    const fs::path run = folder / "runs/toy";
    EXPECT_EQ(in_shell(call, folder.path()), 130) << call;
    EXPECT_GE(newest_checkpoint(run), 1);
    EXPECT_EQ(newest_checkpoint(run), static_cast<int>(metrics_in(run).size()));
    expect_same_after_resume(folder.path());
  }
}

TEST(Interruptions, NohupSurvivesAHangUp) {
  const ScratchFolder folder;
  ::signal(SIGHUP, SIG_IGN);  // inherited by the program
  Program program(toy_run(), folder.path());
  ::signal(SIGHUP, SIG_DFL);
  const auto iterations = [&] { return metrics_in(folder / "runs/toy").size(); };
  ASSERT_TRUE(program.wait_until([&] { return iterations() >= 2; }));
  program.send(SIGHUP);
  const std::size_t before = iterations();
  EXPECT_TRUE(program.wait_until([&] { return iterations() >= before + 5; }));
}

// The command that the output ends with, run by a shell in another folder.
Ending run_printed_command(const std::string& output, const std::string& more) {
  constexpr std::string_view kHint = "resume with: ";
  const std::size_t at = output.rfind(kHint);
  EXPECT_NE(at, std::string::npos) << output;
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kHint.size();
  const std::string line = output.substr(begin, output.find('\n', begin) - begin);
  const ScratchFolder elsewhere;
  const fs::path said = elsewhere / "said";
  const std::string call =
      "cd " + elsewhere.path().string() + " && " + line + more + " > said 2>&1";
  const int status = std::system(call.c_str());
  return {WEXITSTATUS(status), 0, read_file(said).value_or("")};
}

// A name, an option and a plugin folder that only the call knew, and a folder that a shell would
// take for two.
TEST(Interruptions, ThePrintedCommandGoesOnFromAnyFolder) {
  const ScratchFolder folder;
  const fs::path runs = folder / "the runs", run = runs / "x";
  Program program(toy_run({"--set", "run.name=x", "--set", "learn.optimizer.lr=0.1", "--set",
                           "run.directory=\"" + runs.string() + "\""}),
                  folder.path());
  ASSERT_TRUE(program.wait_until([&] { return metrics_in(run).size() >= 2; }));
  program.send(SIGINT);
  const Ending interrupted = program.wait();
  const std::size_t done = metrics_in(run).size();
  const Ending ending = run_printed_command(interrupted.output, " --set " + until(done + 2));
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_EQ(metrics_in(run).size(), done + 2) << ending.output;
  const std::string plan = read_file(run / "plan.toml").value_or("");
  EXPECT_THAT(plan, HasSubstr("path = [\"" KERNELRL_BINARY_DIR "/tests/plugins\"]"));
  EXPECT_THAT(plan, HasSubstr("optimizer.lr = 0.1"));
}

TEST(Interruptions, ThePluginFoldersOfTheEnvironmentAreRecordedToo) {
  const ScratchFolder folder;
  fs::create_directory(folder / "first");
  ::setenv("KERNELRL_PLUGIN_PATH", KERNELRL_BINARY_DIR "/tests/plugins", 1);
  const Ending first = run_program({"--plan", KERNELRL_SOURCE_DIR "/tests/plans/toy.toml",
                                    "--plugin-path", "first/", "--set", until(1)},
                                   folder.path());
  ::unsetenv("KERNELRL_PLUGIN_PATH");
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(read_file(folder / "runs/toy/plan.toml").value_or(""),
              HasSubstr("path = [\"" + (folder / "first").string() +
                        "\", \"" KERNELRL_BINARY_DIR "/tests/plugins\"]"));
  const Ending more = run_program({"runs", "resume", "toy", "--set", until(2)}, folder.path());
  EXPECT_EQ(more.exit_code, 0) << more.output;
  EXPECT_THAT(metrics_in(folder / "runs/toy"), ::testing::SizeIs(2));
}

TEST(Interruptions, ResumingUnderAnotherNameNamesTheRunThatIsMeant) {
  const ScratchFolder folder;
  ASSERT_EQ(
      run_program(toy_run({"--set", "run.name=x", "--set", until(1)}), folder.path()).exit_code, 0);
  const Ending meant_x = run_program(toy_run({"--resume"}), folder.path());
  EXPECT_EQ(meant_x.exit_code, 2);
  EXPECT_THAT(meant_x.output, HasSubstr("runs resume " + (folder / "runs/x").string()));
  EXPECT_FALSE(fs::exists(folder / "runs/toy"));
  const Ending named =
      run_program(toy_run({"--resume", "--set", "run.name=y", "--set", until(1)}), folder.path());
  EXPECT_EQ(named.exit_code, 0) << named.output;
  EXPECT_THAT(named.output,
              HasSubstr("there was no run in " + (folder / "runs/y").string() + ": starting"));
}

TEST(Interruptions, AnEditedPlanOfTheRunIsNoticed) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  ASSERT_EQ(run_program(toy_run({"--set", until(2)}), folder.path()).exit_code, 0);
  std::string plan = read_file(run / "plan.toml").value_or("");
  const std::size_t at = plan.find("seed = ");
  ASSERT_NE(at, std::string::npos) << plan;
  plan.insert(at + 7, "7");
  std::ofstream(run / "plan.toml") << plan;
  const Ending ending = run_program({"runs", "resume", "toy", "--set", until(3)}, folder.path());
  EXPECT_EQ(ending.exit_code, 2);
  EXPECT_THAT(ending.output, HasSubstr("run.seed: was "));
}

TEST(Interruptions, AFailedRunThatDidSomethingSaysHowToGoOn) {
  const ScratchFolder folder;
  const Ending failed = run_program(toy_run({"--set", "policy.fail_after=1"}), folder.path());
  EXPECT_EQ(failed.exit_code, 1);
  const Ending again = run_printed_command(failed.output, "");
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_THAT(again.output, HasSubstr("told to fail"));
}

TEST(Interruptions, TheSecondSignalIsAcknowledgedToo) {
  const ScratchFolder folder;
  Program program(toy_run({"--set", "policy.waits=call"}), folder.path());
  const auto log = [&] { return read_file(folder / "runs/toy/logs.log").value_or(""); };
  ASSERT_TRUE(program.wait_until([&] { return log().find("waits") != std::string::npos; }))
      << program.wait().output;
  program.send(SIGINT);
  // The policy never answers, so that nothing but the signal can have brought this about.
  ASSERT_TRUE(program.wait_until(
      [&] { return program.output().find("stopping after this iteration") != std::string::npos; }));
  program.send(SIGINT);
  const Ending ending = program.wait();
  EXPECT_EQ(ending.exit_code, 130);
  EXPECT_THAT(ending.output, HasSubstr("\nstopping now"));
  EXPECT_THAT(log(), HasSubstr("asked to stop at once"));
  EXPECT_THAT(log(), HasSubstr("interrupted"));
}

TEST(Interruptions, ACallThatDoesNotEndIsNamed) {
  const ScratchFolder folder;
  Program program(toy_run({"--plugin-path", KERNELRL_BINARY_DIR "/tests/broken/components", "--set",
                           R"(reward=[{use="broken.reward", defect="hang", from=1}])"}),
                  folder.path());
  const auto says = [&](const std::string& text) {
    return program.wait_until([&] { return program.output().find(text) != std::string::npos; });
  };
  ASSERT_TRUE(program.wait_until([&] { return fs::exists(folder / "lasting"); }))
      << program.wait().output;
  program.send(SIGINT);
  ASSERT_TRUE(says("stopping after this iteration"));
  program.send(SIGINT);
  EXPECT_TRUE(says("still waiting for reward 'broken.reward' (score) for "));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().signal, SIGINT);
}

TEST(Interruptions, RunsStopWaitsForTheCheckpoint) {
  const ScratchFolder folder;
  const fs::path run = folder / "runs/toy";
  Program program(toy_run(), folder.path());
  ASSERT_TRUE(program.wait_until([&] { return !metrics_in(run).empty(); }));
  const Ending stop = run_program({"runs", "stop", "toy"}, folder.path());
  EXPECT_EQ(stop.exit_code, 0) << stop.output;
  EXPECT_THAT(stop.output, HasSubstr("runs resume " + run.string() + "\n"));
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
    EXPECT_THAT(ending.output, HasSubstr("free some space and resume"));
    fs::remove(filler);
  }
  expect_same_after_resume(folder.path());
}

}  // namespace
}  // namespace krl::test

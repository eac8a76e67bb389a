// Whole runs of the program in which a plugin does to the process what no plugin may do: the words
// on the screen and in the log name it, and the run's finished iterations stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/file_system.hpp"
#include "core/run/run_directory.hpp"
#include "tests/plans/program.hpp"
#include "tests/plans/run_folder.hpp"
#include "tests/scratch_folder.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

std::vector<std::string> run_with(const std::string& how, const std::string& where) {
  return {"--plan",
          KERNELRL_SOURCE_DIR "/tests/plans/toy.toml",
          "--plugin-path",
          KERNELRL_BINARY_DIR "/tests/plugins",
          "--plugin-path",
          KERNELRL_BINARY_DIR "/tests/plugins/faults",
          "--set",
          "reward=[{use=\"test.fault\", how=\"" + how + "\", where=\"" + where + "\"}]",
          "--set",
          "stage.reinforce.iterations=2"};
}

// What a run says and leaves when `how` happens in `where`.
struct Fault {
  explicit Fault(const std::string& how, const std::string& where = "score")
      : ending(run_program(run_with(how, where), folder.path())),
        log(read_file(RunLayout{folder / "runs/toy"}.log()).value_or("")) {}

  ScratchFolder folder;
  Ending ending;
  std::string log;
};

const std::string kPlugin =
    "(plugin faults 1.2.3, " KERNELRL_BINARY_DIR "/tests/plugins/faults/faults.krl.so)\n";

void expect_named(const Fault& fault, const std::string& words) {
  EXPECT_THAT(fault.ending.output, HasSubstr("kernelrl: error: " + words));
  EXPECT_THAT(fault.ending.output, HasSubstr(kPlugin));
  EXPECT_THAT(fault.log, HasSubstr(" error   kernelrl: error: " + words));
}

TEST(PluginFaults, ACrashNamesThePluginAndTheSignal) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer reports crashes";
  const Fault fault("segfault");
  EXPECT_EQ(fault.ending.signal, SIGSEGV);
  expect_named(fault, "reward 'test.fault' (score) crashed: SIGSEGV at address 0x0");
}

TEST(PluginFaults, AnOverflowOfTheStackIsACrash) {
  if (kHasSanitizer) GTEST_SKIP() << "the sanitizer reports crashes";
  const Fault fault("overflow");
  EXPECT_EQ(fault.ending.signal, SIGSEGV);
  expect_named(fault, "reward 'test.fault' (score) crashed: SIGSEGV at address 0x");
}

TEST(PluginFaults, AbortIsACrash) {
  const Fault fault("abort");
  EXPECT_EQ(fault.ending.signal, SIGABRT);
  expect_named(fault, "reward 'test.fault' (score) crashed: SIGABRT");
}

TEST(PluginFaults, ACrashThatNoLogWitnessesIsOnTheScreen) {
  const Fault fault("abort", "create");
  EXPECT_EQ(fault.ending.signal, SIGABRT);
  EXPECT_THAT(fault.ending.output, HasSubstr("reward 'test.fault' (create) crashed: SIGABRT"));
}

TEST(PluginFaults, ACrashAtTheEndNamesThePlugin) {
  const Fault fault("abort", "destroy");
  EXPECT_EQ(fault.ending.signal, SIGABRT);
  EXPECT_THAT(fault.ending.output, HasSubstr("reward 'test.fault' (destroy) crashed: SIGABRT"));
}

TEST(PluginFaults, AnExceptionThatIsNotCaughtSaysWhatItWas) {
  const Fault fault("noexcept");
  EXPECT_EQ(fault.ending.signal, SIGABRT);
  expect_named(fault, "reward 'test.fault' (score) crashed: SIGABRT, an uncaught exception: boom");
}

TEST(PluginFaults, ABrokenPipeIsACrash) {
  const Fault fault("pipe");
  EXPECT_EQ(fault.ending.signal, SIGPIPE);
  expect_named(fault, "reward 'test.fault' (score) crashed: SIGPIPE");
}

TEST(PluginFaults, ACrashOfAThreadNamesTheCallsUnderWay) {
  const Fault thrown("thread throw");
  EXPECT_EQ(thrown.ending.signal, SIGABRT);
  expect_named(thrown,
               "a thread outside of any call crashed: SIGABRT, an uncaught exception: boom");
  EXPECT_THAT(thrown.ending.output,
              HasSubstr("  under way: reward 'test.fault' (score) " + kPlugin));
  if (kHasSanitizer) return;
  const Fault crashed("thread segfault");
  EXPECT_EQ(crashed.ending.signal, SIGSEGV);
  EXPECT_THAT(
      crashed.ending.output,
      HasSubstr(
          "a thread outside of any call crashed: SIGSEGV at address 0x0, in " KERNELRL_BINARY_DIR
          "/tests/plugins/faults/faults.krl.so\n"));
}

TEST(PluginFaults, AReportFitsASmallSignalStack) {
  const Fault fault("thread with a small signal stack");
  EXPECT_EQ(fault.ending.signal, SIGABRT);
  expect_named(fault, "a thread outside of any call crashed: SIGABRT, an uncaught exception: boom");
}

TEST(PluginFaults, AReportSaysWhatStands) {
  const Fault fault("abort", "second iteration");
  EXPECT_THAT(fault.ending.output,
              HasSubstr("runs/toy is complete up to iteration 1; resume with: "));
  EXPECT_EQ(metrics_in(fault.folder / "runs/toy").size(), 1u);
}

TEST(PluginFaults, ExitIsNotTheEndOfTheProgram) {
  for (const std::string how : {"exit", "quick_exit", "_exit", "pthread_exit"}) {
    if (kHasSanitizer && how == "_exit") continue;  // it is the sanitizer's
    const Fault fault(how);
    EXPECT_EQ(fault.ending.exit_code, 1) << how;
    const std::string what =
        how == "pthread_exit" ? "ended the thread of the call with " : "called ";
    expect_named(fault, "reward 'test.fault' (score) " + what + how + "(), so kernelrl ends");
  }
  const Fault in_create("exit", "create");
  EXPECT_EQ(in_create.ending.exit_code, 1);
  EXPECT_THAT(in_create.ending.output, HasSubstr("reward 'test.fault' (create) called exit()"));
}

TEST(PluginFaults, ExitOfAThreadNamesTheCallsUnderWay) {
  const Fault fault("thread exit");
  EXPECT_EQ(fault.ending.exit_code, 1);
  expect_named(fault, "a thread outside of any call called exit(), so kernelrl ends");
  EXPECT_THAT(fault.ending.output,
              HasSubstr("  under way: reward 'test.fault' (score) " + kPlugin));
}

TEST(PluginFaults, AnExceptionPastCIsABrokenContract) {
  for (const std::string where : {"create", "score"}) {
    const Fault fault("throw", where);
    EXPECT_NE(fault.ending.exit_code, 0);
    EXPECT_EQ(fault.ending.signal, 0);
    EXPECT_THAT(fault.ending.output,
                HasSubstr("reward 'test.fault' broke its contract in " + where +
                          "(): it threw an exception across the C boundary: boom"));
  }
  const Fault odd("throw int");
  EXPECT_THAT(odd.ending.output, HasSubstr("something that is not a std::exception"));
  const Fault at_the_end("throw", "destroy");
  EXPECT_EQ(at_the_end.ending.exit_code, 0) << at_the_end.ending.output;
}

TEST(PluginFaults, TheChildOfAForkEndsWhereItReturns) {
  const Fault fault("fork");
  EXPECT_EQ(fault.ending.exit_code, 0) << fault.ending.output;
  EXPECT_THAT(
      fault.ending.output,
      HasSubstr(
          "reward 'test.fault' (score) forked, and the child returned to kernelrl; the child ends here " +
          kPlugin));
  EXPECT_EQ(metrics_in(fault.folder / "runs/toy").size(), 2u);
}

TEST(PluginFaults, AChildThatGoesItsOwnWayIsFine) {
  for (const char* how : {"fork and exec", "fork and exit", "vfork and _exit"}) {
    const Fault fault(how);
    EXPECT_EQ(fault.ending.exit_code, 0) << fault.ending.output;
    EXPECT_THAT(fault.ending.output, Not(HasSubstr("test.fault"))) << how;
  }
}

TEST(PluginFaults, AFileThatEndsItsProcessWhenItIsLoadedIsRefused) {
  const ScratchFolder folder;
  const Ending ending = run_program(
      {"plugins", "list", "--plugin-path", KERNELRL_BINARY_DIR "/tests/plugins/bad_starts"},
      folder.path());
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  EXPECT_THAT(
      ending.output,
      HasSubstr("exits_at_start.krl.so: ended the process with exit code 3 while it was being "
                "loaded\n"));
  EXPECT_THAT(ending.output, HasSubstr("crashes_at_start.krl.so: "));
  if (kHasSanitizer) return;
  EXPECT_THAT(ending.output, HasSubstr("crashed (SIGSEGV) while it was being loaded\n"));
}

TEST(PluginFaults, WhatAPluginPrintsIsNotTheProgramsOutput) {
  const ScratchFolder folder;
  std::string command = KERNELRL_BINARY_DIR "/bin/kernelrl eval --json --samples 1";
  for (const std::string& word : run_with("print", "score")) command += " '" + word + "'";
  command += " > " + (folder / "out").string() + " 2> " + (folder / "errors").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string output = read_file(folder / "out").value_or("");
  EXPECT_TRUE(nlohmann::json::accept(output)) << output;
  EXPECT_THAT(read_file(folder / "errors").value_or(""),
              HasSubstr("printed by a plugin\nprinted by its child\n"));
}

// Runs the program on a terminal that can redraw, and gives what appears there.
std::string on_terminal(std::vector<std::string> words, const fs::path& folder) {
  words.insert(words.begin(), KERNELRL_BINARY_DIR "/bin/kernelrl");
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    if (::chdir(folder.c_str()) == 0) ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  std::string shown;
  char chunk[4096];
  for (ssize_t n; (n = ::read(terminal, chunk, sizeof chunk)) > 0;)
    shown.append(chunk, static_cast<std::size_t>(n));
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return shown;
}

TEST(PluginFaults, WhatAPluginPrintsDoesNotTearTheLiveView) {
  const ScratchFolder folder;
  const std::string shown = on_terminal(run_with("print", "score"), folder.path());
  EXPECT_THAT(shown, HasSubstr("iteration 2 of 2"));
  EXPECT_THAT(shown, HasSubstr("finished"));
  EXPECT_THAT(shown, Not(HasSubstr("printed")));
  EXPECT_THAT(read_file(RunLayout{folder / "runs/toy"}.output()).value_or(""),
              HasSubstr("printed by a plugin\nprinted by its child\n"));
}

TEST(PluginFaults, ACrashUnderALiveViewIsOnTheTerminal) {
  const ScratchFolder folder;
  EXPECT_THAT(on_terminal(run_with("abort", "score"), folder.path()),
              HasSubstr("reward 'test.fault' (score) crashed: SIGABRT"));
}

TEST(PluginFaults, AMessageIsOneLineOfTheLog) {
  const Fault fault("log");
  EXPECT_EQ(fault.ending.exit_code, 0) << fault.ending.output;
  EXPECT_THAT(fault.log, HasSubstr("error   test.fault: one 2026-01-01 00:00:00.000 error   "
                                   "forged [2J?\n"));
}

}  // namespace
}  // namespace krl::test

// What becomes of a plugin's output, and what a terminal shows of a plugin that breaks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/base/file_system.hpp"
#include "core/run/run_directory.hpp"
#include "tests/broken/world.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

// The world whose reward has this defect from its first score on.
std::vector<std::string> call(std::string_view defect) {
  constexpr Patient kPatient{"reward", "reward.0", "score"};
  return World::call(kPatient, {.name = defect, .end = End::kFinishes, .from = 1});
}

TEST(BrokenOutput, OfAChildThatGoesItsOwnWayNothingIsSaid) {
  for (const char* defect : {"fork and exec", "fork and exit", "vfork and _exit"}) {
    const World world;
    const Ending ending = run_program(call(defect), world.folder());
    EXPECT_EQ(ending.exit_code, 0) << ending.output;
    EXPECT_THAT(ending.output, Not(HasSubstr("broken.reward"))) << defect;
  }
}

TEST(BrokenOutput, WhatAPluginPrintsIsNotTheProgramsOutput) {
  const World world;
  std::string command = KERNELRL_BINARY_DIR "/bin/kernelrl eval --json --samples 1";
  for (const std::string& word : call("print")) command += " '" + word + "'";
  command = "cd " + world.folder().string() + " && " + command + " > out 2> errors";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string output = read_file(world.folder() / "out").value_or("");
  EXPECT_TRUE(nlohmann::json::accept(output)) << output;
  EXPECT_THAT(read_file(world.folder() / "errors").value_or(""),
              HasSubstr("a stranger's line on standard output\na line of its child\n"));
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

TEST(BrokenOutput, WhatAPluginPrintsDoesNotTearTheLiveView) {
  const World world;
  const std::string shown = on_terminal(call("print"), world.folder());
  EXPECT_THAT(shown, HasSubstr("iteration 4 of 4"));
  EXPECT_THAT(shown, HasSubstr("finished"));
  EXPECT_THAT(shown, Not(HasSubstr("a stranger's line")));
  EXPECT_THAT(read_file(RunLayout{world.run()}.output()).value_or(""),
              HasSubstr("a stranger's line on standard output\na line of its child\n"));
}

TEST(BrokenOutput, ACrashUnderALiveViewIsOnTheTerminal) {
  const World world;
  EXPECT_THAT(on_terminal(call("abort"), world.folder()),
              HasSubstr("reward 'broken.reward' (score) crashed: SIGABRT"));
}

}  // namespace
}  // namespace krl::test

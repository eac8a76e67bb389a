// Workers: processes, their sandbox, what they leave behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <kernelrl/testing/call.hpp>
#include <kernelrl/values.hpp>

#include "plugins/backends/evaluator/sandbox/sandbox.hpp"
#include "plugins/process/conversation.hpp"

namespace krl::evaluator {
using namespace process;
namespace {

const std::string kLauncher = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-sandbox";
constexpr std::chrono::seconds kPatience{60};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

struct Finished {
  Ending ending;
  std::string output;
};

Finished run(Command command, std::chrono::milliseconds limit = kPatience) {
  const MemoryFile output = MemoryFile::create("test-output");
  command.descriptors.emplace_back(output.descriptor(), 1);
  command.descriptors.emplace_back(output.descriptor(), 2);
  Subprocess child(command);
  const Ending ending = child.wait(limit);
  return {ending, output.read(1 << 16)};
}

SandboxRules rules() {
  SandboxRules rules;
  rules.readable = {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/etc/ld.so.cache"};
  return rules;
}

Finished shell(const std::string& script, SandboxRules with = rules()) {
  return run(sandboxed(kLauncher, with, {{"/bin/bash", "-c", script}}));
}

TEST(SubprocessTest, GivesInputOutputAndNothingElse) {
  const MemoryFile input = MemoryFile::with("test-input", "hello");
  const auto done = run(
      {{"/bin/sh", "-c", "cat; echo; env; ls /proc/$$/fd"}, {"A=b"}, {{input.descriptor(), 0}}});
  EXPECT_TRUE(done.ending.ok()) << done.output;
  EXPECT_EQ(done.output.rfind("hello\n", 0), 0u);
  EXPECT_NE(done.output.find("A=b"), std::string::npos);
  EXPECT_EQ(done.output.find("HOME="), std::string::npos);
  EXPECT_EQ(done.output.find("\n7\n"), std::string::npos) << done.output;
}

TEST(SubprocessTest, KillsTheWholeGroupAtItsDeadline) {
  const auto folder = std::filesystem::temp_directory_path() / "krl_group_test";
  std::filesystem::remove(folder);
  const auto done = run({{"/bin/sh", "-c", "sleep 1000 & echo $! > " + folder.string() + "; wait"},
                         {"PATH=/bin"},
                         {}},
                        std::chrono::milliseconds(500));
  EXPECT_TRUE(done.ending.deadline);
  std::ifstream in(folder);
  pid_t grandchild = 0;
  in >> grandchild;
  if (grandchild > 0) {
    while (::kill(grandchild, 0) == 0) {  // until init has collected it
      std::ifstream state("/proc/" + std::to_string(grandchild) + "/stat");
      std::string id, name, letter;
      if (!(state >> id >> name >> letter) || letter == "Z") break;
    }
  }
  std::filesystem::remove(folder);
}

TEST(ConversationTest, TakesNoLateAnswerForThatOfTheNextRequest) {
  Conversation echo({{"/bin/sh", "-c", "sleep 0.2; exec cat"}, {"PATH=/bin"}, {}});
  EXPECT_FALSE(echo.ask("first", std::chrono::milliseconds(10)));
  EXPECT_TRUE(echo.timed_out());
  EXPECT_FALSE(echo.ask("second", kPatience));
  EXPECT_TRUE(echo.timed_out());
}

TEST(SubprocessTest, StopsWhenCancelled) {
  Subprocess child({{"/bin/sleep", "1000"}, {}, {}});
  EXPECT_TRUE(child.wait(kPatience, [] { return true; }).cancelled);
}

TEST(SubprocessTest, EndsWhatSleepsAndNotWhatWorks) {
  constexpr std::chrono::milliseconds kLittle{200};
  Subprocess sleeper({{"/bin/sleep", "1000"}, {}, {}});
  EXPECT_TRUE(sleeper.wait(kPatience, {}, kLittle).asleep);
  Subprocess worker({{"/bin/bash", "-c", "while ((SECONDS < 2)); do :; done"}, {}, {}});
  EXPECT_TRUE(worker.wait(kPatience, {}, kLittle).ok());
}

// A worker that shares memory could otherwise make us read where there is none.
TEST(SharedMemoryTest, KeepsItsSize) {
  const SharedMemory memory(1 << 16);
  EXPECT_NE(::ftruncate(memory.descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(memory.descriptor(), 1 << 20), 0);
  memory.bytes()[100] = std::byte{1};
  const MemoryFile given = MemoryFile::with("test-given", "as it was");
  EXPECT_NE(::ftruncate(given.descriptor(), 0), 0);
  EXPECT_LT(::pwrite(given.descriptor(), "x", 1, 0), 0);
  EXPECT_EQ(given.read(100), "as it was");
}

TEST(SubprocessTest, SaysWhatIsMissing) {
  EXPECT_THROW(Subprocess({{"/no/such/program"}, {}, {}}), Failure);
}

TEST(SubprocessTest, LeavesNoDescriptorsAndNoChildren) {
  run({{"/bin/true"}, {}, {}});
  const std::size_t before = open_descriptors();
  for (int i = 0; i < 100; ++i) {
    Subprocess child({{"/bin/sleep", "1000"}, {}, {}});
    if (i % 2 == 0) child.kill();
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
}

TEST(SandboxTest, ReadsOnlyWhatItMay) {
  EXPECT_NE(shell("read -r line < /etc/passwd && echo \"$line\"").output.find("denied"),
            std::string::npos);
  EXPECT_NE(shell("read -r line < /proc/1/environ").output.find("denied"), std::string::npos);
}

TEST(SandboxTest, WritesNoFile) {
  const std::string path = std::filesystem::temp_directory_path() / "krl_sandbox_escape";
  EXPECT_FALSE(shell("echo x > " + path).ending.ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SandboxTest, WritesToItsPrivateFolderOnly) {
  SandboxRules with_folder = rules();
  with_folder.private_folder_bytes = 1 << 20;
  const std::string path = std::filesystem::temp_directory_path() / "krl_sandbox_escape";
  const auto done =
      shell("echo here > file && read -r line < file && echo \"$line\"; echo *; echo x > " + path,
            with_folder);
  EXPECT_NE(done.output.find("here\nfile\n"), std::string::npos) << done.output;
  EXPECT_FALSE(done.ending.ok());
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(shell("echo *", with_folder).output.find("file\n"), std::string::npos);
}

TEST(SandboxTest, HasNoNetwork) {
  EXPECT_FALSE(shell("exec 3<>/dev/tcp/127.0.0.1/22").ending.ok());
  EXPECT_NE(shell("exec 3<>/dev/tcp/127.0.0.1/22").output.find("not permitted"), std::string::npos);
}

TEST(SandboxTest, StartsNothingElse) {
  EXPECT_NE(shell("/bin/true").ending.exit_code, 0);
  EXPECT_NE(shell("exec /bin/true").ending.exit_code, 0);
  SandboxRules with_children = rules();
  with_children.children = true;
  EXPECT_NE(shell("exec /bin/true", with_children).ending.exit_code, 0) << "not among the programs";
}

TEST(SandboxTest, SignalsNobody) {
  EXPECT_FALSE(shell("kill -0 " + std::to_string(::getpid())).ending.ok());
}

TEST(SandboxTest, RefusesWaysAround) {
  const auto done =
      run(sandboxed(kLauncher, rules(), {{KERNELRL_BINARY_DIR "/tests/forbidden_calls"}}));
  EXPECT_EQ(done.output, "end\n");
}

TEST(SandboxTest, MayCopyItselfAndNothingElse) {
  SandboxRules forks = rules();
  forks.forks = true;
  EXPECT_EQ(shell("(echo copy)", forks).output, "copy\n");
  EXPECT_NE(shell("/bin/true", forks).ending.exit_code, 0);
}

TEST(SandboxTest, EndsAtItsProcessorTime) {
  SandboxRules one_second = rules();
  one_second.cpu_seconds = 1;
  EXPECT_EQ(shell("while :; do :; done", one_second).ending.signal, SIGXCPU);
}

TEST(SandboxTest, StopsAtTheFirstStepThatFails) {
  SandboxRules with_children = rules();
  with_children.children = true;
  const auto done = run(sandboxed(kLauncher, with_children,
                                  {{"/bin/echo", "one"}, {"/bin/false"}, {"/bin/echo", "three"}}));
  EXPECT_EQ(done.ending.exit_code, 1);
  EXPECT_EQ(done.output, "one\n");
}

TEST(SandboxTest, SaysWhatProtects) {
  const SandboxFeatures features = probe_sandbox(kLauncher);
  EXPECT_NE(features.active.find("rlimits"), std::string::npos) << features.active;
}

TEST(SandboxTest, AMissingLayerIsAWarningOrAnError) {
  ::krl::testing::Call call;
  const Context context(call.context());
  const SandboxFeatures all{"rlimits, seccomp", {}};
  const SandboxFeatures most{"rlimits", {"seccomp: not in this kernel"}};
  EXPECT_NO_THROW(require_sandbox(all, "complete", context));
  EXPECT_NO_THROW(require_sandbox(most, "available", context));
  try {
    require_sandbox(most, "complete", context);
    FAIL() << "accepted";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_NE(std::string(failure.what()).find("\n  seccomp: not in this kernel\n"),
              std::string::npos)
        << failure.what();
  }
}

}  // namespace
}  // namespace krl::evaluator

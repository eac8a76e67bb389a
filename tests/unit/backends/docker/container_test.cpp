// Commands in the locked container: what they can do, what they cannot, and what is left of them.
#include <thread>

#include "tests/unit/backends/docker/docker_fixture.hpp"

namespace krl::docker::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Each test pays for a daemon, so one test looks at many sides of one thing.
using ContainerTest = DockerFixture;

TEST_F(ContainerTest, CommandsGetInputAndGiveOutputAndAnExitCode) {
  Container container(settings());
  const CommandResult result =
      container.run(shell("cat; echo to err >&2; pwd; echo $HOME $TMPDIR; exit 3", "input "));
  EXPECT_EQ(result.end, CommandResult::kExited);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "input /work/0\n/work/0 /work/0\n");
  EXPECT_EQ(result.err, "to err\n");

  ContainerCommand with_environment = shell("echo $COLOUR");
  with_environment.environment = {"COLOUR=blue"};
  EXPECT_EQ(container.run(with_environment).out, "blue\n");

  ContainerCommand no_program;
  no_program.arguments = {"/bin/no-such-program"};
  const CommandResult missing = container.run(no_program);
  EXPECT_THAT(missing.exit_code, ::testing::AnyOf(126, 127));
  EXPECT_THAT(missing.out, HasSubstr("no such file"));
}

TEST_F(ContainerTest, LargeStreamsPassUnharmedAndTooLargeOnesEndTheCommand) {
  Container container(settings());
  std::string large(8 << 20, '\0');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * 31 >> 5);
  const CommandResult echoed = container.run(shell("cat", large));
  EXPECT_TRUE(echoed.ok());
  EXPECT_EQ(echoed.out, large);  // both ways at once

  EXPECT_TRUE(container.run(shell("exit 0", large)).ok());  // nobody reads it

  ContainerCommand endless = shell("yes");
  endless.output_limits.out_bytes = 10'000;
  const CommandResult cut = container.run(endless);
  EXPECT_EQ(cut.end, CommandResult::kTooMuchOutput);
  EXPECT_EQ(cut.out.size(), 10'000u);

  ContainerCommand noisy = shell("yes | head -c 1000000 >&2; echo done");
  noisy.output_limits.err_bytes = 5'000;
  const CommandResult quietened = container.run(noisy);
  EXPECT_EQ(quietened.out, "done\n");
  EXPECT_EQ(quietened.err.size(), 5'000u);
}

TEST_F(ContainerTest, NothingButTheFolderCanBeWritten) {
  Container container(settings());
  EXPECT_THAT(container.run(shell("echo x > /file")).err, HasSubstr("Read-only file system"));
  const CommandResult written = container.run(shell(
      R"(for folder in $(find / -type d 2> /dev/null | grep -v ^/proc/); do
           (touch "$folder/probe") 2> /dev/null && echo "$folder"
         done)"));
  EXPECT_EQ(written.out, "/work/0\n");
  // … and what is written there can be run, up to its size.
  EXPECT_TRUE(container.run(shell("cp /bin/true ./mine && ./mine")).ok());
  const CommandResult full = container.run(shell("dd if=/dev/zero of=file bs=1M count=65"));
  EXPECT_THAT(full.err, HasSubstr("No space left on device"));
}

TEST_F(ContainerTest, HasNoNetworkNoCapabilitiesAndNoWayToGetThem) {
  Container container(settings());
  EXPECT_EQ(container.run(shell("ls /sys/class/net")).out, "lo\n");
  ContainerCommand connect;
  connect.arguments = {"/bin/bash", "-c", "exec 3<> /dev/tcp/127.0.0.1/1"};
  EXPECT_THAT(container.run(connect).err, HasSubstr("Connection refused"));
  connect.arguments.back() = "exec 3<> /dev/tcp/192.0.2.1/1";
  EXPECT_THAT(container.run(connect).err, HasSubstr("Network is unreachable"));

  const std::string status = container.run(shell("cat /proc/self/status")).out;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_THAT(status, HasSubstr(std::string(set) + ":\t0000000000000000\n"));
  }
  EXPECT_THAT(status, AllOf(HasSubstr("NoNewPrivs:\t1\n"), HasSubstr("Seccomp:\t2\n")));
  EXPECT_GE(std::stoul(container.run(shell("id -u")).out), 1u << 24);
  EXPECT_THAT(container.run(shell("chown 0 .")).err, HasSubstr("not permitted"));
}

TEST_F(ContainerTest, TooMuchMemoryIsSeen) {
  Container container(settings());
  const CommandResult greedy = container.run(shell("dd if=/dev/zero of=/dev/null bs=400M count=1"));
  EXPECT_EQ(greedy.end, CommandResult::kOutOfMemory) << greedy.err;
  // The next is not blamed for it.
  EXPECT_EQ(container.run(shell("exit 1")).end, CommandResult::kExited);
  // A command that loses a child for it and copes has not failed.
  EXPECT_TRUE(container.run(shell("dd if=/dev/zero of=/dev/null bs=400M count=1; exit 0")).ok());
}

TEST_F(ContainerTest, MemoryThatSomebodyElseMayHaveTakenIsNobodysFault) {
  ContainerSettings two = settings();
  two.commands_at_once = 2;
  Container container(two);
  std::jthread beside([&] { container.run(shell("sleep 1")); });
  while (container.run(shell("cat /proc/*/cmdline")).out.find("sleep") == std::string::npos) {
  }
  try {
    container.run(shell("dd if=/dev/zero of=/dev/null bs=400M count=1"));
    ADD_FAILURE() << "blamed";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
    EXPECT_THAT(failure.what(), HasSubstr("ran out of memory while several commands"));
  }
}

TEST_F(ContainerTest, TooManyProcessesAreRefusedToTheCommandAlone) {
  ContainerSettings two = settings();
  two.commands_at_once = 2;
  Container container(two);
  const CommandResult many =
      container.run(shell("i=0; while [ $i -lt 100 ]; do sleep 1000 & i=$((i+1)); done; echo all"));
  EXPECT_THAT(many.err, HasSubstr("Cannot fork"));
  EXPECT_NE(many.out, "all\n");
  EXPECT_TRUE(container.run(shell("for i in 1 2 3; do (exit 0) & done; wait")).ok());
}

TEST_F(ContainerTest, GetsItsShareOfTheProcessors) {
  ContainerSettings half = settings();
  half.processors = 0.5;
  Container container(half);
  const std::string quota = container
                                .run(shell("cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us "
                                           "/sys/fs/cgroup/cpu.max 2> /dev/null"))
                                .out;
  EXPECT_THAT(quota, ::testing::StartsWith("50000"));  // of 100000 microseconds
}

TEST_F(ContainerTest, ManyCommandsRunAtATimeEachByItself) {
  ContainerSettings four = settings();
  four.commands_at_once = 4;
  Container container(four);
  std::vector<std::jthread> threads;
  std::vector<std::string> outputs(12), mistakes(12);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::string text = std::to_string(i) + std::string(100'000, 'a');
      const CommandResult result =
          container.run(shell("ls -A; cat > mine; ls /work/*/mine 2> /dev/null; cat mine", text));
      if (!result.ok()) mistakes[i] = result.err;
      outputs[i] = result.out.substr(result.out.find('\n') + 1) == text ? "right" : result.out;
    });
  }
  for (std::jthread& thread : threads) thread.join();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(mistakes[i], "");
    EXPECT_EQ(outputs[i], "right");
  }
}

}  // namespace
}  // namespace krl::docker::testing

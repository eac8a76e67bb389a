// What is left of commands that do not end by themselves or do not want to: nothing.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "tests/unit/backends/docker/docker_fixture.hpp"

#include "plugins/files/file.hpp"
#include "tests/wait_while.hpp"

namespace krl::docker::testing {
namespace {

// A process of this machine, in whatever container, has `word` in its command line.
bool some_process_says(const std::string& word) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (files::read_file_or_empty(entry.path() / "cmdline").find(word) != std::string::npos)
      return true;
  }
  return false;
}

// A killed process stays in /proc until the machine has a moment to end it, which a busy one may not
// have at once.
bool every_process_ends(const std::string& word) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (some_process_says(word)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

using SweepingTest = DockerFixture;

TEST_F(SweepingTest, ATimeoutKillsEveryProcessOfTheCommand) {
  Container container(settings());
  ContainerCommand stubborn = shell(
      R"(trap '' TERM HUP INT
         setsid sh -c "sleep 7654321 & setsid sleep 7654321" &
         sleep 7654321)");
  stubborn.time_limit = std::chrono::milliseconds(1500);
  const CommandResult result = container.run(stubborn);
  EXPECT_EQ(result.end, CommandResult::kTimedOut);
  EXPECT_TRUE(every_process_ends("7654321"));
  EXPECT_TRUE(container.run(shell("true")).ok());
}

TEST_F(SweepingTest, ACommandGivenUpWhileItStartsIsKilledToo) {
  Container container(settings());
  const std::string name = container.name();
  for (const int milliseconds : {0, 1, 5, 10, 20, 30, 40, 60}) {
    ContainerCommand late = shell("sleep 7654322");
    late.time_limit = std::chrono::milliseconds(milliseconds);
    EXPECT_EQ(container.run(late).end, CommandResult::kTimedOut);
    EXPECT_TRUE(every_process_ends("7654322")) << milliseconds;
  }
  EXPECT_EQ(container.name(), name);  // and that took no other container
}

TEST_F(SweepingTest, ACancelledCommandIsKilled) {
  Container container(settings());
  std::atomic<bool> cancelled{false};
  std::jthread canceller([&] {
    test::wait_while([&] { return !some_process_says("7654323"); });
    cancelled = true;
  });
  try {
    container.run(shell("sleep 7654323"), [&] { return cancelled.load(); });
    ADD_FAILURE() << "not cancelled";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_CANCELLED);
  }
  canceller.join();
  EXPECT_TRUE(every_process_ends("7654323"));
}

TEST_F(SweepingTest, WhatACommandLeavesBehindIsKilledAndRemoved) {
  Container container(settings());
  // Its output ends before it does.
  EXPECT_EQ(container.run(shell("exec > /dev/null 2>&1; sleep 0.3; exit 5")).exit_code, 5);
  EXPECT_TRUE(container.run(shell("sleep 7654324 > /dev/null 2>&1 & echo left")).ok());
  EXPECT_TRUE(every_process_ends("7654324"));

  const std::string name = container.name();
  EXPECT_TRUE(
      container
          .run(shell("mkdir -p a/b .hidden 'a b' && touch a/b/c .hidden/-x && ln -s / root && "
                     "mkfifo pipe && chmod 000 a/b a .hidden pipe ."))
          .ok());
  EXPECT_EQ(container.run(shell("ls -A")).out, "");
  EXPECT_EQ(container.name(), name);
}

TEST_F(SweepingTest, AForkBombEndsWithItsCommand) {
  Container container(settings());
  ContainerCommand bomb = shell("bomb() { bomb 7654325 | bomb & }; while true; do bomb; done");
  bomb.time_limit = std::chrono::milliseconds(1500);
  const CommandResult result = container.run(bomb);
  EXPECT_THAT(result.end, ::testing::AnyOf(CommandResult::kTimedOut, CommandResult::kExited));
  EXPECT_TRUE(container.run(shell("true")).ok());
  EXPECT_EQ(container.run(shell("cat /proc/*/cmdline")).out.find("7654325"), std::string::npos);
}

TEST_F(SweepingTest, ACommandThatKillsItsSweepersLosesItsContainer) {
  Container container(settings());
  ContainerCommand killer = shell({});
  killer.arguments = {"/bin/sh", "-c", "while true; do kill -9 -1; done", "7654326"};
  killer.time_limit = std::chrono::milliseconds(1500);
  EXPECT_EQ(container.run(killer).end, CommandResult::kTimedOut);
  EXPECT_TRUE(every_process_ends("7654326"));
  EXPECT_TRUE(container.run(shell("true")).ok());
}

}  // namespace
}  // namespace krl::docker::testing

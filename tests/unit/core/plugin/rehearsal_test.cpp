#include "core/plugin/library.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace krl::core {
namespace {

constexpr std::chrono::minutes kPlenty{1};

std::string outcome_of(const std::function<void()>& load,
                       std::chrono::milliseconds limit = kPlenty) {
  const Status status = rehearse(load, limit);
  return status ? "returned" : status.error().message;
}

TEST(Rehearsal, TellsHowAFileEndsItsProcess) {
  EXPECT_EQ(outcome_of([] {}), "returned");
  EXPECT_EQ(outcome_of([] { std::raise(SIGSEGV); }), "crashed (SIGSEGV) while it was being loaded");
  EXPECT_EQ(outcome_of([] { std::abort(); }), "crashed (SIGABRT) while it was being loaded");
  EXPECT_EQ(outcome_of([] { ::_exit(0); }),
            "ended the process with exit code 0 while it was being loaded");
  EXPECT_EQ(outcome_of([] { ::_exit(3); }),
            "ended the process with exit code 3 while it was being loaded");
}

TEST(Rehearsal, EndsWhatDoesNotReturn) {
  EXPECT_EQ(outcome_of([] { ::pause(); }, std::chrono::milliseconds(20)),
            "did not return within 0.02 s while it was being loaded");
}

TEST(Rehearsal, DoesNotWaitForThreadsAndProcessesThatWereStarted) {
  EXPECT_EQ(outcome_of([] {
              std::thread([] { ::pause(); }).detach();
              if (::fork() == 0) ::pause();
            }),
            "returned");
}

TEST(RunInChild, GivesAReportOfAnySizeThoughAProcessKeepsThePipeOpen) {
  const std::string long_text(1 << 20, 'x');  // more than a pipe holds
  const auto end = run_in_child(
      [&] {
        if (::fork() == 0) ::pause();
        return long_text;
      },
      kPlenty);
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->in_time);
  EXPECT_TRUE(end->report == long_text);
}

TEST(RunInChild, TellsAKillFromTheLimit) {
  const auto report = [] { return std::raise(SIGKILL) == 0 ? std::string() : std::string("?"); };
  const auto killed = run_in_child(report, kPlenty);
  ASSERT_TRUE(killed);
  EXPECT_FALSE(killed->report);
  EXPECT_TRUE(killed->in_time);
  EXPECT_EQ(WTERMSIG(killed->status), SIGKILL);
}

TEST(Rehearsal, ChangesNothingHere) {
  bool loaded = false;
  EXPECT_EQ(outcome_of([&] { loaded = true; }), "returned");
  EXPECT_FALSE(loaded);
}

}  // namespace
}  // namespace krl::core

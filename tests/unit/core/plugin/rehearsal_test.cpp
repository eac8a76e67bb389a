#include "core/plugin/rehearsal.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

namespace krl {
namespace {

constexpr std::chrono::minutes kPlenty{1};

std::string outcome_of(const std::function<void()>& load,
                       std::chrono::milliseconds limit = kPlenty) {
  const Status status = rehearse(load, limit);
  return status ? "returned" : status.error().message;
}

TEST(Rehearsal, TellsHowAFileEndsItsProcess) {
  EXPECT_EQ(outcome_of([] {}), "returned");
  EXPECT_EQ(outcome_of([] { std::raise(SIGSEGV); }), "crashed (SIGSEGV) while it was loaded");
  EXPECT_EQ(outcome_of([] { std::abort(); }), "crashed (SIGABRT) while it was loaded");
  EXPECT_EQ(outcome_of([] { ::_exit(0); }),
            "ended the process, with exit code 0, while it was loaded");
  EXPECT_EQ(outcome_of([] { ::_exit(3); }),
            "ended the process, with exit code 3, while it was loaded");
}

TEST(Rehearsal, EndsWhatDoesNotReturn) {
  EXPECT_EQ(outcome_of([] { ::pause(); }, std::chrono::milliseconds(20)),
            "did not return within 0.02 s when it was loaded");
}

TEST(Rehearsal, DoesNotWaitForThreadsAndProcessesThatWereStarted) {
  EXPECT_EQ(outcome_of([] {
              std::thread([] { ::pause(); }).detach();
              if (::fork() == 0) ::pause();
            }),
            "returned");
}

TEST(Rehearsal, ChangesNothingHere) {
  bool loaded = false;
  EXPECT_EQ(outcome_of([&] { loaded = true; }), "returned");
  EXPECT_FALSE(loaded);
}

}  // namespace
}  // namespace krl

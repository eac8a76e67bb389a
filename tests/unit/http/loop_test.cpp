#include "http/base/loop.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/steady_timer.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace krl::http {
namespace {

void sleep_in(boost::asio::io_context& io, Yield yield) {
  boost::asio::steady_timer timer(io, std::chrono::milliseconds(1));
  timer.async_wait(yield);
}

TEST(Loop, GivesWhatItsWorkGives) {
  Loop loop;
  EXPECT_EQ(loop.run([](Yield) { return std::string("value"); }), "value");
  int count = 0;
  loop.run([&](Yield yield) {
    sleep_in(loop.io(), yield);
    ++count;
  });
  EXPECT_EQ(count, 1);
}

TEST(Loop, ThrowsWhatItsWorkThrows) {
  Loop loop;
  const auto fail = [&](Yield yield) -> int {
    sleep_in(loop.io(), yield);
    throw std::domain_error("why");
  };
  EXPECT_THROW(loop.run(fail), std::domain_error);
  EXPECT_EQ(loop.run([](Yield) { return 1; }), 1);
}

TEST(Loop, RunsTheWorkOfManyThreadsOnOne) {
  Loop loop;
  int count = 0;  // no lock: one thread counts
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) loop.run([&](Yield) { ++count; });
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(loop.run([&](Yield) { return count; }), 800);
}

TEST(Loop, EndsWhenItsCoroutinesHave) {
  bool ended = false;
  {
    Loop loop;
    start(
        loop.io(), [&](Yield yield) { sleep_in(loop.io(), yield); },
        [&](const std::exception_ptr&) { ended = true; });
  }
  EXPECT_TRUE(ended);
}

TEST(SideBySide, WaitsForAllAndThrowsTheFirst) {
  Loop loop;
  std::size_t ended = 0, at_once = 0, most = 0;
  const auto work = [&](std::size_t i, Yield yield) {
    most = std::max(most, ++at_once);
    sleep_in(loop.io(), yield);
    --at_once;
    ++ended;
    if (i == 7) throw std::domain_error("seven");
  };
  EXPECT_THROW(loop.run([&](Yield yield) { side_by_side(loop.io(), 1000, work, yield); }),
               std::domain_error);
  EXPECT_EQ(ended, 1000u);
  EXPECT_EQ(most, 1000u);
  loop.run([&](Yield yield) { side_by_side(loop.io(), 0, work, yield); });
}

TEST(SideBySide, NeedsNoneOfItsWorkToWait) {
  Loop loop;
  int count = 0;
  loop.run([&](Yield yield) {
    side_by_side(
        loop.io(), 10, [&](std::size_t, Yield) { ++count; }, yield);
  });
  EXPECT_EQ(count, 10);
}

}  // namespace
}  // namespace krl::http

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "plugins/backends/evaluator/cache/memory_cache.hpp"

namespace krl::evaluator {
namespace {

TEST(MemoryCacheTest, ComputesOnceForAllWhoAsk) {
  MemoryCache<int> cache(1000);
  std::atomic<int> computed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(*cache.get("key", [&] { return std::pair(++computed, std::size_t{10}); }), 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(computed, 1);
}

TEST(MemoryCacheTest, LetsTheNextOneTryAfterAFailure) {
  MemoryCache<int> cache(1000);
  const auto fail = []() -> std::pair<int, std::size_t> { throw std::runtime_error("no"); };
  EXPECT_THROW(cache.get("key", fail), std::runtime_error);
  EXPECT_EQ(*cache.get("key", [] { return std::pair(7, std::size_t{10}); }), 7);
}

TEST(MemoryCacheTest, DropsWhatWasUsedLongestAgo) {
  MemoryCache<int> cache(20);
  int computed = 0;
  const auto ask = [&](const char* key) {
    cache.get(key, [&] { return std::pair(++computed, std::size_t{10}); });
  };
  for (const char* key : {"a", "b", "a", "c", "a"}) ask(key);
  EXPECT_EQ(computed, 3);
  ask("b");
  EXPECT_EQ(computed, 4);
}

TEST(MemoryCacheTest, DropsTheOldestWhenItIsTold) {
  MemoryCache<int> cache(20);
  int computed = 0;
  const auto ask = [&](const char* key) {
    cache.get(key, [&] { return std::pair(++computed, std::size_t{10}); });
  };
  for (const char* key : {"a", "b", "a"}) ask(key);
  EXPECT_TRUE(cache.drop_oldest());
  ask("a");
  EXPECT_EQ(computed, 2);
  EXPECT_TRUE(cache.drop_oldest());
  EXPECT_FALSE(cache.drop_oldest());
}

}  // namespace
}  // namespace krl::evaluator

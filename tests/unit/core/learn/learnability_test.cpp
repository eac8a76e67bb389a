#include "core/learn/learnability.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace krl::core {
namespace {

std::vector<const Task*> pointers(const std::vector<Task>& tasks) {
  std::vector<const Task*> all;
  for (const Task& task : tasks) all.push_back(&task);
  return all;
}

const std::vector<Task> kTasks = {{"solved", "", "", 0, ""}, {"live", "", "", 0, ""}};

TEST(Learnability, FollowsWhatRecentGroupsTaught) {
  Learnability l;
  EXPECT_EQ(l.of("solved"), 1) << "nobody has tried it yet";
  for (int i = 0; i < 10; ++i) l.observe("solved", false), l.observe("live", true);
  EXPECT_EQ(l.of("solved"), 0.1) << "never less: the policy may lose it again";
  EXPECT_EQ(l.of("live"), 1);
  l.observe("solved", true);
  EXPECT_GT(l.of("solved"), 0.5);
}

TEST(Learnability, DrawsWhatTeachesMoreOften) {
  Learnability l;
  for (int i = 0; i < 10; ++i) l.observe("solved", false);
  int live = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed)
    live += l.draw(pointers(kTasks), 1, seed)[0]->id == "live" ? 1 : 0;
  EXPECT_NEAR(live, 1000 * 1 / 1.1, 40);
}

TEST(Learnability, TakesEachOnceBeforeAnyComesAgain) {
  const auto drawn = Learnability().draw(pointers(kTasks), 5, 3);
  ASSERT_EQ(drawn.size(), 5U);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(drawn[2], drawn[3]);
  EXPECT_EQ(drawn, Learnability().draw(pointers(kTasks), 5, 3));
  EXPECT_TRUE(Learnability().draw({}, 0, 3).empty());
}

TEST(Learnability, ContinuesFromItsState) {
  Learnability one, two;
  one.observe("live", false);
  two.restore(one.state());
  EXPECT_EQ(two.of("live"), one.of("live"));
}

}  // namespace
}  // namespace krl::core

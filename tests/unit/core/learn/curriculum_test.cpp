#include "core/learn/curriculum.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace krl {
namespace {

std::vector<Task> tasks_of_tiers(const std::vector<unsigned>& tiers) {
  std::vector<Task> tasks;
  for (const unsigned tier : tiers)
    tasks.push_back({"t" + std::to_string(tasks.size()), "", "", tier, ""});
  return tasks;
}

CurriculumSettings enabled() { return {true, 0, 0.9, 0.75, 2, 0.25}; }

std::set<std::string> ids(const std::vector<const Task*>& tasks) {
  std::set<std::string> found;
  for (const Task* task : tasks) found.insert(task->id);
  return found;
}

TEST(Curriculum, WithoutItEveryTaskComesOnceBeforeAnyComesAgain) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 1, 2, 3, 0});
  const Curriculum c({}, tasks, 1);
  std::vector<const Task*> seen;
  for (int i = 1; i <= 5; ++i) {
    const auto chosen = c.choose(i, 3);
    seen.insert(seen.end(), chosen.begin(), chosen.end());
  }
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(ids({seen.begin() + 5 * round, seen.begin() + 5 * round + 5}).size(), 5U);
  }
}

TEST(Curriculum, MoreGroupsThanTasksRepeatsThem) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 0});
  EXPECT_EQ(Curriculum({}, tasks, 1).choose(1, 6).size(), 6U);
}

TEST(Curriculum, OpensTheNextTierWhenBothRatesAreHighOverTheWindow) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 0, 2});
  Curriculum c(enabled(), tasks, 1);
  EXPECT_EQ(c.open_tier(), 0);
  EXPECT_EQ(ids(c.choose(1, 4)), (std::set<std::string>{"t0", "t1"}));
  EXPECT_FALSE(c.update(
      {{"tier_0/compile_rate", 1.0}, {"tier_0/pass_rate", 1.0}}));  // one iteration is no window
  EXPECT_FALSE(c.update({{"tier_0/compile_rate", 1.0}, {"tier_0/pass_rate", 0.4}}));  // mean 0.7
  EXPECT_TRUE(c.update({{"tier_0/compile_rate", 1.0}, {"tier_0/pass_rate", 1.2}}));
  EXPECT_EQ(c.open_tier(), 2);  // there is no tier 1
  const auto chosen = c.choose(4, 8);
  EXPECT_EQ(std::count_if(chosen.begin(), chosen.end(), [](const Task* t) { return t->tier == 0; }),
            2);
}

TEST(Curriculum, ContinuesFromItsState) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 1});
  Curriculum first(enabled(), tasks, 1), second(enabled(), tasks, 1);
  first.update({{"tier_0/compile_rate", 1.0}, {"tier_0/pass_rate", 1.0}});
  second.restore(first.state());
  EXPECT_TRUE(second.update({{"tier_0/compile_rate", 1.0}, {"tier_0/pass_rate", 1.0}}));
}

}  // namespace
}  // namespace krl

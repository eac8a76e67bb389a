#include "core/learn/curriculum.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace krl::core {
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
  const Curriculum c({}, TaskChoice::kEven, tasks, 1);
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
  EXPECT_EQ(Curriculum({}, TaskChoice::kEven, tasks, 1).choose(1, 6).size(), 6U);
}

TEST(Curriculum, OpensTheNextTierWhenBothRatesAreHighOverTheWindow) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 0, 2});
  Curriculum c(enabled(), TaskChoice::kEven, tasks, 1);
  EXPECT_EQ(c.open_tier(), 0);
  EXPECT_EQ(ids(c.choose(1, 4)), (std::set<std::string>{"t0", "t1"}));
  EXPECT_FALSE(c.update({{"tier_0/compile_rate_any", 1.0},
                         {"tier_0/pass_rate_any", 1.0}}));  // one iteration is not a window
  EXPECT_FALSE(
      c.update({{"tier_0/compile_rate_any", 1.0}, {"tier_0/pass_rate_any", 0.4}}));  // mean 0.7
  EXPECT_TRUE(c.update({{"tier_0/compile_rate_any", 1.0}, {"tier_0/pass_rate_any", 1.2}}));
  EXPECT_EQ(c.open_tier(), 2);  // there is no tier 1
  const auto chosen = c.choose(4, 8);
  EXPECT_EQ(std::count_if(chosen.begin(), chosen.end(), [](const Task* t) { return t->tier == 0; }),
            2);
}

TEST(Curriculum, PrefersWhatCanStillBeLearned) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 0, 0, 0});
  Curriculum c({}, TaskChoice::kLearnable, tasks, 1);
  for (int i = 0; i < 8; ++i)
    for (const Task& task : tasks) c.observe(task, task.id == "t2");
  Curriculum resumed({}, TaskChoice::kLearnable, tasks, 1);
  resumed.restore(c.state());
  int live = 0;
  for (int i = 1; i <= 100; ++i) {
    const auto chosen = c.choose(i, 1);
    live += chosen[0]->id == "t2" ? 1 : 0;
    EXPECT_EQ(chosen, resumed.choose(i, 1));
  }
  EXPECT_GT(live, 60) << "1 of 1.3";
  EXPECT_LT(live, 100) << "the others come now and then";
}

TEST(Curriculum, SparesAreTasksThatTheIterationDoesNotHaveYet) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 0, 0, 0});
  const Curriculum c({}, TaskChoice::kEven, tasks, 1);
  const auto chosen = c.choose(1, 2);
  const auto spares = c.spares(1, 4, chosen);
  ASSERT_EQ(spares.size(), 4U);
  std::set<std::string> first = ids({spares[0], spares[1]});
  first.merge(ids(chosen));
  EXPECT_EQ(first.size(), 4U);
}

TEST(Curriculum, ContinuesFromItsState) {
  const std::vector<Task> tasks = tasks_of_tiers({0, 1});
  Curriculum first(enabled(), TaskChoice::kEven, tasks, 1),
      second(enabled(), TaskChoice::kEven, tasks, 1);
  first.update({{"tier_0/compile_rate_any", 1.0}, {"tier_0/pass_rate_any", 1.0}});
  second.restore(first.state());
  EXPECT_TRUE(second.update({{"tier_0/compile_rate_any", 1.0}, {"tier_0/pass_rate_any", 1.0}}));
}

}  // namespace
}  // namespace krl::core

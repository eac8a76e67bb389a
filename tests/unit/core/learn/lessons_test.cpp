// Pairs as lessons: what of the two answers is the earlier one, by the toy backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/learn/supervised.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The choices of the one lesson from a pair of these two: the earlier one, if there is any, and the
// answer.
std::string lesson_from(int earlier, int answer) {
  ToyWorld world;
  const auto plan = world.load({"dataset.1.earlier=" + std::to_string(earlier),
                                "dataset.1.choice=" + std::to_string(answer)},
                               R"(
[[dataset]]
use = "toy.world"
role = "warmup"
count = 0
pairs = 1
[[stage]]
name = "warm-up"
kind = "sft"
)");
  if (!plan) return plan.error().message;
  const CallScope scope;
  Components components(world.registry(), scope);
  const auto setup = set_up(plan->stage(0), components);
  if (!setup) return setup.error().message;
  const Evaluations evaluations(setup->judge(), plan->run.seed, nullptr);
  const auto lessons = lessons_of(*setup, evaluations);
  if (!lessons) return lessons.error().message;
  const auto choice = [](const std::string& text) {
    return text.substr(text.find("choice ") + 7, 1);
  };
  std::string text;
  for (const TurnRecord& turn : lessons->front().earlier)
    text += choice(turn.candidate.source) + " ";
  return text + choice(lessons->front().answer);
}

TEST(Lessons, ShowTheSlowerOfTwoRightKernelsFirst) {
  EXPECT_EQ(lesson_from(2, 3), "2 3");
  EXPECT_EQ(lesson_from(3, 2), "2 3");
}

TEST(Lessons, ShowNoKernelThatIsAsFastAsTheAnswer) { EXPECT_EQ(lesson_from(3, 3), "3"); }

TEST(Lessons, RepairAsThePairSays) {
  EXPECT_EQ(lesson_from(0, 2), "0 2");
  EXPECT_EQ(lesson_from(1, 3), "1 3");
}

}  // namespace
}  // namespace krl::test

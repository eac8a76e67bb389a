// Groups in play, over the toy components.
#include "core/episode/rollout_engine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/plugin/session.hpp"
#include "core/stage/stage_setup.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::ElementsAre;

class RolloutEngineTest : public ::testing::TestWithParam<const char*> {
 protected:
  RolloutContext context() const {
    return {evaluations_, *setup_.scorer, *setup_.prompts, nullptr, settings_.rollout, 7, {}};
  }
  Player player() const { return {policy_, policy_.describe().value()}; }
  Group group(int round, std::size_t index) const {
    return {{round, index}, &setup_.data.tasks[index % setup_.data.tasks.size()]};
  }

  ToyWorld world_;
  const Plan plan_ = world_.load({std::string("rollout.batching=") + GetParam()}).value();
  const Settings& settings_ = plan_.stage(0);
  Session session_{world_.registry()};
  const StageSetup setup_ = set_up(settings_, session_.components()).value();
  const Policy policy_ = session_.components().create<Policy>(plan_.policy).value();
  const Evaluations evaluations_{setup_.judge(), 7, nullptr};
};

INSTANTIATE_TEST_SUITE_P(WithEveryBatching, RolloutEngineTest,
                         ::testing::Values("waves", "in_turns", "continuous"));

std::vector<std::string> answers_of(const std::vector<Episode>& episodes) {
  std::vector<std::string> answers;
  for (const Episode& episode : episodes)
    for (const TurnRecord& turn : episode.turns) answers.push_back(turn.answer.text);
  return answers;
}

std::vector<std::size_t> indexes_of(const RolloutResult& rollout) {
  std::vector<std::size_t> groups;
  for (const Episode& episode : rollout.episodes)
    if (episode.member == 0) groups.push_back(episode.group.index);
  return groups;
}

TEST_P(RolloutEngineTest, GroupsComeOutOneByOneAndWhole) {
  RolloutEngine engine(context());
  engine.publish(player());
  engine.submit({group(1, 0), group(1, 1)});
  engine.submit({group(2, 0)});
  std::set<GroupId> ids;
  for (int i = 0; i < 3; ++i) {
    const auto played = engine.take();
    ASSERT_TRUE(played && *played);
    EXPECT_EQ(std::ssize((*played)->episodes), settings_.rollout.group_size);
    ids.insert((*played)->id);
  }
  EXPECT_THAT(ids, ElementsAre(GroupId{1, 0}, GroupId{1, 1}, GroupId{2, 0}));
  EXPECT_FALSE(engine.take().value().has_value());
}

TEST_P(RolloutEngineTest, AGroupIsTheSameWhateverIsPlayedWithIt) {
  const auto alone = play_groups(context(), player(), {group(3, 1)});
  const auto among_others =
      play_groups(context(), player(), {group(3, 0), group(3, 1), group(4, 1)});
  ASSERT_TRUE(alone && among_others);
  const std::vector<Episode>& all = among_others->episodes;
  const auto n = settings_.rollout.group_size;
  EXPECT_EQ(answers_of(alone->episodes), answers_of({all.begin() + n, all.begin() + 2 * n}));
  EXPECT_NE(answers_of(alone->episodes), answers_of({all.begin() + 2 * n, all.end()}));
}

TEST_P(RolloutEngineTest, SparesReplaceGroupsThatDoNotTeach) {
  RolloutContext with_spares = context();
  with_spares.teaches = [](const PlayedGroup& played) { return played.id.index % 2 == 1; };
  RolloutEngine engine(with_spares);
  engine.publish(player());
  for (int round = 1; round < 3; ++round) {
    engine.submit({group(round, 0), group(round, 1)},
                  {group(round, 2), group(round, 3), group(round, 4)});
    EXPECT_THAT(indexes_of(engine.take_all().value()), ElementsAre(0, 1, 2, 3));
  }
}

TEST_P(RolloutEngineTest, EndsWithGroupsInPlay) {
  RolloutEngine engine(context());
  engine.publish(player());
  engine.submit({group(1, 0), group(1, 1)}, {group(1, 2)});
}

}  // namespace
}  // namespace krl::test

#include "serve/judging/client_episode.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "core/plugin/session.hpp"
#include "serve/judging/client_episodes.hpp"
#include "tests/unit/core/learn/toy_world.hpp"
#include "tests/wait_while.hpp"

namespace krl::serve {
namespace {

using test::Overrides;
using ::testing::HasSubstr;

// A server's judge of the toy world: the score of a right kernel is its speedup, 1 or 2.
class ClientEpisodeTest : public ::testing::Test {
 protected:
  void open(const Overrides& overrides = {}) {
    Overrides all = {"rollout.turns=4"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    const Result<Plan> plan = world_.load(all);
    ASSERT_TRUE(plan) << plan.error().message;
    session_.emplace(world_.registry());
    auto service = JudgeService::open(*plan, *session_, {});
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
  }

  std::shared_ptr<ClientEpisode> begin(EpisodeOptions options = {}) {
    return std::make_shared<ClientEpisode>(*service_, "client", service_->tasks().own().front(),
                                           options);
  }

  static ClientAnswer choice(int number) {
    return read_code("__global__ void k() {}  // choice " + std::to_string(number));
  }

  static Result<JudgedTurn> play(const std::shared_ptr<ClientEpisode>& episode,
                                 ClientAnswer answer) {
    std::promise<Result<JudgedTurn>> judged;
    episode->answer(std::move(answer),
                    [&](Result<JudgedTurn> turn) { judged.set_value(std::move(turn)); });
    return judged.get_future().get();
  }

  // The rewards of these choices in an episode.
  std::vector<double> rewards(const std::vector<int>& choices, Pays pays = Pays::kGain) {
    const auto episode = begin({.pays = pays});
    std::vector<double> rewards;
    for (const int number : choices) {
      const auto turn = play(episode, choice(number));
      rewards.push_back(turn ? turn->reward : -1000);
    }
    return rewards;
  }

  test::ToyWorld world_;
  std::optional<core::Session> session_;
  std::unique_ptr<JudgeService> service_;
};

TEST_F(ClientEpisodeTest, RewardsAddUpToTheBestScore) {
  open();
  EXPECT_EQ(rewards({1, 2, 3, 2}), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(rewards({3, 0, 2, 3}), (std::vector<double>{2, 0, 0, 0}));
}

TEST_F(ClientEpisodeTest, OrAreTheScores) {
  open();
  EXPECT_EQ(rewards({1, 2, 3, 2}, Pays::kScore), (std::vector<double>{0, 1, 2, 1}));
}

TEST_F(ClientEpisodeTest, TheSumOfGainsIsTheBestEvenBelowZero) {
  open({"reward.0.weight=-1"});
  EXPECT_EQ(rewards({3, 2}), (std::vector<double>{-2, 1}));
}

TEST_F(ClientEpisodeTest, EndsAfterTheTurnsOfThePlan) {
  open({"rollout.turns=2"});
  const auto episode = begin();
  EXPECT_FALSE(play(episode, choice(2))->ends);
  EXPECT_TRUE(play(episode, choice(2))->ends);
  const auto late = play(episode, choice(3));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, "the episode is over; begin another");
}

TEST_F(ClientEpisodeTest, EndsWhereThePlanStops) {
  open({"rollout.stop_when=\"speedup >= 2\""});
  const auto episode = begin();
  EXPECT_FALSE(play(episode, choice(2))->ends);
  EXPECT_TRUE(play(episode, choice(3))->ends);
}

TEST_F(ClientEpisodeTest, PromptsShowEarlierTurnsAsInTraining) {
  open();
  const auto episode = begin();
  const std::string first = episode->prompt().back().text;
  EXPECT_EQ(first, service_->prompt(episode->task()).back().text);
  const auto turn = play(episode, choice(1));
  EXPECT_THAT(episode->prompt().back().text, HasSubstr("choice 1"));
  EXPECT_THAT(episode->prompt().back().text, HasSubstr(turn->told->feedback));
}

TEST_F(ClientEpisodeTest, AnErrorOfTheInfrastructureIsNoRewardAndNoTurn) {
  open({"backend.broken_choice=3", "rollout.turns=1", "run.retries=0"});
  const auto episode = begin();
  const auto broken = play(episode, choice(3));
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("the toy is broken"));
  EXPECT_EQ(episode->turns(), 0);
  EXPECT_EQ(play(episode, choice(2))->reward, 1);
}

TEST_F(ClientEpisodeTest, NorIsAScoreThatCannotBeHad) {
  open({"reward.0.lost_choice=3", "run.retries=0"});
  const auto episode = begin();
  const auto lost = play(episode, choice(3));
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::kUnavailable);
  EXPECT_THAT(lost.error().message, HasSubstr("the judge is out"));
  EXPECT_EQ(episode->turns(), 0);
  EXPECT_EQ(play(episode, choice(2))->reward, 1);
}

TEST_F(ClientEpisodeTest, AnAnswerWithoutAKernelIsJudged) {
  open();
  const auto episode = begin();
  const auto none = play(episode, read_answer("I do not know."));
  ASSERT_TRUE(none);
  EXPECT_EQ(none->told->evaluation.verdict, Verdict::kFormatError);
  EXPECT_THAT(none->told->headline, HasSubstr("the answer holds no kernel"));
  const auto cut = play(episode, read_answer("```cuda\n__global__ void k() {", true));
  EXPECT_THAT(cut->told->headline, HasSubstr("ended before its kernel was complete"));
  EXPECT_EQ(episode->turns(), 2);
}

TEST_F(ClientEpisodeTest, CodeIsASourceOrAnAnswerThatHoldsOne) {
  EXPECT_EQ(read_code("__global__ void k() {}").candidate.source, "__global__ void k() {}");
  EXPECT_EQ(read_code("<KERNEL>\n```cuda\n__global__ void k() {}\n```\n</KERNEL>").candidate.source,
            "__global__ void k() {}\n");
  EXPECT_EQ(read_code("```python\nx = 1\n```").candidate.format, Format::kMissing);
  EXPECT_EQ(read_code(" \n").candidate.format, Format::kMissing);
}

TEST_F(ClientEpisodeTest, OneAnswerIsJudgedAtATimeAndCancelledOnesDoNotCount) {
  open({"backend.held=true"});
  const auto episode = begin();
  std::promise<Result<JudgedTurn>> judged;
  episode->answer(choice(2), [&](Result<JudgedTurn> turn) { judged.set_value(std::move(turn)); });
  EXPECT_THAT(play(episode, choice(3)).error().message, HasSubstr("still being judged"));
  episode->cancel();
  EXPECT_EQ(judged.get_future().get().error().code, Code::kCancelled);
  EXPECT_EQ(episode->turns(), 0);
}

TEST_F(ClientEpisodeTest, TheEpisodesOfAClientAreItsOwn) {
  open();
  ClientEpisodes episodes;
  const auto episode = begin();
  episodes.keep("a", "1", episode);
  EXPECT_EQ(episodes.find("a", "1"), episode);
  EXPECT_EQ(episodes.find("b", "1"), nullptr);
  EXPECT_EQ(episodes.find("a", ""), nullptr);
  episodes.keep("a", "1", begin());
  EXPECT_FALSE(play(episode, choice(2))) << "another has taken its place";
  episodes.end("a", "1");
  EXPECT_EQ(episodes.find("a", "1"), nullptr);
}

TEST_F(ClientEpisodeTest, EpisodesHaveASizeAndThoseInUseStay) {
  open({"rollout.turns=64"});
  constexpr int kTurns = 6;
  ClientEpisodes episodes(kTurns * kMostAnswer);
  const auto large = [](int i) {
    return read_answer("<KERNEL>\n```cuda\n__global__ void k() {}  // choice 2\n```\n</KERNEL>" +
                       std::to_string(i) + std::string(kMostAnswer - 1000, ' '));
  };
  const auto unused = begin(), used = begin();
  EXPECT_FALSE(play(used, read_answer(std::string(kMostAnswer + 1, ' '))));
  episodes.keep("a", "unused", unused);
  episodes.keep("a", "used", used);
  for (int i = 0; i <= kTurns; ++i) {
    const std::string name = std::to_string(i / 2);
    if (i % 2 == 0) episodes.keep("a", name, begin());
    ASSERT_TRUE(play(episodes.find("a", name), large(i)));
    ASSERT_NE(episodes.find("a", name), nullptr);
    ASSERT_EQ(episodes.find("a", "used"), used);
  }
  EXPECT_EQ(episodes.find("a", "unused"), nullptr);
  EXPECT_FALSE(play(unused, choice(2))) << "it has ended";
}

}  // namespace
}  // namespace krl::serve

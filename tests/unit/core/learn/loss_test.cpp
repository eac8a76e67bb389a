// What the policy is told of a plan's loss, and how its figures are read.
#include "core/learn/optimizer_step.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

Settings settings_of_loss(const char* loss, AdvantageKind advantage = AdvantageKind::kGrpo) {
  Settings s;
  s.learn.loss.name = loss;
  s.learn.advantage = advantage;
  s.rollout.max_tokens = 100;
  return s;
}

struct AveragedCase {
  Settings settings;
  std::uint32_t aggregation;
  double normaliser;  // of 3 answers with 60 tokens
};

TEST(Loss, EachIsAveragedAsItsAuthorsSay) {
  for (const AveragedCase& c :
       {AveragedCase{settings_of_loss("ppo"), KRL_TOKEN_MEAN, 60},
        AveragedCase{settings_of_loss("cispo", AdvantageKind::kRloo), KRL_TOKEN_MEAN, 60},
        AveragedCase{settings_of_loss("gspo"), KRL_SEQUENCE_MEAN, 3},
        AveragedCase{settings_of_loss("gspo", AdvantageKind::kDrGrpo), KRL_SEQUENCE_MEAN, 3},
        AveragedCase{settings_of_loss("ppo", AdvantageKind::kDrGrpo), KRL_TOKEN_MEAN, 300}}) {
    const std::string what = c.settings.learn.loss.name;
    EXPECT_EQ(loss_of(c.settings).aggregation, c.aggregation) << what;
    EXPECT_EQ(normaliser_of(c.settings, 3, 60), c.normaliser) << what;
  }
}

TEST(Loss, APlanMaySayOtherwise) {
  Settings s = settings_of_loss("gspo", AdvantageKind::kDrGrpo);
  s.learn.loss.aggregation = Aggregation::kTokenMean;
  EXPECT_EQ(loss_of(s).aggregation, KRL_TOKEN_MEAN);
  EXPECT_EQ(normaliser_of(s, 3, 60), 60);
  s.learn.loss.aggregation = Aggregation::kTokenSum;
  EXPECT_EQ(loss_of(s).aggregation, KRL_TOKEN_SUM);
}

// A policy divides its figures by the normaliser; of answers that count as longer than they are,
// they would be too small.
TEST(Loss, FiguresAreMeansOverTheTokensThatThereAre) {
  EXPECT_EQ(figures_scale(settings_of_loss("ppo"), 3, 60), 1);
  EXPECT_EQ(figures_scale(settings_of_loss("gspo"), 3, 60), 1);
  const Settings fixed = settings_of_loss("ppo", AdvantageKind::kDrGrpo);
  const double one_of_each_token = 60 / normaliser_of(fixed, 3, 60);
  EXPECT_DOUBLE_EQ(one_of_each_token * figures_scale(fixed, 3, 60), 1);
}

}  // namespace
}  // namespace krl::core

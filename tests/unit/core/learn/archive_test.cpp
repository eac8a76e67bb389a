#include "core/learn/archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/task/source_identity.hpp"
#include "tests/unit/core/learn/toy_world.hpp"

namespace krl::test::archive {
using namespace core;
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Task kTask{"t", "", "", 0, ""};

// A right kernel with so many launches, which are its structure.
TurnRecord kernel(const std::string& name, double speedup, int launches = 1) {
  TurnRecord turn;
  turn.candidate.source = "__global__ void " + name + "() {}";
  turn.answer.text = "answer " + name;
  turn.evaluation.verdict = Verdict::kOk;
  Case c;
  c.label = "n=1";
  c.speedup = c.speedup_low = c.speedup_high = speedup;
  turn.evaluation.cases = {c};
  turn.evaluation.values = {{0, "launches", "", static_cast<double>(launches)}};
  turn.evaluation.compile_log = "long";
  return turn;
}

TurnRecord wrong() {
  TurnRecord turn = kernel("wrong", 9);
  turn.evaluation.verdict = Verdict::kWrongResult;
  return turn;
}

Episode episode(std::vector<TurnRecord> turns, std::vector<TurnRecord> given = {}) {
  Episode episode{&kTask, {1, 0}, 0, std::move(turns), std::move(given)};
  if (!episode.given.empty())
    episode.begun_with = identity_of(episode.given.back().candidate.source);
  return episode;
}

ArchiveSettings settings(ParentChoice choose = ParentChoice::kUniform) {
  return {true, 64, 0, choose, 1, 1};
}

// A geometric mean of one value may differ from it in the last digit.
double rounded(double speedup) { return std::round(100 * speedup) / 100; }

std::vector<double> speedups(const Archive& archive) {
  std::vector<double> all;
  for (const ArchivedKernel& k : archive.kernels("t"))
    all.push_back(rounded(k.evaluation.speedup()));
  return all;
}

// The speedups of the kernels with which `count` groups of a round begin.
std::vector<double> begun(const Archive& archive, int count, int round = 1) {
  std::vector<Group> groups =
      groups_of(std::vector(static_cast<std::size_t>(count), &kTask), round);
  archive.begin(groups);
  std::vector<double> all;
  for (const Group& group : groups)
    all.push_back(group.given.empty() ? 0 : rounded(group.given.back().evaluation.speedup()));
  return all;
}

TEST(Archive, KeepsEveryRightKernelOnceTheFastestFirst) {
  Archive archive(settings(), 1);
  TurnRecord same = kernel("a", 1);
  same.candidate.source += "  // the same";
  const Metrics metrics =
      archive.add(1, {episode({kernel("a", 1), wrong()}), episode({same, kernel("b", 2)})});
  EXPECT_THAT(speedups(archive), ElementsAre(2, 1));
  EXPECT_EQ(metrics.at("archive/kernels"), 2);
  EXPECT_EQ(archive.kernels("t")[0].evaluation.compile_log, "") << "prompts do not show it";
  EXPECT_THAT(archive.kernels("other"), IsEmpty());
}

TEST(Archive, KeepsWhatWasRefusedOutForGood) {
  Archive archive(settings(), 1);
  const std::string a = identity_of(kernel("a", 9).candidate.source);
  archive.add(1, {episode({kernel("a", 9), kernel("b", 1)})}, {{"another task", {a}}});
  EXPECT_THAT(speedups(archive), ElementsAre(9, 1)) << "it is right for this one";
  archive.add(2, {}, {{"t", {a}}});
  EXPECT_THAT(speedups(archive), ElementsAre(1)) << "it was not known to be wrong";
  Archive again(settings(), 1);
  again.restore(archive.state());
  again.add(3, {episode({kernel("a", 9)})});
  EXPECT_THAT(speedups(again), ElementsAre(1));
}

TEST(Archive, CountsAVisitOfAKernelForWhichThePromptHadNoRoom) {
  Archive archive(settings(), 1);
  archive.add(1, {episode({kernel("a", 1)})});
  Episode without = episode({kernel("b", 8)}, {kernel("a", 1)});
  without.given.clear();
  archive.add(2, {without});
  const ArchivedKernel& a = archive.kernels("t").back();
  EXPECT_EQ(a.visits, 1) << "it would be chosen again for ever";
  EXPECT_FALSE(a.best_child) << "nobody saw it";
  EXPECT_THAT(archive.kernels("t").front().parents, IsEmpty());
}

TEST(Archive, KnowsWhichKernelAnEarlierTurnWrote) {
  Archive archive(settings(), 1);
  archive.add(1, {episode({kernel("a", 1)})});
  archive.add(2, {episode({kernel("b", 2), wrong(), kernel("c", 3)}, {kernel("a", 1)})});
  const ArchivedKernel& c = archive.kernels("t")[0];
  const ArchivedKernel& b = archive.kernels("t")[1];
  const ArchivedKernel& a = archive.kernels("t")[2];
  EXPECT_THAT(b.parents, ElementsAre(a.id));
  EXPECT_THAT(c.parents, ElementsAre(a.id, b.id)) << "the nearest last";
  EXPECT_EQ(c.depth, 2);
}

TEST(Archive, DropsTheSlowestThatAreNotTheFastestOfTheirStructure) {
  ArchiveSettings three = settings();
  three.size = 3;
  Archive archive(three, 1);
  archive.add(1, {episode({kernel("a", 4), kernel("b", 3), kernel("c", 2), kernel("d", 1, 2)})});
  EXPECT_THAT(speedups(archive), ElementsAre(4, 3, 1));
  archive.add(2, {episode({kernel("e", 0.5, 3), kernel("f", 0.25, 4)})});
  EXPECT_THAT(speedups(archive), ElementsAre(4, 1, 0.5)) << "more structures than places";
}

TEST(Archive, KnowsWhatBecameOfAKernel) {
  Archive archive(settings(), 1);
  archive.add(1, {episode({kernel("a", 1)})});
  const Metrics metrics = archive.add(
      2, {episode({kernel("b", 2)}, {kernel("a", 1)}), episode({wrong()}, {kernel("a", 1)}),
          episode({kernel("c", 1.01)}, {kernel("a", 1)}), episode({kernel("d", 3)})});
  EXPECT_EQ(metrics.at("archive/begun"), 0.75);
  EXPECT_DOUBLE_EQ(metrics.at("archive/right"), 2. / 3);
  EXPECT_DOUBLE_EQ(metrics.at("archive/improved"), 1. / 3) << "by less than 2 % is none";
  const ArchivedKernel& d = archive.kernels("t")[0];
  const ArchivedKernel& b = archive.kernels("t")[1];
  const ArchivedKernel& a = archive.kernels("t").back();
  EXPECT_THAT(b.parents, ElementsAre(a.id));
  EXPECT_EQ(b.depth, 1);
  EXPECT_EQ(d.depth, 0);
  EXPECT_EQ(a.best_child, 1) << "log2 of 2";
}

TEST(Archive, BeginsTheShareOfGroupsThatThePlanAsksFor) {
  ArchiveSettings some = settings();
  some.fresh = 0.3;
  Archive archive(some, 1);
  EXPECT_THAT(begun(archive, 4), Each(0)) << "there is none yet";
  archive.add(1, {episode({kernel("a", 1)})});
  EXPECT_NEAR(std::ranges::count(begun(archive, 1000), 0.0), 300, 50);
}

TEST(Archive, ChoosesUniformlyOrAmongTheFastestOfEachStructure) {
  for (const auto& [choose, expected] :
       {std::pair(ParentChoice::kUniform, std::map<double, int>{{4, 333}, {3, 333}, {1, 333}}),
        {ParentChoice::kElites, std::map<double, int>{{4, 500}, {1, 500}}}}) {
    Archive archive(settings(choose), 1);
    archive.add(1, {episode({kernel("a", 4), kernel("b", 3), kernel("c", 1, 2)})});
    std::map<double, int> counts;
    for (const double speedup : begun(archive, 1000)) ++counts[speedup];
    ASSERT_EQ(counts.size(), expected.size());
    for (const auto& [speedup, count] : expected) EXPECT_NEAR(counts[speedup], count, 60);
  }
}

TEST(Archive, ShowsAKernelOfAnotherStructureBesidesTheParent) {
  ArchiveSettings two = settings();
  two.parents = 2;
  Archive archive(two, 1);
  archive.add(1, {episode({kernel("a", 4), kernel("b", 3)})});
  std::vector<Group> groups = groups_of({&kTask}, 1);
  archive.begin(groups);
  ASSERT_THAT(groups[0].given, SizeIs(2)) << "the same structure if there is no other";
  EXPECT_NE(groups[0].given[0].candidate.source, groups[0].given[1].candidate.source);
  archive.add(2, {episode({kernel("c", 1, 2)})});
  for (int round = 2; round < 20; ++round) {
    groups = groups_of({&kTask}, round);
    archive.begin(groups);
    EXPECT_EQ(groups[0].given[0].evaluation.speedup() == 1,
              groups[0].given[1].evaluation.speedup() != 1);
  }
}

// The formula again, term by term.
TEST(Archive, ChoosesByPuct) {
  std::vector<ArchivedKernel> kernels(3);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    kernels[i].evaluation = kernel("k", i == 0 ? 8 : i == 1 ? 4 : 1).evaluation;
  EXPECT_EQ(puct_choice(kernels, 1), 0U) << "3 + 3/2, 2 + 2/2, 0 + 1/2";
  kernels[0].visits = 1;
  EXPECT_EQ(puct_choice(kernels, 0), 1U) << "no right child: worth the least";
  kernels[0].best_child = 3;
  kernels[0].visits = 3;
  // 3 + 3/2 * sqrt(4) / 4 = 3.75; 2 + sqrt(4) = 4; sqrt(4) / 2 = 1.
  EXPECT_EQ(puct_choice(kernels, 1), 1U);
  // 3 + 0.2 * 0.75 = 3.15; 2 + 0.2 * 2 = 2.4.
  EXPECT_EQ(puct_choice(kernels, 0.2), 0U);
  // 3 + 10 * 0.75; 2 + 10 * 2; 10 * 1.
  kernels[1].visits = 100;
  kernels[1].best_child = 2;
  // T = 103: 3 + 15 * sqrt(104) / 4 = 41.2; 2 + 10 * sqrt(104) / 101 = 3.0; 5 * sqrt(104) = 51.
  EXPECT_EQ(puct_choice(kernels, 10), 2U);
}

TEST(Archive, CountsTheOtherGroupsOfARoundAsVisits) {
  ArchiveSettings puct = settings(ParentChoice::kPuct);
  Archive archive(puct, 1);
  archive.add(1, {episode({kernel("a", 2), kernel("b", 1.9), kernel("c", 1.8)})});
  const std::vector<double> speedups = begun(archive, 2);
  EXPECT_NE(speedups[0], speedups[1]);
  EXPECT_EQ(archive.kernels("t")[0].visits, 0) << "nothing was played";
}

TEST(Archive, ContinuesFromItsState) {
  Archive archive(settings(ParentChoice::kPuct), 1), same(settings(ParentChoice::kPuct), 1);
  archive.add(1, {episode({kernel("a", 1), kernel("b", 2)})});
  archive.add(2, {episode({kernel("c", 1.5), wrong()}, {kernel("b", 2)})});
  same.restore(nlohmann::json::parse(archive.state().dump()));
  EXPECT_EQ(same.state(), archive.state());
  EXPECT_EQ(begun(same, 5, 7), begun(archive, 5, 7));
}

const Overrides kLong = {"stage.reinforce.iterations=8"};
const char* const kArchive = "[archive]\nfresh = 0.5\nchoose = \"puct\"\n";

TEST(ArchiveRun, BeginsEpisodesWithWhatItFound) {
  const RunReport report = fresh_run(kLong, kArchive);
  ASSERT_EQ(report.error, "");
  const std::vector<double> begun = report.all("archive/begun");
  ASSERT_THAT(begun, SizeIs(8));
  EXPECT_EQ(begun.front(), 0);
  EXPECT_GT(begun.back(), 0);
  EXPECT_THAT(report.all("episode/turns"), Each(1)) << "what was given is none of its turns";
  EXPECT_EQ(report.all("archive/kernels").back(), 8) << "two right choices of four tasks";
  EXPECT_EQ(fresh_run(kLong).all("archive/begun"), std::vector<double>());
}

TEST(ArchiveRun, IsTheSameWhenItIsResumed) {
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration % 3 == 0) world.stop();
  };
  world.run(kLong, kArchive);
  world.resume(kLong, kArchive);
  EXPECT_EQ(world.resume(kLong, kArchive).lines(), fresh_run(kLong, kArchive).lines());
}

// The toy's prompts that show a kernel are too long for its context of 1024 tokens.
TEST(ArchiveRun, BeginsWithoutAKernelThatLeavesNoRoom) {
  Overrides overrides = {"policy.long_prompt=\"choice\""};
  const RunReport report = fresh_run(overrides, "[archive]\nfresh = 0\n");
  ASSERT_EQ(report.error, "");
  EXPECT_THAT(report.all("archive/begun"), Each(0));
  EXPECT_THAT(report.all("sampler/refused"), Each(0));
}

TEST(ArchiveRun, BeginsWithAnotherWhereTheBestKernelLeavesNoRoom) {
  const Overrides overrides = {"policy.long_prompt=\"choice 3\"", "stage.reinforce.iterations=12"};
  const RunReport report = fresh_run(overrides, "[archive]\nfresh = 0\nchoose = \"puct\"\n");
  ASSERT_EQ(report.error, "");
  EXPECT_THAT(report.all("archive/begun"), Contains(Ge(0.25)));
}

TEST(ArchiveRun, LearnsFromItsFastestKernels) {
  const Overrides no_reward = {"reward.0.weight=1e-3", "learn.min_spread=0",
                               "learn.advantage=dr_grpo", "learn.imitate=1.0",
                               "stage.reinforce.iterations=20"};
  const RunReport report = fresh_run(no_reward, "[archive]\nfresh = 1.0\n");
  ASSERT_EQ(report.error, "");
  EXPECT_GT(report.all("kernel/speedup_geomean").back(), 1.8) << "choice 3, for nearly no reward";
  EXPECT_THAT(report.all("actor/imitation_loss"), SizeIs(Ge(1)));
}

TEST(ArchiveRun, RefusesToImitateWithoutAnArchive) {
  const RunReport report = fresh_run({"learn.imitate=0.1"});
  EXPECT_THAT(report.error, HasSubstr("there is no archive whose kernels could be imitated"));
}

TEST(DistinctRun, SamplesAgainWhatWasJudged) {
  const RunReport report = fresh_run({"rollout.distinct=3"});
  ASSERT_EQ(report.error, "");
  EXPECT_EQ(report.all("judged/kernels").back(), 16) << "four choices of four tasks";
  EXPECT_EQ(report.all("judged/per_task").back(), 4);
  EXPECT_EQ(report.all("judged/dropped").front(), 0) << "an iteration does not compare with itself";
  EXPECT_EQ(report.all("judged/dropped").back(), 3 * 16) << "all is known: the last try counts";
}

TEST(DistinctRun, IsTheSameWhenItIsResumed) {
  const Overrides distinct = {"rollout.distinct=2", "rollout.group_size=2"};
  ToyWorld world;
  world.after_iteration = [&](const IterationMetrics& m) {
    if (m.iteration % 3 == 0) world.stop();
  };
  world.run(distinct);
  world.resume(distinct);
  EXPECT_EQ(world.resume(distinct).lines(), fresh_run(distinct).lines());
}

// Two islands that exchange their best every third iteration.
ArchiveSettings islands() {
  ArchiveSettings two = settings();
  two.islands = 2;
  two.exchange = 3;
  return two;
}

Episode of_group(std::size_t index, std::vector<TurnRecord> turns) {
  return {&kTask, {2, index}, 0, std::move(turns)};
}

TEST(Islands, BeginGroupsWithTheirOwnKernels) {
  Archive archive(islands(), 1);
  archive.add(1, {of_group(0, {kernel("a", 4)}), of_group(1, {kernel("b", 2)})});
  EXPECT_THAT(begun(archive, 4, 2), ElementsAre(4, 2, 4, 2));
  EXPECT_THAT(begun(archive, 4, 3), ElementsAre(2, 4, 2, 4)) << "a task's groups take turns";
}

TEST(Islands, OfWhichOneIsEmptyBeginWithNothing) {
  Archive archive(islands(), 1);
  archive.add(1, {of_group(0, {kernel("a", 4)})});
  EXPECT_THAT(begun(archive, 2, 2), ElementsAre(4, 0));
}

TEST(Islands, SendTheirFastestToTheNextWhenItIsTime) {
  Archive archive(islands(), 1);
  const std::vector<Episode> found = {of_group(0, {kernel("a", 4), kernel("c", 3)}),
                                      of_group(1, {kernel("b", 2)})};
  archive.add(1, found);
  EXPECT_THAT(speedups(archive), ElementsAre(4, 3, 2));
  const Metrics metrics = archive.add(3, {});
  EXPECT_THAT(speedups(archive), ElementsAre(4, 4, 3, 2, 2));
  EXPECT_EQ(metrics.at("archive/kernels"), 3) << "copies are no new kernels";
  archive.add(6, {});
  EXPECT_THAT(speedups(archive), ElementsAre(4, 4, 3, 2, 2)) << "each is there already";
  Archive again(islands(), 1);
  again.restore(archive.state());
  EXPECT_EQ(again.state(), archive.state());
}

TEST(Islands, HaveRoomOfTheirOwn) {
  ArchiveSettings small = islands();
  small.size = 1;
  Archive archive(small, 1);
  archive.add(1, {of_group(0, {kernel("a", 4), kernel("c", 3)}), of_group(1, {kernel("b", 2)})});
  EXPECT_THAT(speedups(archive), ElementsAre(4, 2));
}

TEST(Archive, KnowsATunedKernelAndItsParentButCountsNoVisit) {
  Archive archive(settings(), 1);
  archive.add(1, {episode({kernel("a", 2)})});
  Episode tuned = episode({kernel("b", 3)}, {kernel("a", 2)});
  tuned.begun_with.clear();
  tuned.tuned = true;
  const Metrics metrics = archive.add(2, {episode({wrong()}), tuned});
  EXPECT_EQ(metrics.at("archive/begun"), 0) << "no episode of the policy's";
  const ArchivedKernel& b = archive.kernels("t")[0];
  const ArchivedKernel& a = archive.kernels("t")[1];
  EXPECT_TRUE(b.tuned);
  EXPECT_EQ(b.depth, 1);
  EXPECT_THAT(b.parents, ElementsAre(a.id));
  EXPECT_EQ(a.visits, 0);
  EXPECT_FALSE(a.best_child);
  EXPECT_TRUE(archived_kernels(archive.state()).at("t")[0].tuned);
}

}  // namespace
}  // namespace krl::test::archive

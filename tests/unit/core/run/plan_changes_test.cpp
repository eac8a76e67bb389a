#include "core/run/plan_changes.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

constexpr std::string_view kPlan = R"(
[run]
name = "x"
seed = 17
[learn]
optimizer = { lr = 2e-4, betas = [0.9, 0.95] }
[[stage]]
name = "warm-up"
epochs = 2
[[stage]]
name = "reinforce"
iterations = 20
until = "pass_rate > 0.95"
[checkpoint]
every = 5
)";

std::string with(std::string_view from, std::string_view to) {
  std::string plan(kPlan);
  return plan.replace(plan.find(from), from.size(), to);
}

Status resumable(const std::string& changed, int stage) {
  return check_resumable(*plan_changes(kPlan, changed), {stage}, "runs/x/step_000007");
}

Status resumable_when_over(const std::string& changed) {
  return check_resumable(*plan_changes(kPlan, changed), {1, true}, "runs/x/step_000007");
}

TEST(PlanChanges, FindsNoneWhereOnlyTheTextDiffers) {
  const auto changes = plan_changes(kPlan, with("seed = 17", "seed = 0x11 # the same"));
  ASSERT_TRUE(changes);
  EXPECT_TRUE(changes->empty());
}

TEST(PlanChanges, NamesKeysWithBothValues) {
  const auto changes = plan_changes(kPlan, with("lr = 2e-4", "lr = 0.5, eps = 1e-8"));
  ASSERT_TRUE(changes);
  ASSERT_EQ(changes->size(), 2u);
  EXPECT_EQ((*changes)[0].key, "learn.optimizer.eps");
  EXPECT_EQ((*changes)[0].before, "");
  EXPECT_EQ((*changes)[1].key, "learn.optimizer.lr");
  EXPECT_EQ((*changes)[1].after, "0.5");
}

TEST(PlanChanges, AKeyThatTheRunIsOlderThanIsNoneIfItHasItsDefault) {
  Node plan = Node::table({});
  plan.set("new", {}, Node{std::int64_t{5}, {}});
  const std::string text = std::string(kPlan) + "\n";
  const auto changed = plan_changes(text, "new = 5\n" + text, default_keys(plan));
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->empty());
  EXPECT_EQ(plan_changes(text, "new = 5\n" + text)->size(), 1u);
}

TEST(PlanChanges, MayLengthenTheCurrentStageAndAnyLaterOne) {
  EXPECT_TRUE(resumable(with("iterations = 20", "iterations = 40"), 1));
  EXPECT_TRUE(resumable(with("iterations = 20", "iterations = 40"), 0));
  EXPECT_TRUE(resumable(with("until = \"pass_rate > 0.95\"\n", ""), 1));
  EXPECT_TRUE(resumable(with("every = 5", "every = 1"), 1));
  EXPECT_TRUE(resumable(with("[checkpoint]", "[[stage]]\nname = \"more\"\n[checkpoint]"), 1));
}

TEST(PlanChanges, MayNotTouchWhatIsDone) {
  EXPECT_FALSE(resumable(with("epochs = 2", "epochs = 3"), 1)) << "a stage that is over";
  EXPECT_FALSE(resumable(with("\"reinforce\"", "\"other\""), 1));
  EXPECT_FALSE(resumable(with("[learn]", "[learn]\nadvantage = \"rloo\""), 1));
  const Status seed = resumable(with("seed = 17", "seed = 18"), 1);
  ASSERT_FALSE(seed);
  EXPECT_EQ(
      seed.error().message,
      "the plan differs from the one this run was started with:\n  run.seed: was 17, is 18\n"
      "only these may change: iterations, epochs and until of stage[1], which is in progress, everything in later stages, run.name, run.threads, run.call_timeout_s, run.retries, "
      "run.retry_wait_s, run.max_infra_share, plugins.path, policy.isolation, [policy.sampler], "
      "backend.isolation, dataset.isolation, rollout.groups, "
      "rollout.group_size, rollout.refill_tries, rollout.max_tokens, rollout.temperature, "
      "rollout.answer_timeout_s, [learn.optimizer], learn.imitate, learn.imitate_kernels, "
      "learn.epochs, learn.minibatches, learn.min_spread, archive.fresh, archive.choose, "
      "archive.c, archive.parents, archive.exchange, [eval], [retrieval], reward.isolation, [checkpoint], [log], [python]\nresume with the old values, or start a new run from what this one has learned: run.name=… run.from=runs/x/step_000007");
}

TEST(PlanChanges, MayTurnTheScrewsOfWhatIsToCome) {
  EXPECT_TRUE(resumable(with("lr = 2e-4", "lr = 1e-5"), 1));
  EXPECT_TRUE(resumable(with("[learn]", "[eval]\nevery = 5\n[learn]"), 1));
  EXPECT_TRUE(resumable(with("[checkpoint]", "rollout.groups = 8\n[checkpoint]"), 1));
  EXPECT_TRUE(resumable(with("[learn]", "policy.executable = \"python3.11\"\n[learn]"), 1));
  EXPECT_TRUE(resumable(with("epochs = 2", "epochs = 2\noptimizer.lr = 1e-4"), 0));
  EXPECT_FALSE(resumable(with("epochs = 2", "epochs = 2\noptimizer.lr = 1e-4"), 1)) << "done";
}

TEST(PlanChanges, MayLengthenARunThatIsOver) {
  EXPECT_TRUE(resumable_when_over(with("iterations = 20", "iterations = 40")));
  EXPECT_TRUE(resumable_when_over(with("until = \"pass_rate > 0.95\"\n", "")));
  EXPECT_TRUE(
      resumable_when_over(with("[checkpoint]", "[[stage]]\nname = \"more\"\n[checkpoint]")));
  const Status refused = resumable_when_over(with("iterations = 20", "epochs = 20"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("the run is finished"), std::string::npos);
}

TEST(PlanChanges, OfWhatIsNoTomlIsAnError) { EXPECT_FALSE(plan_changes(kPlan, "[run")); }

}  // namespace
}  // namespace krl::core

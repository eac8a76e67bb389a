// Which figures best/ keeps of a kernel that is evaluated a second time, by the toy backend.
#include "core/learn/admission.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/file_system.hpp"
#include "core/stage/stage_setup.hpp"
#include "tests/unit/core/learn/toy_world.hpp"
#include "tests/unit/core/run/timed_evaluation.hpp"

namespace krl::test {
using namespace core;
namespace {

using ::testing::HasSubstr;

// Choice 3 is twice as fast as the baseline, choice 2 as fast; one of them by luck seems three more
// times as fast in training.
class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : components_(world_.registry(), scope_) {}

  void SetUp() override { open(3); }

  void open(int lucky) {
    const auto plan = world_.load({"backend.lucky_choice=" + std::to_string(lucky)});
    ASSERT_TRUE(plan) << plan.error().message;
    auto setup = set_up(plan->stage(0), components_);
    ASSERT_TRUE(setup) << setup.error().message;
    setup_ = std::move(*setup);
    evaluations_.emplace(setup_.judge(), plan->run.seed, nullptr);
    auto best = BestKernels::open(world_.folder() / "best");
    ASSERT_TRUE(best) << best.error().message;
    best_.emplace(std::move(*best));
  }

  // Offers choices as turns of training left them.
  void admit(const std::vector<int>& choices = {3}) {
    const Task& task = setup_.data.tasks[0];
    Episode episode{&task, {}, 0, {}};
    for (const int choice : choices) {
      TurnRecord& turn = episode.turns.emplace_back();
      turn.candidate = {
          "__global__ void k() {}  // choice " + std::to_string(choice), {}, Format::kExact};
      const auto first = evaluations_->evaluate(task, turn.candidate, 1);
      ASSERT_TRUE(first) << first.error().message;
      turn.evaluation = first->evaluation;
    }
    Metrics metrics;
    const auto admitted = admit_best_kernels(1, {episode}, *evaluations_, *best_, metrics);
    ASSERT_TRUE(admitted) << admitted.error().message;
    EXPECT_EQ(metrics.at("best/refused"), 0) << "it is right";
  }

  // What the files of best/ say: the speedup of toy_0, and its source.
  double kept_speedup() const {
    return BestKernels::open(world_.folder() / "best")->speedups().at("toy_0");
  }
  std::string kept_source() const {
    return read_file(world_.folder() / "best/toy_0.cu").value_or("nothing");
  }

  ToyWorld world_;
  CallScope scope_;
  Components components_;
  StageSetup setup_;
  std::optional<Evaluations> evaluations_;
  std::optional<BestKernels> best_;
};

TEST_F(AdmissionTest, KeepsTheFiguresOfTheSecondTiming) {
  admit();
  EXPECT_DOUBLE_EQ(kept_speedup(), 2);
  EXPECT_THAT(kept_source(), HasSubstr("choice 3"));
}

TEST_F(AdmissionTest, KeepsTheBestThatTheSecondTimingDoesNotBeat) {
  ASSERT_TRUE(best_->offer({"toy_0", 0, "// steady", timed_evaluation(3)}));
  admit();
  EXPECT_DOUBLE_EQ(kept_speedup(), 3);
  EXPECT_EQ(kept_source(), "// steady");
}

TEST_F(AdmissionTest, ALuckyFirstTimingHidesNoFasterKernel) {
  open(2);
  admit({2, 3});
  EXPECT_DOUBLE_EQ(kept_speedup(), 2) << "4 times as fast at first, choice 2 is as fast as naive";
  EXPECT_THAT(kept_source(), HasSubstr("choice 3"));
}

TEST_F(AdmissionTest, ATimeOfTrainingIsMeasuredAgainNowAndThen) {
  auto ledger = Ledger::open(world_.folder() / "ledger", 0);
  ASSERT_TRUE(ledger) << ledger.error().message;
  const Evaluations with_ledger(setup_.judge(), 1, ledger->get());
  const Task& task = setup_.data.tasks[0];
  const Candidate candidate = {"__global__ void k() {}  // choice 3", {}, Format::kExact};
  std::vector<bool> reused;
  for (const int round : {1, 2, 10, 11, 12, 21})
    reused.push_back(with_ledger.evaluate(task, candidate, round)->reused);
  EXPECT_EQ(reused, (std::vector<bool>{false, true, true, false, true, false}));
}

}  // namespace
}  // namespace krl::test

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

// Choice 3 is twice as fast as the baseline, and by luck seemed five times as fast in training.
class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() : components_(world_.registry(), scope_) {}

  void SetUp() override {
    const auto plan = world_.load({"backend.lucky_choice=3"});
    ASSERT_TRUE(plan) << plan.error().message;
    auto setup = set_up(plan->stage(0), components_);
    ASSERT_TRUE(setup) << setup.error().message;
    setup_ = std::move(*setup);
    evaluations_.emplace(setup_.judge(), plan->run.seed, nullptr);
    auto best = BestKernels::open(world_.folder() / "best");
    ASSERT_TRUE(best) << best.error().message;
    best_.emplace(std::move(*best));
  }

  // Offers choice 3 as a turn of training left it.
  void admit() {
    const Task& task = setup_.data.tasks[0];
    TurnRecord turn;
    turn.candidate = {"__global__ void k() {}  // choice 3", {}, Format::kExact};
    const auto first = evaluations_->evaluate(task, turn.candidate, 1);
    ASSERT_TRUE(first) << first.error().message;
    turn.evaluation = first->evaluation;
    ASSERT_DOUBLE_EQ(turn.evaluation.speedup(), 5);
    Metrics metrics;
    const Status admitted =
        admit_best_kernels(1, {{&task, {}, 0, {turn}}}, *evaluations_, *best_, metrics);
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

}  // namespace
}  // namespace krl::test

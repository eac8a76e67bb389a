// Orders and their outcomes: each exactly one, in fair turns, and nothing judged twice.
#include "serve/judging/evaluation_queue.hpp"

#include <gmock/gmock.h>

#include <future>
#include <kernelrl/evaluation_json.hpp>

#include "tests/unit/serve/toy_judge.hpp"
#include "tests/wait_while.hpp"

namespace krl::serve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Queue : public ::testing::Test {
 protected:
  void open(const test::Overrides& changes = {}, const JudgeServiceOptions& options = {}) {
    judge_.emplace(world_, changes);
    auto service = JudgeService::open(judge_->plan, judge_->session, options);
    ASSERT_TRUE(service) << service.error().message;
    service_ = *std::move(service);
  }
  Order order(int choice, const std::string& note = {}, const std::string& client = "a") {
    return *service_->order_of(client,
                               nlohmann::ordered_json::parse(ToyJudge::request(choice, note)));
  }
  std::future<Outcome> submit(Order order) {
    const auto promise = std::make_shared<std::promise<Outcome>>();
    ticket_ = service_->queue().submit(
        std::move(order), [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    return promise->get_future();
  }
  // The code that an order ends with.
  static Code code(std::future<Outcome> future) {
    const Outcome outcome = future.get();
    return outcome.told ? Code::kOk : outcome.told.error().code;
  }
  std::string metrics() const { return service_->metrics().text(); }

  test::ToyWorld world_;
  std::optional<ToyJudge> judge_;
  std::unique_ptr<JudgeService> service_;
  EvaluationQueue::Ticket ticket_ = 0;
};

TEST_F(Queue, JudgesAKernel) {
  open();
  const Outcome outcome = submit(order(3)).get();
  ASSERT_TRUE(outcome.told) << outcome.told.error().message;
  EXPECT_EQ((*outcome.told)->headline, "ok: 2.00 times the baseline");
  EXPECT_FALSE(outcome.kept);
}

TEST_F(Queue, JudgesTheSameOnce) {
  open({"backend.slow_choice=2"});
  auto first = submit(order(2));
  auto second = submit(order(2, "", "b"));
  EXPECT_FALSE(first.get().kept);
  EXPECT_TRUE(second.get().kept);
  EXPECT_TRUE(submit(order(2)).get().kept);
  EXPECT_THAT(metrics(), HasSubstr("kernelrl_evaluations_total{verdict=\"ok\"} 1\n"));
}

TEST_F(Queue, OtherSeedsAndStagesAreOtherOrders) {
  open();
  Order other = order(3);
  other.seed = 1;
  submit(order(3)).get();
  EXPECT_FALSE(submit(other).get().kept);
  other.stages |= KRL_STAGE_HOLDOUT;
  EXPECT_FALSE(submit(other).get().kept);
}

TEST_F(Queue, ClientsTakeTurns) {
  open({"backend.concurrency=1", "backend.slow_choice=2"});
  std::vector<std::string> ended;
  std::mutex mutex;
  std::atomic<int> left = 5;
  const auto submit_named = [&](Order order, const std::string& name) {
    service_->queue().submit(std::move(order), [&, name](const Outcome&) {
      const std::lock_guard lock(mutex);
      ended.push_back(name);
      --left;
    });
  };
  submit_named(order(2), "a slow");
  test::wait_while([&] { return service_->queue().waiting() > 0; });  // the others come later
  for (const char* name : {"a1", "a2", "a3"}) submit_named(order(3, name), name);
  submit_named(order(3, "b", "b"), "b");
  test::wait_while([&] { return left > 0; });
  EXPECT_THAT(ended, ElementsAre("a slow", "a1", "b", "a2", "a3"));
}

TEST_F(Queue, ADeadlineCountsFromTheOrder) {
  open({"backend.held=true", "backend.concurrency=1"});
  Order late = order(3);
  late.deadline = Order::Clock::now() + std::chrono::milliseconds(20);
  Order behind = order(3, "behind");
  behind.deadline = late.deadline;
  auto running = submit(late), waiting = submit(behind);
  EXPECT_EQ(code(std::move(running)), Code::kDeadlineExceeded);
  EXPECT_EQ(code(std::move(waiting)), Code::kDeadlineExceeded);
  EXPECT_TRUE(service_->queue().drain(std::chrono::seconds(60)));
}

TEST_F(Queue, WhatNobodyWaitsForIsStopped) {
  open({"backend.held=true", "backend.concurrency=1"});
  auto first = submit(order(3));
  const auto first_ticket = ticket_;
  auto second = submit(order(3));
  service_->queue().cancel(first_ticket);
  EXPECT_EQ(code(std::move(first)), Code::kCancelled);
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  service_->queue().cancel(ticket_);
  EXPECT_EQ(code(std::move(second)), Code::kCancelled);
  EXPECT_TRUE(service_->queue().drain(std::chrono::seconds(60)));
  service_->queue().cancel(ticket_);  // it is over
}

TEST_F(Queue, IsBounded) {
  JudgeServiceOptions options;
  options.queue.most_waiting = 3;
  options.queue.most_waiting_of_client = 2;
  open({"backend.held=true", "backend.concurrency=1"}, options);
  std::vector<std::future<Outcome>> held;
  held.push_back(submit(order(3)));
  test::wait_while([&] { return service_->queue().waiting() > 0; });
  for (const char* note : {"1", "2"}) held.push_back(submit(order(3, note)));
  EXPECT_EQ(service_->queue().position(ticket_), 2u);
  EXPECT_EQ(code(submit(order(3, "3"))), Code::kResourceExhausted);
  held.push_back(submit(order(3, "4", "b")));
  EXPECT_EQ(code(submit(order(3, "5", "c"))), Code::kUnavailable);
  service_.reset();  // ends what is held, and nobody hears of it
}

TEST_F(Queue, AFailureOfTheInfrastructureIsNoVerdict) {
  open({"backend.broken=true", "run.retries=0"});
  EXPECT_EQ(code(submit(order(3))), Code::kUnavailable);
  EXPECT_EQ(code(submit(order(3))), Code::kUnavailable);  // and it is not kept
  EXPECT_THAT(metrics(), HasSubstr("kernelrl_orders_total{end=\"failed\"} 2\n"));
}

TEST_F(Queue, NothingIsTakenWhileItDrains) {
  open({"backend.slow_choice=2"});
  auto under_way = submit(order(2));
  auto drained = std::async(std::launch::async,
                            [&] { return service_->queue().drain(std::chrono::seconds(60)); });
  int note = 0;  // nothing that is known already
  test::wait_while([&] { return code(submit(order(3, std::to_string(note++)))) == Code::kOk; });
  EXPECT_EQ(code(submit(order(1))), Code::kUnavailable);
  EXPECT_EQ(code(std::move(under_way)), Code::kOk);
  EXPECT_TRUE(drained.get());
}

TEST_F(Queue, KnowsTheBestKernelOfEachTask) {
  open();
  for (const int choice : {2, 3, 2, 1}) submit(order(choice)).get();
  const auto best = service_->queue().best().list("", "toy_0");
  ASSERT_EQ(best.size(), 1u);
  EXPECT_THAT(best[0].source, HasSubstr("choice 3"));
  EXPECT_TRUE(service_->queue().best().list("", "toy_1").empty());
}

TEST(ToldResult, KeepsSecrets) {
  Evaluation evaluation;
  evaluation.verdict = Verdict::kWrongResult;
  evaluation.why = "rows=7 cols=4097: y[3] is 1, expected 2.5";
  const auto add = [&](CaseKind kind, Verdict verdict, const char* label) {
    Case c;
    c.kind = kind;
    c.verdict = verdict;
    c.label = label;
    c.detail = verdict == Verdict::kOk ? "" : "y[3] is 1, expected 2.5";
    c.max_abs_error = 1.5;
    evaluation.cases.push_back(c);
    evaluation.values.push_back(
        {static_cast<std::int32_t>(evaluation.cases.size()) - 1, "dram_bytes", "B", 1});
  };
  add(CaseKind::kShown, Verdict::kOk, "rows=8 cols=8");
  add(CaseKind::kFresh, Verdict::kOk, "rows=911 cols=3");
  add(CaseKind::kHoldout, Verdict::kWrongResult, "rows=7 cols=4097");
  add(CaseKind::kFresh, Verdict::kWrongResult, "rows=12 cols=1");
  add(CaseKind::kFresh, Verdict::kWrongResult, "rows=833 cols=2");
  const Evaluation told = without_secrets(evaluation);
  EXPECT_EQ(told.cases[0].label, "rows=8 cols=8");
  EXPECT_EQ(told.cases[3].label, "rows=12 cols=1");  // as in the next prompt of a training
  EXPECT_EQ(told.values.size(), 2u);
  ASSERT_EQ(told.cases.size(), 5u);
  EXPECT_EQ(told.cases[2].verdict, Verdict::kWrongResult);
  EXPECT_EQ(told.pass_rate(), evaluation.pass_rate());
  const std::string json = to_json_text(told);
  for (const char* secret : {"911", "4097", "833"})
    EXPECT_EQ(json.find(secret), std::string::npos) << json;
  EXPECT_TRUE(std::isnan(told.cases[2].max_abs_error));
}

}  // namespace
}  // namespace krl::serve::testing

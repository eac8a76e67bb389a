// Components that load and then break the rules: the host names them and goes on.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/plugin/backend.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/reward.hpp"
#include "core/plugin/views.hpp"

namespace krl::core {
namespace {

const Registry& registry() {
  static const Registry loaded = Registry::load({KERNELRL_BINARY_DIR "/tests/plugins/misbehaving"});
  return loaded;
}

Result<Instance> create(Kind kind, const std::string& id,
                        nlohmann::json table = nlohmann::json::object()) {
  static const CallScope scope;
  const Component* component = registry().find(kind, id);
  if (component == nullptr) return failure(Code::kNotFound, "no component '" + id + "'");
  return Instance::create(*component, table, scope);
}

// "… broke its contract in f(): why (plugin …)" -> "… broke its contract in f(): why"
std::string without_plugin(const Error& error) {
  return error.message.substr(0, error.message.find(" (plugin misbehaving 0.1.0, "));
}

std::string score(const std::string& id) {
  auto instance = create(Kind::kReward, id);
  if (!instance) return instance.error().message;
  const Reward reward(std::move(*instance));
  Task task;
  task.id = "vector_add";
  const krl_task c_task = view_of(task);
  const Evaluation evaluation;
  const EvaluationView view(evaluation);
  krl_turn turn{};
  turn.struct_size = sizeof turn;
  turn.task = &c_task;
  turn.evaluation = view.c();
  const auto scores = reward.score({&turn});
  return scores ? "scored" : without_plugin(scores.error());
}

std::string evaluate(const std::string& id) {
  auto instance = create(Kind::kBackend, id);
  if (!instance) return instance.error().message;
  const auto backend = Backend::open(std::move(*instance));
  if (!backend) return without_plugin(backend.error());
  const auto evaluation = backend->evaluate(Task{}, "source", EvaluateOptions{});
  return evaluation ? "evaluated" : without_plugin(evaluation.error());
}

TEST(MisbehavingPlugins, Load) {
  EXPECT_TRUE(registry().rejected().empty()) << registry().rejected().front().why;
  EXPECT_EQ(registry().all().size(), 21u);
}

TEST(MisbehavingPlugins, WhatCreateThrowsBecomesAnError) {
  const auto why = [](const char* what) {
    const auto instance = create(Kind::kReward, "test.throws_in_create", {{"what", what}});
    return instance ? "created" : instance.error().message;
  };
  const std::string who = "reward 'test.throws_in_create' (create): ";
  EXPECT_EQ(why("failure"), who + "a Failure of create");
  EXPECT_EQ(why("runtime_error"), who + "a runtime_error of create");
  EXPECT_EQ(why("invalid_argument"), who + "an invalid_argument of create");
  EXPECT_EQ(why("bad_alloc"), who + "out of memory");
  EXPECT_EQ(why("int"), who + "unknown exception");
}

TEST(MisbehavingPlugins, CreateWithoutAnInstance) {
  const auto instance = create(Kind::kReward, "test.creates_nothing");
  ASSERT_FALSE(instance);
  EXPECT_EQ(without_plugin(instance.error()),
            "reward 'test.creates_nothing' broke its contract in create(): it gave no instance");
}

TEST(MisbehavingPlugins, Scores) {
  EXPECT_EQ(score("test.throws_in_score"),
            "reward 'test.throws_in_score' (score): a runtime_error of score");
  EXPECT_EQ(score("test.scores_nan"),
            "reward 'test.scores_nan' broke its contract in score(): it gave nan for a turn of "
            "task 'vector_add'; scores must lie in -1e+09..1e+09");
  EXPECT_EQ(score("test.scores_infinity"),
            "reward 'test.scores_infinity' broke its contract in score(): it gave -inf for a turn "
            "of task 'vector_add'; scores must lie in -1e+09..1e+09");
  EXPECT_EQ(score("test.scores_too_much"),
            "reward 'test.scores_too_much' broke its contract in score(): it gave 1e+308 for a "
            "turn of task 'vector_add'; scores must lie in -1e+09..1e+09");
  EXPECT_EQ(
      score("test.leaves_scores"),
      "reward 'test.leaves_scores' broke its contract in score(): it gave nan for a turn of task "
      "'vector_add'; scores must lie in -1e+09..1e+09");
  EXPECT_EQ(score("test.fails_silently"),
            "reward 'test.fails_silently' (score): failed without a reason (status 99)");
  EXPECT_EQ(score("test.fails_with_ok"),
            "reward 'test.fails_with_ok' (score): failed, with the status of success");
}

TEST(MisbehavingPlugins, AContractViolationNamesThePluginAndItsFile) {
  auto instance = create(Kind::kReward, "test.creates_nothing");
  ASSERT_FALSE(instance);
  EXPECT_NE(instance.error().message.find("misbehaving.krl.so)"), std::string::npos)
      << instance.error().message;
}

TEST(MisbehavingPlugins, Verdicts) {
  EXPECT_NE(evaluate("test.no_verdict").find("broke its contract in evaluate()"), std::string::npos)
      << evaluate("test.no_verdict");
  EXPECT_NE(evaluate("test.two_verdicts").find("broke its contract in evaluate()"),
            std::string::npos)
      << evaluate("test.two_verdicts");
  EXPECT_NE(evaluate("test.unknown_verdict").find("broke its contract in evaluate()"),
            std::string::npos)
      << evaluate("test.unknown_verdict");
  EXPECT_NE(evaluate("test.case_of_unknown_verdict").find("a verdict that does not exist"),
            std::string::npos)
      << evaluate("test.case_of_unknown_verdict");
  EXPECT_NE(evaluate("test.pushes_infra_error").find("broke its contract in evaluate()"),
            std::string::npos)
      << evaluate("test.pushes_infra_error");
}

TEST(MisbehavingPlugins, Results) {
  const auto evaluate = [](const char* fault) {
    auto instance = create(Kind::kBackend, "test.bad_results", {{"fault", fault}});
    return Backend::open(std::move(*instance))->evaluate(Task{}, "source", EvaluateOptions{});
  };
  const auto why = [&](const char* fault) {
    const auto evaluation = evaluate(fault);
    return evaluation ? "evaluated" : without_plugin(evaluation.error());
  };
  const std::string broke = "backend 'test.bad_results' broke its contract in evaluate(): ";
  EXPECT_EQ(why("none"), "evaluated");
  EXPECT_EQ(why("negative"), broke + "case 'n=1' has a speedup of -2");
  EXPECT_EQ(why("infinite"), broke + "case 'n=1' has a speedup of inf");
  EXPECT_EQ(why("interval"), broke + "case 'n=1' has a speedup in 3..1");
  EXPECT_EQ(why("wrong case"), broke + "its verdict is ok, and that of case 'n=1' is wrong_result");
  EXPECT_EQ(why("value"), broke + "value 'dram_bytes' is of case 99, of 1");
  EXPECT_EQ(why("late"), broke + "it pushed a case after its verdict");
}

TEST(MisbehavingPlugins, WhatNobodyMeasuredIsUnknown) {
  for (const char* fault : {"none", "zeroed"}) {
    auto instance = create(Kind::kBackend, "test.bad_results", {{"fault", fault}});
    const auto evaluation =
        Backend::open(std::move(*instance))->evaluate(Task{}, "source", EvaluateOptions{});
    ASSERT_TRUE(evaluation) << evaluation.error().message;
    EXPECT_TRUE(std::isnan(evaluation->cases[0].time_ns));
    EXPECT_EQ(std::isnan(evaluation->speedup()), fault == std::string("zeroed"));
    EXPECT_EQ(evaluation->kernels[0].registers, -1);
    EXPECT_EQ(evaluation->kernels[0].spill_bytes, -1);
    EXPECT_TRUE(std::isnan(evaluation->kernels[0].occupancy));
  }
}

AnswerSink ignore() {
  return {[](std::size_t, std::uint32_t, const Answer&) {}, [](std::size_t, const Error&) {}};
}

TEST(MisbehavingPlugins, Samples) {
  const auto sample = [](const char* fault) {
    auto instance = create(Kind::kPolicy, "test.bad_samples", {{"fault", fault}});
    if (!instance) return instance.error().message;
    const Policy policy(std::move(*instance));
    const std::vector<SampleRequest> requests(3);
    Metrics metrics;
    const Status status = policy.sample(requests, ignore(), metrics);
    return status ? "sampled" : without_plugin(status.error());
  };
  const std::string broke = "policy 'test.bad_samples' broke its contract in sample(): ";
  EXPECT_EQ(sample("none"), "sampled");
  EXPECT_EQ(sample("missing"), broke + "it gave no sample for request 1 of 3");
  EXPECT_EQ(sample("request"), broke + "sample of request 7, of 3");
  EXPECT_EQ(sample("index"), broke + "sample 99 of request 0, which wants 1");
  EXPECT_EQ(sample("token"), broke + "token 1 of request 0 is -7");
  EXPECT_EQ(sample("twice"), broke + "two samples for request 0");
  EXPECT_EQ(sample("stop_reason"), "sampled") << "newer plugins may know more of them";
  EXPECT_EQ(sample("fails"), "sampled");
  EXPECT_EQ(sample("answers_what_failed"), broke + "a sample for request 0, which has failed");
  EXPECT_EQ(sample("fails_twice"), broke + "failure of request 0, twice");
  EXPECT_EQ(sample("fails_another"), broke + "failure of request 7, of 3");
  EXPECT_EQ(sample("span"), broke + "span 1 begins at token 0 of 2");
  EXPECT_EQ(sample("no_span"), broke + "span 1 that is NULL");
  EXPECT_EQ(sample("length"), broke + "2 tokens with 1 logprobs");
  EXPECT_EQ(sample("nan"), broke + "logprob nan of token 1");
  EXPECT_EQ(sample("positive"), broke + "logprob 0.5 of token 1");
  EXPECT_EQ(sample("throws"), "policy 'test.bad_samples' (sample): a runtime_error of sample");
}

TEST(MisbehavingPlugins, WhatAPolicyTellsOfASampleArrives) {
  auto instance = create(Kind::kPolicy, "test.bad_samples", {{"fault", "stop_reason"}});
  ASSERT_TRUE(instance) << instance.error().message;
  std::vector<Answer> answers;
  AnswerSink sink = ignore();
  sink.answered = [&](std::size_t, std::uint32_t, Answer answer) {
    answers.push_back(std::move(answer));
  };
  Metrics metrics;
  ASSERT_TRUE(Policy(std::move(*instance)).sample({{}}, sink, metrics));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].stop_reason, KRL_STOP_ABORTED) << "a reason that nobody knows";
  ASSERT_EQ(answers[0].spans.size(), 2u);
  EXPECT_EQ(answers[0].spans[1].first_token, 1u);
  EXPECT_EQ(answers[0].spans[1].version, 2u);
}

TEST(MisbehavingPlugins, Streams) {
  const auto stream = [](const char* fault) {
    auto instance = create(Kind::kPolicy, "test.bad_samples", {{"fault", fault}});
    if (!instance) return instance.error().message;
    const Policy policy(std::move(*instance));
    const std::vector<SampleRequest> requests(3);
    std::size_t taken = 0;
    const auto next = [&](bool) { return taken < requests.size() ? &requests[taken++] : nullptr; };
    Metrics metrics;
    const Status status = policy.sample_stream(next, ignore(), metrics);
    return status ? "sampled" : without_plugin(status.error());
  };
  const std::string broke = "policy 'test.bad_samples' broke its contract in sample_stream(): ";
  EXPECT_EQ(stream("none"), "sampled");
  EXPECT_EQ(stream("missing"), broke + "it gave no sample for request 1 of 3");
  EXPECT_EQ(stream("request"), broke + "sample of request 7, of 1");
  EXPECT_EQ(stream("twice"), broke + "two samples for request 0");
  EXPECT_EQ(stream("early"), broke + "it returned while requests could still come");
  EXPECT_EQ(stream("throws"),
            "policy 'test.bad_samples' (sample_stream): a runtime_error of sample_stream");
}

TEST(MisbehavingPlugins, APolicyWithoutStreams) {
  EXPECT_TRUE(Policy::can_stream(*registry().find(Kind::kPolicy, "test.bad_samples")));
  EXPECT_FALSE(Policy::can_stream(*registry().find(Kind::kPolicy, "test.policy_without_streams")));
}

TEST(MisbehavingPlugins, APolicyWithoutTheFunctionsOfItsFlags) {
  auto instance = create(Kind::kPolicy, "test.promises_learning");
  ASSERT_TRUE(instance) << instance.error().message;
  const Policy policy(std::move(*instance));
  const auto info = policy.describe();
  ASSERT_FALSE(info);
  EXPECT_EQ(without_plugin(info.error()),
            "policy 'test.promises_learning' broke its contract in describe(): its flags need "
            "forward_backward(), which is NULL");
  const Status loaded = policy.load("nowhere");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "the policy 'test.promises_learning' cannot load a checkpoint");
}

TEST(MisbehavingPlugins, APolicyThatDoesNotSayWhatItIs) {
  auto instance = create(Kind::kPolicy, "test.describes_nothing");
  ASSERT_TRUE(instance) << instance.error().message;
  const auto info = Policy(std::move(*instance)).describe();
  ASSERT_FALSE(info);
  EXPECT_EQ(without_plugin(info.error()),
            "policy 'test.describes_nothing' broke its contract in describe(): it pushed its "
            "description 0 times");
}

TEST(MisbehavingPlugins, Values) {
  const auto values = [](const char* fault) {
    auto instance = create(Kind::kPolicy, "test.bad_values", {{"fault", fault}});
    if (!instance) return instance.error().message;
    Example example;
    example.tokens = {1, 2};
    const auto given = Policy(std::move(*instance)).values({example, example, example});
    return given ? "valued" : without_plugin(given.error());
  };
  const std::string broke = "policy 'test.bad_values' broke its contract in values(): ";
  EXPECT_EQ(values("none"), "valued");
  EXPECT_EQ(values("missing"), broke + "it gave no values for example 1 of 3");
  EXPECT_EQ(values("example"), broke + "values of example 7, of 3");
  EXPECT_EQ(values("length"), broke + "3 values for the 2 tokens of example 0");
  EXPECT_EQ(values("nan"), broke + "a value of example 0 is not finite");
  EXPECT_EQ(values("throws"), "policy 'test.bad_values' (values): a runtime_error of values");
}

TEST(MisbehavingPlugins, TokenizeWithoutTokens) {
  auto instance = create(Kind::kPolicy, "test.bad_samples", {{"fault", "none"}});
  ASSERT_TRUE(instance) << instance.error().message;
  const auto tokens = Policy(std::move(*instance)).tokenize({}, "answer");
  ASSERT_FALSE(tokens);
  EXPECT_EQ(without_plugin(tokens.error()),
            "policy 'test.bad_samples' broke its contract in tokenize(): it gave no tokens");
}

TEST(MisbehavingPlugins, ADatasetThatPushesNothing) {
  auto instance = create(Kind::kDataset, "test.empty_items");
  ASSERT_TRUE(instance) << instance.error().message;
  const auto items = Dataset(std::move(*instance)).read_all();
  ASSERT_FALSE(items);
  EXPECT_NE(items.error().message.find("dataset 'test.empty_items'"), std::string::npos)
      << items.error().message;
}

}  // namespace
}  // namespace krl::core

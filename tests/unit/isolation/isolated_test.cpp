// Components of plugins in processes of their own: everything crosses as without, and what ends a
// process costs the calls in progress.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <kernelrl/temporary_folder.hpp>
#include <kernelrl/testing.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace krl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Plugin;
using testing::PolicyInstance;
using testing::RewardInstance;
using testing::Table;
using testing::TurnBuilder;

const std::string kFrozen = KERNELRL_SOURCE_DIR "/tests/abi/binaries/1.0/gxx.krl.so";
const std::string kBroken = KERNELRL_BINARY_DIR "/tests/broken/components/backend.krl.so";
const std::string kTroubled = KERNELRL_BINARY_DIR "/tests/plugins/troubled/troubled.krl.so";

const Plugin& actor() {
  static const Plugin plugin(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/isolation.krl.so");
  return plugin;
}

Table isolated(const std::string& file, const std::string& id, const std::string& options = "{}") {
  return {{"file", file}, {"component", id}, {"options", testing::Value::json(options)}};
}

RewardInstance isolated_trouble(const std::string& options = R"({"farewell": ""})") {
  return actor().reward("isolated", isolated(kTroubled, "test.troubled", options));
}
double score(const RewardInstance& reward, const char* answer) {
  return reward.score(TurnBuilder().answer(answer));
}
PolicyInstance rich() { return actor().policy("isolated", isolated(kTroubled, "test.rich")); }

template <class Work>
std::pair<krl_status, std::string> failure_of(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return {failure.code(), failure.what()};
  }
  return {KRL_OK, ""};
}

TEST(Isolated, ARewardScoresAsItDoes) {
  const auto reward =
      actor().reward("isolated", isolated(kFrozen, "frozen.reward", R"({"limit": 100.0})"));
  EXPECT_EQ(reward.scores({TurnBuilder().source("0123456789"),
                           TurnBuilder().previous(TurnBuilder().answer("before"))}),
            (std::vector<double>{0.9, 1.0}));
}

TEST(Isolated, ADatasetHasItsItems) {
  const auto direct = Plugin(kFrozen).dataset("frozen.dataset", {{"count", 3}});
  const auto dataset =
      actor().dataset("isolated", isolated(kFrozen, "frozen.dataset", R"({"count": 3})"));
  EXPECT_EQ(dataset.size(), 3u);
  EXPECT_EQ(dataset.read(2).definition_json, direct.read(2).definition_json);
  EXPECT_EQ(dataset.read(2).title, direct.read(2).title);
  EXPECT_EQ(failure_of([&] { dataset.read(3); }), failure_of([&] { direct.read(3); }));
}

TEST(Isolated, ABackendJudgesAsItDoes) {
  const auto direct = Plugin(kFrozen).backend("frozen.backend");
  const auto backend = actor().backend("isolated", isolated(kFrozen, "frozen.backend"));
  EXPECT_EQ(view(backend.describe().toolchain), view(direct.describe().toolchain));
  EXPECT_EQ(backend.describe().signals, direct.describe().signals);
  EXPECT_EQ(backend.describe().concurrency, direct.describe().concurrency);
  EXPECT_EQ(backend.evaluate("f(x[0]);").verdict, Verdict::kOk);
  const Evaluation refused = backend.evaluate("f(\n]");
  EXPECT_EQ(refused.verdict, Verdict::kCompileError);
  EXPECT_EQ(refused.why, direct.evaluate("f(\n]").why);
  ASSERT_EQ(refused.diagnostics.size(), 1u);
  EXPECT_EQ(refused.diagnostics[0].line, 2u);
}

TEST(Isolated, APolicysDescriptionIsWhole) {
  const auto direct = Plugin(kTroubled).policy("test.rich");
  const auto policy = rich();
  const auto said = policy.describe(), meant = direct.describe();
  EXPECT_EQ(said.flags, meant.flags);
  EXPECT_EQ(said.vocabulary, meant.vocabulary);
  EXPECT_EQ(said.version, meant.version);
  EXPECT_EQ(said.logprobs, meant.logprobs);
  EXPECT_EQ(std::pair(said.exports, said.adopts), std::pair(meant.exports, meant.adopts));
  EXPECT_EQ(view(said.description), "has everything");
}

RequestValue request_of(const std::string& text, const std::string& session = {}) {
  RequestValue request;
  request.messages = {{KRL_ROLE_USER, text}};
  request.session = session;
  request.prompt_tokens = {3, 4};
  request.deadline_ns = 99;
  return request;
}

TEST(Isolated, ASampleKeepsAllThatItHas) {
  const auto samples = rich().sample({request_of("which?")});
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].text, "which? at 99");
  EXPECT_THAT(samples[0].prompt_tokens, ElementsAre(3, 4));
  EXPECT_THAT(samples[0].logprobs, ElementsAre(-0.25F, -1.5F));
  ASSERT_EQ(samples[0].spans.size(), 2u);
  EXPECT_EQ(samples[0].spans[1].version, 5u);
  EXPECT_EQ(samples[0].state, std::string("\0\xff", 2));
}

// Samples, and the requests that were given up.
struct Received {
  std::vector<std::string> texts, lost;
  krl_sample_sink sink{sizeof(krl_sample_sink), 0, this,
                       [](const krl_sample_sink* to, const krl_sample* sample) -> krl_status {
                         of(to).texts.push_back(copy(sample->text));
                         return KRL_OK;
                       },
                       [](const krl_sample_sink* to, std::uint32_t request, krl_status status,
                          krl_str why) -> krl_status {
                         of(to).lost.push_back(std::to_string(request) + " " +
                                               std::to_string(status) + " " + copy(why));
                         return KRL_OK;
                       }};
  static Received& of(const krl_sample_sink* sink) { return *static_cast<Received*>(sink->ctx); }
};

TEST(Isolated, ARequestThatIsGivenUpCostsNoOther) {
  const auto policy = rich();
  const std::vector<RequestValue> requests = {request_of("a"), request_of("b", "refuse"),
                                              request_of("c")};
  const CViews<RequestValue> views(requests);
  Received received;
  EXPECT_EQ(policy.table().sample(policy.self(), policy.context(), views.data(), views.size(),
                                  &received.sink),
            KRL_OK);
  EXPECT_THAT(received.texts, ElementsAre("a at 99", "c at 99"));
  EXPECT_THAT(received.lost, ElementsAre("1 3 the prompt is too long"));
  EXPECT_EQ(policy.call().metrics.at("retries"), 3);
}

// Gives one request after the other, each once the one before has been answered.
struct OneByOne {
  explicit OneByOne(const Received& so_far) : received(so_far) {}

  static krl_status next(const krl_request_source* source, std::int32_t wait,
                         const krl_request** out) {
    auto& self = *static_cast<OneByOne*>(source->ctx);
    EXPECT_EQ(wait, 1);
    EXPECT_EQ(self.received.texts.size(), self.given);
    *out = self.given == 3 ? nullptr : self.view.c();
    if (*out != nullptr) ++self.given;
    return KRL_OK;
  }

  const Received& received;
  std::size_t given = 0;
  RequestValue request = request_of("streamed");
  CView<RequestValue> view{request};
  krl_request_source source{sizeof(krl_request_source), 0, this, next};
};

TEST(Isolated, RequestsStream) {
  const auto policy = rich();
  Received received;
  const OneByOne requests(received);
  EXPECT_EQ(policy.table().sample_stream(policy.self(), policy.context(), &requests.source,
                                         &received.sink),
            KRL_OK);
  EXPECT_EQ(received.texts, std::vector<std::string>(3, "streamed at 99"));
}

ExampleValue rich_example() {
  ExampleValue example;
  example.tokens = {1, 2};
  example.advantages = {0.5F, 0.5F};
  example.returns = {2.0F, 3.0F};
  example.state = std::string("\0\xff", 2);
  return example;
}

TEST(Isolated, APolicyLearns) {
  const auto policy = rich();
  LossValue loss;
  loss.name = "ppo";
  policy.forward_backward(loss, {rich_example()});
  EXPECT_EQ(policy.call().metrics.at("loss"), 0.5);
  OptimizerValue optimizer;
  optimizer.lr = 0.125;
  policy.optimizer_step(optimizer);
  EXPECT_EQ(policy.call().metrics.at("grad_norm"), 0.125);
  std::uint64_t version = 0;
  EXPECT_EQ(policy.table().publish(policy.self(), policy.context(), &version), KRL_OK);
  EXPECT_EQ(version, 4u);

  std::vector<float> values;
  const krl_critic_sink sink{sizeof sink, 0, &values,
                             [](const krl_critic_sink* to, std::size_t, krl_f32s row) {
                               auto& all = *static_cast<std::vector<float>*>(to->ctx);
                               all.assign(row.data, row.data + row.size);
                               return krl_status{KRL_OK};
                             }};
  const std::vector<ExampleValue> examples = {rich_example()};
  const CViews<ExampleValue> views(examples);
  EXPECT_EQ(policy.table().values(policy.self(), policy.context(), views.data(), 1, &sink), KRL_OK);
  EXPECT_THAT(values, ElementsAre(2.0F, 3.0F));
}

TEST(Isolated, WhatAPolicyLearnedEndsWithItsProcess) {
  const auto policy = rich();
  EXPECT_EQ(policy.sample({request_of("x")}).size(), 1u);
  policy.optimizer_step({});
  LossValue loss;
  loss.name = "die";
  const auto died = failure_of([&] { policy.forward_backward(loss, {rich_example()}); });
  EXPECT_EQ(died.first, KRL_FAILED_PRECONDITION);
  EXPECT_THAT(died.second, HasSubstr("during forward_backward(), and what it had learned is lost"));
  const auto later = failure_of([&] { policy.sample({request_of("x")}); });
  EXPECT_EQ(later.first, KRL_FAILED_PRECONDITION);
  EXPECT_THAT(later.second, HasSubstr("resume the run from its last checkpoint"));
}

TEST(Isolated, AProcessThatEndsLosesOneCall) {
  const auto reward = isolated_trouble();
  EXPECT_EQ(score(reward, "fine"), 1);
  for (const auto& [answer, how] : {std::pair("die", "signal 6"), {"exit", "ended with code 3"}}) {
    const auto [code, message] = failure_of([&, answer = answer] { score(reward, answer); });
    EXPECT_EQ(code, KRL_UNAVAILABLE);
    EXPECT_THAT(message, HasSubstr("the process of 'test.troubled' "));
    EXPECT_THAT(message, HasSubstr(how));
    EXPECT_EQ(score(reward, "fine"), 1) << "another process begins anew";
  }
}

TEST(Isolated, AProcessThatLeavesAChildHasEnded) {
  const auto reward = isolated_trouble();
  EXPECT_EQ(failure_of([&] { score(reward, "leave a child"); }).first, KRL_UNAVAILABLE);
  EXPECT_EQ(score(reward, "fine"), 1);
}

TEST(Isolated, ASignalCostsNothing) {
  const auto reward = isolated_trouble();
  EXPECT_EQ(score(reward, "interrupt"), 1);
  EXPECT_EQ(score(reward, "fine"), 2) << "the process goes on";
}

TEST(Isolated, AnErrorIsTheComponentsOwn) {
  const auto reward = isolated_trouble();
  EXPECT_EQ(failure_of([&] { score(reward, "throw"); }),
            std::pair(KRL_INTERNAL, std::string("no score today")));
  EXPECT_EQ(failure_of([&] { score(reward, "away"); }),
            std::pair(KRL_UNAVAILABLE, std::string("the server is away")));
  EXPECT_EQ(score(reward, "fine"), 3) << "the process goes on";
  EXPECT_EQ(failure_of([&] { isolated_trouble(R"({"farewell": "refuse"})"); }),
            std::pair(KRL_INVALID_ARGUMENT, std::string("farewell: it does not like this one")));
  EXPECT_EQ(failure_of([&] { actor().reward("isolated", isolated(kFrozen, "other")); }).first,
            KRL_NOT_FOUND);
}

TEST(Isolated, ACancelledCallEndsAndTheProcessGoesOn) {
  const auto reward = isolated_trouble();
  EXPECT_EQ(score(reward, "fine"), 1);
  reward.call().cancelled = true;
  EXPECT_EQ(failure_of([&] { score(reward, "obey"); }).first, KRL_CANCELLED);
  reward.call().cancelled = false;
  EXPECT_EQ(score(reward, "fine"), 3);
}

TEST(Isolated, ACancelledCallThatGoesOnEndsTheProcess) {
  const auto reward = isolated_trouble();
  for (const char* answer : {"hang", "flood"}) {
    reward.call().cancelled = true;
    EXPECT_EQ(failure_of([&] { score(reward, answer); }).first, KRL_CANCELLED);
    reward.call().cancelled = false;
    EXPECT_EQ(score(reward, "fine"), 1) << "another process begins anew";
  }
}

TEST(Isolated, WhatTheHostRefusesEndsTheCallAlone) {
  const auto policy = rich();
  policy.optimizer_step({});
  krl_sample_sink refusing{};
  refusing.struct_size = sizeof refusing;
  refusing.put = [](const krl_sample_sink*, const krl_sample*) -> krl_status {
    return KRL_INVALID_ARGUMENT;
  };
  const std::vector<RequestValue> requests = {request_of("a"), request_of("b")};
  const CViews<RequestValue> views(requests);
  EXPECT_EQ(
      policy.table().sample(policy.self(), policy.context(), views.data(), views.size(), &refusing),
      KRL_INVALID_ARGUMENT);
  EXPECT_EQ(policy.sample(requests).size(), 2u);
  EXPECT_EQ(policy.describe().version, 4u) << "the process that learned goes on";
}

TEST(Isolated, WhatCannotBeReadIsNamed) {
  for (const auto& [defect, why] :
       {std::pair("null case", "it pushed a case that is NULL"),
        std::pair("case size", "it pushed a case whose struct_size is 8, not ")}) {
    const auto backend = actor().backend(
        "isolated", isolated(kBroken, "broken.backend",
                             R"({"at": "evaluate", "from": 1, "times": 0, "defect": ")" +
                                 std::string(defect) + R"("})"));
    const auto [code, message] = failure_of([&] { backend.evaluate("right"); });
    EXPECT_EQ(code, KRL_INTERNAL);
    EXPECT_THAT(message, HasSubstr(why));
  }
}

TEST(Isolated, WhatIsTooLargeIsNamed) {
  const auto policy = rich();
  const auto [code, message] = failure_of([&] { policy.sample({request_of("x", "huge")}); });
  EXPECT_EQ(code, KRL_RESOURCE_EXHAUSTED);
  EXPECT_THAT(message, HasSubstr("a message of 257 MiB"));
  EXPECT_EQ(policy.sample({request_of("x")}).size(), 1u);
}

TEST(Isolated, WhatItLogsArrivesWithItsLevel) {
  const auto reward = isolated_trouble();
  score(reward, "fine");
  failure_of([&] { score(reward, "die"); });
  EXPECT_THAT(reward.call().messages,
              ElementsAre(std::pair<std::int32_t, std::string>(KRL_LOG_WARNING, "call 1"),
                          std::pair<std::int32_t, std::string>(KRL_LOG_WARNING, "call 2")));
}

TEST(Isolated, TheInstanceIsDestroyed) {
  const TemporaryFolder folder("kernelrl-isolated");
  const std::string file = (folder.path() / "farewell").string();
  { score(isolated_trouble(R"({"farewell": ")" + file + R"("})"), "fine"); }
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace krl

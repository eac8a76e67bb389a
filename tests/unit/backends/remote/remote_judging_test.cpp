// An evaluation by one server: what is sent, what comes back, and what may go wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <kernelrl/component.hpp>
#include <thread>

#include "tests/unit/backends/remote/fake_judge.hpp"
#include "tests/wait_while.hpp"

namespace krl::remote {
namespace {

using http::testing::answer;
using krl::testing::Call;
using testing::at;
using testing::Ending;
using testing::FakeJudge;
using ::testing::HasSubstr;
using testing::Json;
using ::testing::Not;
using testing::Remote;
using testing::Script;
using testing::SeenRequest;

FakeJudge::Interfere always(Script script) {
  return [script](const SeenRequest&) { return std::optional(script); };
}

Script error(unsigned status, const char* code, const char* message,
             std::vector<http::Header> headers = {}) {
  return answer(status, Json{{"error", {{"code", code}, {"message", message}}}}.dump(),
                std::move(headers));
}

Failure refusal_of_options(krl::testing::Table options) {
  try {
    const Remote remote(std::move(options));
  } catch (const Failure& failure) {
    return failure;
  }
  return {KRL_OK, "no failure"};
}

TEST(RemoteJudging, AServersEvaluationIsTheBackends) {
  FakeJudge judge;
  Remote remote(at({judge.url()}));
  const auto described = remote.describe();
  EXPECT_EQ(view(described.device), "a GPU");
  EXPECT_EQ(view(described.toolchain), "cpu fake 1 a GPU");
  EXPECT_EQ(described.signals, 7U);
  EXPECT_EQ(described.concurrency, 8U);
  EXPECT_EQ(described.flags, KRL_BACKEND_REAL_SIZES);
  const Ending ending = remote.evaluate("a kernel");
  EXPECT_EQ(ending.status, KRL_OK) << ending.why;
  EXPECT_EQ(ending.verdicts, 1);
  EXPECT_TRUE(ending.evaluation.passed());
  EXPECT_EQ(ending.evaluation.compile_log, "a kernel");
  EXPECT_EQ(ending.evaluation.speedup(), std::exp(std::log(1.1)));
  EXPECT_EQ(ending.evaluation.value("sectors"), 0.1);
}

TEST(RemoteJudging, ATaskIsSentOnceAndAgainToAServerThatForgotIt) {
  FakeJudge judge;
  Remote remote(at({judge.url()}));
  for (const char* source : {"1", "2"}) EXPECT_EQ(remote.evaluate(source).status, KRL_OK);
  judge.forget_tasks();
  EXPECT_EQ(remote.evaluate("3").status, KRL_OK);
  std::string forms;
  for (const Json& asked : judge.asked()) forms += asked["task"].is_object() ? "D" : "d";
  EXPECT_EQ(forms, "DddD");
  EXPECT_EQ(judge.asked()[0]["seed"], 3);
  EXPECT_EQ(judge.asked()[0]["stages"], Json::parse(R"(["compile", "check"])"));
}

TEST(RemoteJudging, ATaskIsPreparedByItsNaiveKernel) {
  FakeJudge judge;
  EXPECT_EQ(Remote(at({judge.url()})).prepare().status, KRL_OK);
  EXPECT_EQ(judge.judged(), std::vector<std::string>{"the naive kernel"});
  FakeJudge strict(always(error(400, "invalid_argument", "doubled: the naive kernel is wrong")));
  const Ending refused = Remote(at({strict.url()})).prepare();
  EXPECT_EQ(refused.status, KRL_INVALID_ARGUMENT);
  EXPECT_THAT(refused.why, HasSubstr("status 400: doubled: the naive kernel is wrong"));
}

TEST(RemoteJudging, ATokenIsSentAndNeverShown) {
  ::setenv("KRL_TEST_TOKEN", "very-secret", 1);
  const auto echo = [](const SeenRequest& request) {
    return std::optional(
        error(401, "", ("no client has " + request.header("Authorization")).c_str()));
  };
  FakeJudge judge(echo);
  Remote remote(at({judge.url()}, {{"token_env", "KRL_TEST_TOKEN"}}));
  const Ending ending = remote.evaluate("a kernel");
  EXPECT_EQ(ending.status, KRL_FAILED_PRECONDITION);
  EXPECT_EQ(judge.server().requests().back().header("Authorization"), "Bearer very-secret");
  EXPECT_THAT(ending.why, HasSubstr("set token_env or token_file"));
  EXPECT_THAT(ending.why, Not(HasSubstr("very-secret")));
}

TEST(RemoteJudging, WrongOptionsAreRefused) {
  EXPECT_THAT(refusal_of_options({}).what(), HasSubstr("set servers = ["));
  EXPECT_THAT(refusal_of_options({{"members", "http://127.0.0.1:1/"},
                                  {"servers", krl::testing::Value::json(R"(["http://a"])")}})
                  .what(),
              HasSubstr("not both"));
  EXPECT_THAT(
      refusal_of_options({{"members", "http://127.0.0.1:1/"}, {"token_env", "KRL_NO_SUCH"}}).what(),
      HasSubstr("KRL_NO_SUCH, which is not set"));
  EXPECT_THAT(
      refusal_of_options({{"members", "http://127.0.0.1:1/"}, {"token_file", "/no/file"}}).what(),
      HasSubstr("cannot read /no/file"));
}

TEST(RemoteJudging, AServerThatIsNotThereIsNamed) {
  const std::string url = [] { return FakeJudge().url(); }();
  const Failure failure = refusal_of_options(
      {{"servers", krl::testing::Value::json(Json{url}.dump())}, {"patience_s", 0.1}});
  EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
  EXPECT_THAT(failure.what(),
              HasSubstr("no server judges: GET " + url + "/v1/info: no connection"));
}

TEST(RemoteJudging, AnInfrastructureErrorIsNoVerdict) {
  for (const Script& script :
       {error(500, "internal", "the GPU fell off"), answer(502, "<html>"), answer(200, "{}"),
        answer(200, R"({"evaluation": {"verdict": "infra_error"}})"), Script().reset()}) {
    FakeJudge judge(always(script));
    const Ending ending = Remote(at({judge.url()}, {{"patience_s", 0.2}})).evaluate("a kernel");
    EXPECT_EQ(ending.status, KRL_UNAVAILABLE) << ending.why;
    EXPECT_EQ(ending.verdicts, 0);
    EXPECT_THAT(ending.why, HasSubstr(judge.url()));
  }
}

TEST(RemoteJudging, ABusyServerIsAskedAgainWhenItSaid) {
  for (const unsigned status : {429U, 503U}) {
    std::atomic<int> refused = 0;
    FakeJudge judge([&](const SeenRequest&) {
      return refused++ > 0
                 ? std::nullopt
                 : std::optional(error(status, "unavailable", "full", {{"Retry-After", "1"}}));
    });
    Remote remote(at({judge.url()}));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(remote.evaluate("a kernel").status, KRL_OK);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_EQ(refused, 2);
  }
}

TEST(RemoteJudging, CancellingClosesTheRequest) {
  FakeJudge judge(always(Script().hold()));
  Remote remote(at({judge.url()}));
  Call call;
  std::thread user([&] {
    krl::test::wait_while([&] { return judge.asked().empty(); });
    call.cancelled = true;
  });
  EXPECT_EQ(remote.evaluate("a kernel", call.context()).status, KRL_CANCELLED);
  user.join();
  krl::test::wait_while([&] { return judge.server().open() > 0; });
}

TEST(RemoteJudging, TheDeadlineOfACallIsTheServersToo) {
  FakeJudge judge(always(Script().hold()));
  Remote remote(at({judge.url()}));
  const Call call;
  krl_call context = *call.context();
  context.deadline_ns = monotonic_ns() + 1'500'000'000;
  EXPECT_EQ(remote.evaluate("a kernel", &context).status, KRL_DEADLINE_EXCEEDED);
  EXPECT_EQ(judge.asked().front()["deadline_s"], 2);
}

TEST(RemoteJudging, EveryOneOfManyCallsGetsItsOwnResult) {
  FakeJudge judge;
  Remote remote(at({judge.url()}));
  std::vector<std::thread> callers;
  for (int i = 0; i < 200; ++i) {
    callers.emplace_back([&remote, source = "kernel " + std::to_string(i)] {
      const Ending ending = remote.evaluate(source);
      EXPECT_EQ(ending.verdicts, 1) << ending.why;
      EXPECT_EQ(ending.evaluation.compile_log, source);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(judge.judged().size(), 200U);
}

}  // namespace
}  // namespace krl::remote

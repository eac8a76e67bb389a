// Everything that may go wrong between us and a server: no hang, no sample lost or doubled, none of
// wrong tokens; what fails is said, request by request.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/policies/openai/fake_vllm.hpp"
#include "tests/unit/policies/openai/policy_under_test.hpp"
#include "tests/wait_while.hpp"

namespace krl::openai {
namespace {

using http::testing::answer;
using krl::test::RequestList;
using krl::test::SampleCollector;
using krl::testing::Table;
using krl::testing::Value;
using testing::FakeVllm;
using ::testing::HasSubstr;
using testing::Interfere;
using testing::json;
using testing::OpenAi;
using testing::Script;

Table options(const FakeVllm& server, Table more = {}) {
  Table table = {{"base_url", server.url()},
                 {"tokenizer", testing::tokenizer_directory().path()},
                 {"chat_template", "chatml"}};
  for (auto& [key, value] : more) table.insert_or_assign(key, value);
  return table;
}

RequestList some_requests(int count, unsigned samples = 1) {
  RequestList requests;
  for (int i = 0; i < count; ++i) {
    requests.add({.prompt = "user " + std::to_string(i),
                  .samples = samples,
                  .max_tokens = 64,
                  .seed = static_cast<std::uint64_t>(i)});
  }
  return requests;
}

// All samples came, each once, and are what the server said.
void expect_all(const SampleCollector& got, std::size_t count) {
  EXPECT_TRUE(got.failures.empty()) << got.failures.begin()->second.why;
  EXPECT_EQ(got.samples.size(), count);
  EXPECT_EQ(got.puts, count);
  const auto& chat = testing::tokenizer_directory().chat();
  for (const auto& [place, sample] : got.samples) {
    EXPECT_THAT(sample.text, ::testing::StartsWith("int i = "));
    EXPECT_EQ(sample.tokens, chat.answer(sample.text));
    EXPECT_EQ(sample.logprobs.size(), sample.tokens.size());
    EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
  }
}

// The first answer to a request for completions is `script`.
Interfere first_is(const Script& script) {
  return [script](const json&, int number) -> std::optional<Script> {
    return number == 1 ? std::optional(script) : std::nullopt;
  };
}

TEST(OpenAiPolicy, SamplesWhatWasAskedFor) {
  const FakeVllm server;
  OpenAi policy(options(server));
  const auto info = policy.describe();
  EXPECT_EQ(info.context_tokens, 256);
  EXPECT_EQ(info.flags & KRL_POLICY_HAS_LOGPROBS, KRL_POLICY_HAS_LOGPROBS);
  EXPECT_EQ(info.adopts, KRL_WEIGHTS_PEFT | KRL_WEIGHTS_HF);
  EXPECT_THAT(std::string(view(info.description)), HasSubstr("vLLM 0.32.0 at " + server.url()));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(3, 4), got), KRL_OK) << policy.host.error;
  expect_all(got, 12);
  const auto& chat = testing::tokenizer_directory().chat();
  const krl::test::MessageList messages({{KRL_ROLE_USER, "user 2"}});
  EXPECT_EQ((got.samples[{2, 3}].prompt_tokens), chat.prompt(messages));
  EXPECT_EQ(server.completions().size(), 3U);  // the samples of a prompt in one exchange
  EXPECT_EQ(policy.host.metrics.at("retries"), 0);
  EXPECT_GT(policy.host.metrics.at("prompt_tokens"), 0);
}

TEST(OpenAiPolicy, GreedyAnswersAreAskedForOneByOne) {
  const FakeVllm server;
  OpenAi policy(options(server));
  RequestList requests;
  requests.add({.prompt = "x", .samples = 3, .temperature = 0});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  expect_all(got, 3);
  EXPECT_EQ(server.completions().size(), 3U);
}

TEST(OpenAiPolicy, LowersMaxTokensToWhatFits) {
  const FakeVllm server;
  OpenAi policy(options(server));
  RequestList requests;
  requests.add({.prompt = "hello", .max_tokens = 100000});
  requests.add({.prompt = std::string(1000, '#'), .max_tokens = 1});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 1U);
  EXPECT_EQ(got.failures[1].status, KRL_INVALID_ARGUMENT);
  EXPECT_THAT(got.failures[1].why, HasSubstr("the context only 256"));
  const json body = server.completions().at(0);
  EXPECT_EQ(body["prompt"].size() + body["max_tokens"].get<std::size_t>(), 256U);
}

TEST(OpenAiPolicy, ContinuesAnAnswer) {
  const FakeVllm server;
  OpenAi policy(options(server));
  const auto prefix = testing::tokenizer_directory().chat().tokenizer().encode("float x;\n");
  RequestList requests;
  requests.add({.prompt = "user", .answer_prefix = prefix});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 1U);
  EXPECT_THAT((got.samples[{0, 0}].text), ::testing::StartsWith("float x;\nint i = "));
  const json body = server.completions().at(0);
  EXPECT_EQ(body["max_tokens"], 64 - prefix.size());
  EXPECT_EQ((got.samples[{0, 0}].prompt_tokens.size()) + prefix.size(), body["prompt"].size());
}

class PassingStatus : public ::testing::TestWithParam<unsigned> {};
TEST_P(PassingStatus, IsTriedAgain) {
  const FakeVllm server(first_is(answer(GetParam(), R"({"error": {"message": "busy"}})")));
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(3), got), KRL_OK) << policy.host.error;
  expect_all(got, 3);
  EXPECT_EQ(policy.host.metrics.at("retries"), 1);
}
INSTANTIATE_TEST_SUITE_P(Each, PassingStatus,
                         ::testing::Values(408U, 409U, 425U, 429U, 500U, 502U, 503U, 504U, 529U));

// Gateways answer with status 200 when the provider behind them fails.
class ErrorInside : public ::testing::TestWithParam<const char*> {};
TEST_P(ErrorInside, IsTriedAgain) {
  for (const bool streams : {false, true}) {
    const std::string event = "data: " + std::string(GetParam()) + "\n\n";
    const FakeVllm server(first_is(streams ? answer(200, event) : answer(200, GetParam())));
    OpenAi policy(options(server, {{"stream", streams}}));
    SampleCollector got;
    ASSERT_EQ(policy.sample(some_requests(3), got), KRL_OK) << policy.host.error;
    expect_all(got, 3);
    EXPECT_EQ(policy.host.metrics.at("retries"), 1);
  }
}
INSTANTIATE_TEST_SUITE_P(Each, ErrorInside,
                         ::testing::Values(R"({"error": {"code": 429, "message": "busy"}})",
                                           R"({"error": {"code": "502"}, "choices": []})",
                                           R"({"error": {"status": 503}})",
                                           R"({"error": {"code": "server_error"}})",
                                           R"({"error": "the provider is away"})"));

TEST(OpenAiPolicy, AnErrorInsideThatWillNotPassIsSaidInTheServersWords) {
  const FakeVllm server([](const json&, int) {
    return answer(200, R"({"error": {"code": 401, "message": "no such key"}})");
  });
  OpenAi policy(options(server));
  SampleCollector got;
  EXPECT_EQ(policy.sample(some_requests(1), got), KRL_FAILED_PRECONDITION);
  EXPECT_THAT(policy.host.error, HasSubstr("status 401: no such key"));
}

TEST(OpenAiPolicy, NamesTheWordThatEndsAnAnswerUnfinished) {
  const FakeVllm server([](const json& body, int) -> std::optional<Script> {
    json changed = FakeVllm::answer(body);
    changed["choices"][0]["finish_reason"] = "content_filter";
    return answer(200, changed.dump());
  });
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(3), got), KRL_OK) << policy.host.error;
  std::string warnings;
  for (const std::string& warning : policy.host.logged) warnings += warning + "\n";
  EXPECT_THAT(warnings, HasSubstr("the reason \"content_filter\""));
  EXPECT_EQ(warnings.find("content_filter"), warnings.rfind("content_filter"));
}

class RefusedRequest : public ::testing::TestWithParam<unsigned> {};
TEST_P(RefusedRequest, FailsAlone) {
  const FakeVllm server(
      first_is(answer(GetParam(), R"({"error": {"message": "that is not how it goes"}})")));
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(3), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 2U);
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures.begin()->second.status, KRL_INVALID_ARGUMENT);
  EXPECT_THAT(got.failures.begin()->second.why, HasSubstr("that is not how it goes"));
}
INSTANTIATE_TEST_SUITE_P(Each, RefusedRequest, ::testing::Values(400U, 413U, 422U));

class Misconfigured : public ::testing::TestWithParam<unsigned> {};
TEST_P(Misconfigured, EndsTheCall) {
  const FakeVllm server([](const json&, int) {
    return answer(GetParam(), R"({"error": {"message": "Incorrect key"}})");
  });
  OpenAi policy(options(server));
  SampleCollector got;
  EXPECT_EQ(policy.sample(some_requests(3), got), KRL_FAILED_PRECONDITION);
  EXPECT_THAT(policy.host.error, HasSubstr("Incorrect key"));
  EXPECT_TRUE(got.samples.empty());
}
INSTANTIATE_TEST_SUITE_P(Each, Misconfigured, ::testing::Values(301U, 401U, 403U, 404U, 405U));

// A change to a good answer that makes it a wrong one.
struct WrongAnswer {
  const char* name;
  std::function<std::string(json)> body;
  const char* complaint;
};
std::ostream& operator<<(std::ostream& out, const WrongAnswer& wrong) { return out << wrong.name; }

WrongAnswer wrong(const char* name, const char* pointer, json value, const char* complaint) {
  return {name,
          [pointer, value](json answer) {
            answer[json::json_pointer(pointer)] = value;
            return answer.dump();
          },
          complaint};
}

class WrongAnswers : public ::testing::TestWithParam<WrongAnswer> {};
TEST_P(WrongAnswers, AreFailuresAndNeverSamples) {
  const FakeVllm server([](const json& body, int number) -> std::optional<Script> {
    if (number > 1) return std::nullopt;
    return answer(200, GetParam().body(FakeVllm::answer(body)));
  });
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(2), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 1U);
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures.begin()->second.status, KRL_UNAVAILABLE);
  EXPECT_THAT(got.failures.begin()->second.why, HasSubstr(GetParam().complaint));
}
INSTANTIATE_TEST_SUITE_P(
    Each, WrongAnswers,
    ::testing::Values(
        wrong("fewer logprobs", "/choices/0/logprobs/token_logprobs", {-0.5}, "tokens with 1"),
        wrong("no logprobs", "/choices/0/logprobs", nullptr, "tokens with 0"),
        wrong("a positive logprob", "/choices/0/logprobs/token_logprobs/1", 0.5, "of token 1"),
        wrong("a huge logprob", "/choices/0/logprobs/token_logprobs/1", -1e300, "of token 1"),
        wrong("a logprob that is none", "/choices/0/logprobs/token_logprobs/1", nullptr,
              "token_logprobs[1]"),
        wrong("another token", "/choices/0/token_ids/0", 70U, "text does not match"),
        wrong("an id beyond the vocabulary", "/choices/0/token_ids/0", 100000U, "vocabulary"),
        wrong("a negative id", "/choices/0/token_ids/0", -1, "token_ids[0]"),
        wrong("another text", "/choices/0/text", "float", "text does not match"),
        wrong("another prompt", "/choices/0/prompt_token_ids/0", 70U, "a different prompt"),
        wrong("another model", "/model", "large", "it answers as large"),
        wrong("no tokens", "/choices/0/token_ids", json::array(), "no tokens"),
        wrong("no choices", "/choices", json::array(), "no choices"),
        wrong("choices that are none", "/choices", "none", "must be an array"),
        WrongAnswer{"twice the same answer",
                    [](json answer) {
                      answer["choices"].push_back(answer["choices"][0]);
                      return answer.dump();
                    },
                    "a second answer"},
        WrongAnswer{"NaN",
                    [](const json& answer) {
                      std::string text = answer.dump();
                      return text.replace(text.find("-0.5"), 4, "NaN");
                    },
                    "not valid JSON"},
        WrongAnswer{"half of it", [](const json& answer) { return answer.dump().substr(0, 200); },
                    "not valid JSON"},
        WrongAnswer{"nothing", [](const json&) { return std::string(); }, "not valid JSON"},
        WrongAnswer{"HTML", [](const json&) { return std::string("<html>"); }, "not valid JSON"}));

class BrokenExchange : public ::testing::TestWithParam<int> {
 protected:
  static Script script(int number) {
    const std::string head = http::testing::head(200, {{"Content-Length", "500"}});
    switch (number) {
      case 0:
        return Script().reset();
      case 1:
        return Script().close();
      case 2:
        return Script().send(head + "{\"choices\": [").reset();
      case 3:
        return Script().send(head + "{\"choices\": [").close();
      default:
        return Script().send("HTTP/9.9 what?\r\n\r\n").close();
    }
  }
};
TEST_P(BrokenExchange, IsRepeatedAndNothingComesTwice) {
  const FakeVllm server(first_is(script(GetParam())));
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(4, 2), got), KRL_OK) << policy.host.error;
  expect_all(got, 8);
}
INSTANTIATE_TEST_SUITE_P(Each, BrokenExchange, ::testing::Range(0, 5));

TEST(OpenAiPolicy, AnEndlessAnswerIsCutOff) {
  const FakeVllm server(
      first_is(Script().send(http::testing::head(200, {})).endlessly(std::string(1 << 16, ' '))));
  OpenAi policy(options(server));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(2), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 1U);
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures.begin()->second.status, KRL_RESOURCE_EXHAUSTED);
}

TEST(OpenAiPolicy, ASilentServerFailsTheRequestInTime) {
  const FakeVllm server(first_is(Script().hold()));
  OpenAi policy(options(server, {{"timeout_s", 0.5}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures[0].status, KRL_DEADLINE_EXCEEDED);
}

TEST(OpenAiPolicy, ARequestsOwnDeadlineCounts) {
  const FakeVllm server([](const json&, int) { return Script().hold(); });
  OpenAi policy(options(server));
  const auto soon = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  RequestList requests;
  requests.add({.prompt = "user", .deadline_ns = soon.time_since_epoch().count()});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures[0].status, KRL_DEADLINE_EXCEEDED);
}

TEST(OpenAiPolicy, CancellingEndsTheCall) {
  FakeVllm server([](const json&, int) { return Script().hold(); });
  OpenAi policy(options(server));
  std::thread canceller([&] {
    test::wait_while([&] { return server.completions().size() < 4; });
    policy.host.is_cancelled = true;
  });
  SampleCollector got;
  EXPECT_EQ(policy.sample(some_requests(4), got), KRL_CANCELLED);
  canceller.join();
}

TEST(OpenAiPolicy, AServerMayVanishAndReturn) {
  FakeVllm server([](const json&, int number) -> std::optional<Script> {
    if (number < 3) return std::nullopt;
    return number == 3 ? std::optional(Script().hold()) : std::nullopt;
  });
  OpenAi policy(options(server));
  std::thread operator_of_it([&] {
    test::wait_while([&] { return server.completions().size() < 3; });
    server.server().vanish();
    server.server().come_back();
  });
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(12), got), KRL_OK) << policy.host.error;
  operator_of_it.join();
  expect_all(got, 12);
}

TEST(OpenAiPolicy, AServerThatIsGoneFailsItsRequestsAndNotTheCall) {
  FakeVllm server;
  OpenAi policy(options(server, {{"retries", 1}}));
  server.server().vanish();
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(5), got), KRL_OK) << policy.host.error;
  EXPECT_TRUE(got.samples.empty());
  ASSERT_EQ(got.failures.size(), 5U);
  for (const auto& [request, why] : got.failures) EXPECT_EQ(why.status, KRL_UNAVAILABLE);
  server.server().come_back();
  SampleCollector later;
  while (later.samples.empty()) {  // until it was looked at again
    ASSERT_EQ(policy.sample(some_requests(1), later), KRL_OK) << policy.host.error;
  }
  EXPECT_EQ(later.samples.size(), 1U);
}

TEST(OpenAiPolicy, AHostThatRefusesASampleEndsTheCall) {
  const FakeVllm server;
  OpenAi policy(options(server));
  SampleCollector got;
  got.status = KRL_INVALID_ARGUMENT;
  EXPECT_EQ(policy.sample(some_requests(5), got), KRL_INVALID_ARGUMENT);
}

TEST(OpenAiPolicy, KeepsToItsConcurrency) {
  FakeVllm server;
  OpenAi policy(options(server, {{"concurrency", 4}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(60), got), KRL_OK) << policy.host.error;
  expect_all(got, 60);
  EXPECT_LE(server.server().accepted(), 6);
}

TEST(OpenAiPolicy, CallsMayOverlap) {
  const FakeVllm server;
  OpenAi policy(options(server));
  SampleCollector got[3];
  std::vector<std::thread> threads;
  for (SampleCollector& mine : got) {
    threads.emplace_back([&policy, &mine] {
      const krl::test::RecordingContext host;
      const RequestList requests = some_requests(20);
      EXPECT_EQ(policy.table().sample(policy.self(), host.c(), requests.data(), requests.size(),
                                      mine.c()),
                KRL_OK);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const SampleCollector& mine : got) expect_all(mine, 20);
}

TEST(OpenAiStreams, AreReadAsWholeAnswersAre) {
  const FakeVllm server;
  OpenAi policy(options(server, {{"stream", true}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(3, 2), got), KRL_OK) << policy.host.error;
  expect_all(got, 6);
  EXPECT_EQ(server.completions().at(0)["stream"], true);
}

// The head of a stream and its first events.
Script cut_stream(const json& body, std::size_t events) {
  const std::vector<std::string> all = FakeVllm::events(body);
  Script script;
  script.send(http::testing::head(
      200, {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}}));
  for (std::size_t i = 0; i < events; ++i) {
    script.send(http::testing::chunk("data: " + all[i] + "\n\n"));
  }
  return script;
}

TEST(OpenAiStreams, WhatCameBeforeABreakIsAnAbortedSample) {
  const FakeVllm server(
      [](const json& body, int) -> std::optional<Script> { return cut_stream(body, 3).close(); });
  OpenAi policy(options(server, {{"stream", true}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 1U) << got.failures.begin()->second.why;
  const auto& sample = got.samples.begin()->second;
  EXPECT_EQ(sample.stop_reason, KRL_STOP_ABORTED);
  EXPECT_EQ(sample.tokens.size(), 3U);
  EXPECT_EQ(sample.logprobs.size(), 3U);
}

TEST(OpenAiStreams, ABreakBeforeAnythingIsRepeated) {
  const FakeVllm server([](const json& body, int number) -> std::optional<Script> {
    if (number > 1) return std::nullopt;
    return cut_stream(body, 0).reset();
  });
  OpenAi policy(options(server, {{"stream", true}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(1), got), KRL_OK) << policy.host.error;
  expect_all(got, 1);
}

TEST(OpenAiStreams, AnswersThatHadNotBegunAreAskedForAgain) {
  const FakeVllm server([](const json& body, int number) -> std::optional<Script> {
    if (number > 1) return std::nullopt;
    json one = body;
    one["n"] = 1;
    return cut_stream(body, FakeVllm::events(one).size() - 1).close();  // the first of three
  });
  OpenAi policy(options(server, {{"stream", true}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(1, 3), got), KRL_OK) << policy.host.error;
  expect_all(got, 3);
  EXPECT_EQ(server.completions().at(1)["n"], 2);
}

TEST(OpenAiStreams, ABrokenEventBreaksTheStream) {
  const FakeVllm server([](const json& body, int number) -> std::optional<Script> {
    if (number > 1) return std::nullopt;
    return cut_stream(body, 0).send(http::testing::chunk("data: {\"choices\": [}\n\n")).hold();
  });
  OpenAi policy(options(server, {{"stream", true}}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(some_requests(1), got), KRL_OK) << policy.host.error;
  expect_all(got, 1);
}

}  // namespace
}  // namespace krl::openai

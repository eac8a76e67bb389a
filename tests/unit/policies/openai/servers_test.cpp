// Which server is asked, and what it samples with: several of them, what they turn out to be, and
// weights that are pushed to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include "tests/unit/policies/openai/fake_vllm.hpp"
#include "tests/unit/policies/openai/policy_under_test.hpp"

namespace krl::openai {
namespace {

using http::testing::answer;
using http::testing::ScriptedServer;
using http::testing::SeenRequest;
using krl::test::RequestList;
using krl::test::SampleCollector;
using krl::testing::Table;
using krl::testing::Value;
using testing::FakeVllm;
using ::testing::HasSubstr;
using testing::json;
using testing::OpenAi;
using testing::Script;

Table with_tokenizer(Table table) {
  table.emplace("tokenizer", testing::tokenizer_directory().path());
  table.emplace("chat_template", "chatml");
  return table;
}

Table options(const std::vector<std::string>& urls) {
  return with_tokenizer({{"base_urls", Value::json(json(urls).dump())}});
}

RequestList of_sessions(int sessions, int requests_each) {
  RequestList requests;
  for (int i = 0; i < requests_each; ++i) {
    for (int s = 0; s < sessions; ++s) {
      const std::string episode = "episode " + std::to_string(s);
      requests.add({.prompt = episode, .session = episode});
    }
  }
  return requests;
}

// The message with which the policy refuses these options.
std::string refusal(const Table& table, krl_status status) {
  try {
    OpenAi policy(table);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), status) << failure.what();
    return failure.what();
  }
  return "nothing";
}

std::set<json> prompts_of(const FakeVllm& server) {
  std::set<json> prompts;
  for (const json& body : server.completions()) prompts.insert(body["prompt"]);
  return prompts;
}

TEST(OpenAiServers, AConversationStaysWithItsServerAndAllHaveWork) {
  const FakeVllm one, two;
  OpenAi policy(options({one.url(), two.url()}));
  for (int turn = 0; turn < 3; ++turn) {
    SampleCollector got;
    ASSERT_EQ(policy.sample(of_sessions(8, 1), got), KRL_OK) << policy.host.error;
    EXPECT_EQ(got.samples.size(), 8U);
  }
  const std::set<json> first = prompts_of(one), second = prompts_of(two);
  EXPECT_EQ(first.size() + second.size(), 8U);  // none has been to both
  EXPECT_FALSE(first.empty());
  EXPECT_FALSE(second.empty());
}

TEST(OpenAiServers, OneThatIsFullLetsAnotherHelp) {
  const FakeVllm one, two;
  Table table = options({one.url(), two.url()});
  table.emplace("concurrency", 2);
  OpenAi policy(table);
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(1, 40), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 40U);
  EXPECT_GT(one.completions().size(), 0U);
  EXPECT_GT(two.completions().size(), 0U);
}

TEST(OpenAiServers, OneThatFailsIsPassedOverAndComesBack) {
  FakeVllm one, two;
  OpenAi policy(options({one.url(), two.url()}));
  one.server().vanish();
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(8, 2), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 16U);
  EXPECT_TRUE(got.failures.empty());
  EXPECT_EQ(two.completions().size(), 16U);
  one.server().come_back();
  while (one.completions().empty()) {  // until it was looked at again, and had room first
    SampleCollector more;
    ASSERT_EQ(policy.sample(of_sessions(200, 1), more), KRL_OK) << policy.host.error;
    ASSERT_EQ(more.samples.size(), 200U);
  }
}

TEST(OpenAiServers, OneThatIsNotThereYetDoesNotKeepTheOthersWaiting) {
  FakeVllm one, two;
  one.server().vanish();
  OpenAi policy(options({one.url(), two.url()}));
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(4, 1), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.size(), 4U);
}

TEST(OpenAiServers, NoneAtAllIsAnErrorInTime) {
  FakeVllm server;
  server.server().vanish();
  Table table = options({server.url()});
  table.emplace("start_timeout_s", 0.5);
  EXPECT_THAT(refusal(table, KRL_DEADLINE_EXCEEDED), HasSubstr(server.server().url()));
}

TEST(OpenAiServers, OneThatLoadsIsWaitedFor) {
  int looks = 0;
  ScriptedServer server([&](const SeenRequest& request) {
    if (++looks < 3) return answer(503, R"({"error": {"message": "Loading model"}})");
    if (request.target == "/version") return answer(200, R"({"version": "0.32.0"})");
    if (request.target == "/v1/models") return answer(200, R"({"data": [{"id": "smol"}]})");
    return answer(404);
  });
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  EXPECT_EQ(policy.describe().flags & KRL_POLICY_HAS_TOKENS, KRL_POLICY_HAS_TOKENS);
}

// A server that answers GET requests by a table.
Script look_up(const std::map<std::string, std::string>& pages, const SeenRequest& request) {
  const auto page = pages.find(request.target);
  return page == pages.end() ? answer(404, "{}") : answer(200, page->second);
}

TEST(OpenAiServers, AreRecognised) {
  const std::string models = R"({"data": [{"id": "smol", "max_model_len": 99}]})";
  const std::map<std::string, std::map<std::string, std::string>> kinds = {
      {"vLLM 0.9 at", {{"/version", R"({"version": "0.9"})"}}},
      {"SGLang 0.5 at", {{"/get_server_info", R"({"model_path": "m", "version": "0.5"})"}}},
      {"SGLang at", {{"/get_model_info", R"({"model_path": "m"})"}}},
      {"llama.cpp b1 at",
       {{"/props", R"({"default_generation_settings": {"n_ctx": 99}, "build_info": "b1"})"}}},
      {"an OpenAI-compatible server at", {{"/version", "<html>"}}}};
  for (auto [name, pages] : kinds) {
    pages["/v1/models"] = models;
    ScriptedServer server(
        [&pages = pages](const SeenRequest& request) { return look_up(pages, request); });
    OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
    const auto info = policy.describe();
    EXPECT_THAT(std::string(view(info.description)), ::testing::StartsWith(name));
    EXPECT_EQ(info.context_tokens, 99) << name;
    const bool gives_tokens = name.rfind("an ", 0) != 0;
    EXPECT_EQ((info.flags & KRL_POLICY_HAS_TOKENS) != 0, gives_tokens) << name;
    if (!gives_tokens) {
      EXPECT_THAT(std::string(view(info.description)), HasSubstr("it returns no token ids"));
    }
  }
}

TEST(OpenAiServers, WhatThePlanSaysMustFit) {
  const FakeVllm server;
  const Table good = with_tokenizer({{"base_url", server.url()}});
  const auto with = [&](const char* key, const Value& value) {
    Table table = good;
    table.insert_or_assign(key, value);
    return table;
  };
  EXPECT_THAT(refusal(with("dialect", "sglang"), KRL_FAILED_PRECONDITION),
              HasSubstr("but this is vLLM 0.32.0"));
  EXPECT_THAT(refusal(with("model", "large"), KRL_FAILED_PRECONDITION),
              HasSubstr("not serve the model 'large'; it serves smol"));
  EXPECT_THAT(refusal(with("context", 1000), KRL_INVALID_ARGUMENT), HasSubstr("takes 256 tokens"));
  EXPECT_THAT(refusal(with("api_key", "KERNELRL_TEST_NO_SUCH_KEY"), KRL_INVALID_ARGUMENT),
              HasSubstr("KERNELRL_TEST_NO_SUCH_KEY, which is not set"));
  EXPECT_THAT(
      refusal(with("base_urls", Value::json(R"(["http://127.0.0.1:1"])")), KRL_INVALID_ARGUMENT),
      HasSubstr("not both"));
  EXPECT_THAT(refusal(with("base_url", "ftp://x"), KRL_INVALID_ARGUMENT), HasSubstr("ftp"));
  EXPECT_THAT(refusal(with("headers", Value::json(R"({"a": 1})")), KRL_INVALID_ARGUMENT),
              HasSubstr("headers.a must be a text"));
  EXPECT_THAT(refusal({{"base_url", server.url()}, {"dialect", "vllm"}}, KRL_INVALID_ARGUMENT),
              HasSubstr("set tokenizer"));
  EXPECT_THAT(refusal({}, KRL_INVALID_ARGUMENT), HasSubstr("set base_url"));
  EXPECT_EQ(refusal(with("context", 100), KRL_OK), "nothing");
}

TEST(OpenAiServers, AKeyIsSentAndShownNowhere) {
  ::setenv("KERNELRL_TEST_KEY", "sk-very-secret", 1);
  ScriptedServer server([](const SeenRequest& request) {
    return answer(
        401, R"({"error": {"message": "bad key )" + request.header("Authorization") + R"("}})");
  });
  const std::string why =
      refusal(with_tokenizer({{"base_url", server.url()}, {"api_key", "KERNELRL_TEST_KEY"}}),
              KRL_FAILED_PRECONDITION);
  EXPECT_EQ(server.requests().at(0).header("Authorization"), "Bearer sk-very-secret");
  EXPECT_THAT(why, HasSubstr("check api_key"));
  EXPECT_EQ(why.find("sk-very-secret"), std::string::npos) << why;
}

TEST(OpenAiServers, TheUsualKeyGoesToNobodyWithoutEncryption) {
  ::setenv("OPENAI_API_KEY", "sk-usual", 1);
  FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  for (const SeenRequest& request : server.server().requests()) {
    EXPECT_EQ(request.header("Authorization"), "");
  }
  ::unsetenv("OPENAI_API_KEY");
}

TEST(OpenAiServers, ExtraFieldsAndHeadersAreSent) {
  FakeVllm server;
  Table table = with_tokenizer({{"base_url", server.url()}});
  table.emplace("extra", Value::json(R"({"priority": 3})"));
  table.emplace("headers", Value::json(R"({"X-Team": "kernels"})"));
  OpenAi policy(table);
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(1, 1), got), KRL_OK) << policy.host.error;
  EXPECT_EQ(server.completions().at(0)["priority"], 3);
  EXPECT_EQ(server.server().requests().back().header("X-Team"), "kernels");
}

TEST(OpenAiPolicy, SamplesRequestsAsTheyCome) {
  const FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}, {"concurrency", 3}}));
  // The second half comes once the first ten were answered, as in a run of episodes.
  struct Source {
    krl_request_source c{};
    RequestList requests = of_sessions(10, 4);
    std::size_t given = 0;
    const SampleCollector* got = nullptr;
  } source;
  SampleCollector got;
  source.got = &got;
  source.c = {sizeof(krl_request_source), 0, &source,
              [](const krl_request_source* c, std::int32_t wait, const krl_request** out) {
                auto& self = *static_cast<Source*>(c->ctx);
                const bool waits = self.given == 20 && self.got->samples.size() < 10;
                EXPECT_FALSE(waits && wait) << "nothing is under way, and ten are not answered";
                const bool has_one = !waits && self.given < self.requests.size();
                *out = has_one ? self.requests.data()[self.given++] : nullptr;
                return krl_status{KRL_OK};
              }};
  ASSERT_EQ(policy.table().sample_stream(policy.self(), policy.host.c(), &source.c, got.c()),
            KRL_OK)
      << policy.host.error;
  EXPECT_EQ(got.samples.size(), 40U);
  EXPECT_EQ(got.puts, 40U);
}

TEST(OpenAiPolicy, TokenizesWithItsTokenizerAlone) {
  const FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  const krl::test::MessageList messages({{KRL_ROLE_USER, "user"}});
  SampleCollector got;
  ASSERT_EQ(policy.table().tokenize(policy.self(), policy.host.c(), messages.data(),
                                    messages.size(), to_c("int i;"), got.c()),
            KRL_OK);
  const auto& chat = testing::tokenizer_directory().chat();
  EXPECT_EQ((got.samples[{0, 0}].prompt_tokens), chat.prompt(messages));
  EXPECT_EQ((got.samples[{0, 0}].tokens), chat.answer("int i;"));
  OpenAi text({{"base_url", server.url()}});
  EXPECT_EQ(text.table().tokenize(text.self(), text.host.c(), messages.data(), messages.size(),
                                  to_c("int i;"), got.c()),
            KRL_UNIMPLEMENTED);
  EXPECT_THAT(text.host.error, HasSubstr("set the option tokenizer"));
}

TEST(OpenAiPolicy, IsPreviewedWithoutAServer) {
  const auto preview = [](Table table) {
    const krl_component& component = OpenAi::plugin().component(KRL_POLICY, "openai");
    const krl::testing::Options options(component, std::move(table));
    const auto* calls = static_cast<const krl_policy_v*>(component.table);
    krl::testing::Call call;
    return krl::testing::policy_description([&](const krl_policy_info_sink* sink) {
      call.require(calls->preview(options.config(), call.context(), sink));
    });
  };
  const std::string nowhere = "http://127.0.0.1:1/v1";
  EXPECT_EQ(preview({{"base_url", nowhere}}).flags & KRL_POLICY_HAS_TOKENS, 0U);
  const auto info = preview(with_tokenizer({{"base_url", nowhere}}));
  EXPECT_EQ(info.flags & KRL_POLICY_HAS_TOKENS, KRL_POLICY_HAS_TOKENS);
  EXPECT_EQ(info.logprobs, KRL_LOGPROBS_UNKNOWN);
  EXPECT_EQ(preview(with_tokenizer({{"base_url", nowhere}, {"dialect", "llamacpp"}})).logprobs,
            KRL_LOGPROBS_RAW);
  EXPECT_EQ(preview(with_tokenizer({{"base_url", nowhere}, {"logprobs", "processed"}})).logprobs,
            KRL_LOGPROBS_PROCESSED);
}

// Weights.

krl_status adopt(OpenAi& policy, const std::string& directory, std::uint64_t version,
                 std::uint32_t kind = KRL_WEIGHTS_PEFT) {
  const krl_weights weights{sizeof(krl_weights), kind, to_c(directory), version};
  return policy.table().adopt_weights(policy.self(), policy.host.c(), &weights);
}

TEST(OpenAiWeights, EverySampleCarriesTheVersionThatMadeIt) {
  const FakeVllm one, two;
  OpenAi policy(options({one.url(), two.url()}));
  SampleCollector before, first, second;
  ASSERT_EQ(policy.sample(of_sessions(4, 1), before), KRL_OK) << policy.host.error;
  ASSERT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  ASSERT_EQ(policy.sample(of_sessions(4, 1), first), KRL_OK) << policy.host.error;
  ASSERT_EQ(adopt(policy, "/adapters/2", 2), KRL_OK) << policy.host.error;
  EXPECT_EQ(policy.describe().version, 2U);
  ASSERT_EQ(policy.sample(of_sessions(4, 1), second), KRL_OK) << policy.host.error;
  for (const auto& [place, sample] : before.samples) EXPECT_EQ(sample.version, 0U);
  for (const auto& [place, sample] : first.samples) EXPECT_EQ(sample.version, 1U);
  for (const auto& [place, sample] : second.samples) EXPECT_EQ(sample.version, 2U);
  EXPECT_EQ(second.samples.size(), 4U);
  for (const FakeVllm* server : {&one, &two}) {
    ASSERT_EQ(server->adapters().size(), 1U);  // the first is unloaded
    EXPECT_THAT(server->adapters()[0], ::testing::StartsWith("smol-v2-"));
    EXPECT_EQ(server->completions().back()["model"], server->adapters()[0]);
  }
}

TEST(OpenAiWeights, OnesThatAServerRefusesChangeNothing) {
  const FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  ASSERT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  EXPECT_EQ(adopt(policy, "/nowhere", 2), KRL_FAILED_PRECONDITION);
  EXPECT_THAT(policy.host.error, HasSubstr("No adapter found for /nowhere"));
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(2, 1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 2U);
  for (const auto& [place, sample] : got.samples) EXPECT_EQ(sample.version, 1U);
}

TEST(OpenAiWeights, AServerThatWasStartedAnewGetsThemAgain) {
  std::atomic<bool> forgets{false};
  FakeVllm server([&](const json&, int) -> std::optional<Script> {
    if (!forgets.exchange(false)) return std::nullopt;
    return answer(404, R"({"error": {"message": "The model does not exist."}})");
  });
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  ASSERT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  const std::size_t pushes = server.adapters().size();
  forgets = true;
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(2, 1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 2U) << got.failures.begin()->second.why;
  for (const auto& [place, sample] : got.samples) EXPECT_EQ(sample.version, 1U);
  const std::vector<std::string> paths = server.paths();
  EXPECT_EQ(std::count(paths.begin(), paths.end(), "POST /v1/load_lora_adapter"),
            static_cast<std::ptrdiff_t>(pushes) + 1);
}

TEST(OpenAiWeights, AServerThatHasForgottenTheOldOnesTakesNewOnes) {
  FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  ASSERT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  server.forget_adapters();
  ASSERT_EQ(adopt(policy, "/adapters/2", 2), KRL_OK) << policy.host.error;
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(2, 1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 2U);
  for (const auto& [place, sample] : got.samples) EXPECT_EQ(sample.version, 2U);
}

TEST(OpenAiWeights, AServerThatIsAwayGetsThemWhenItReturns) {
  FakeVllm one, two;
  OpenAi policy(options({one.url(), two.url()}));
  ASSERT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  one.server().vanish();
  ASSERT_EQ(adopt(policy, "/adapters/2", 2), KRL_OK) << policy.host.error;
  one.server().come_back();
  while (one.completions().empty()) {
    SampleCollector got;
    ASSERT_EQ(policy.sample(of_sessions(200, 1), got), KRL_OK) << policy.host.error;
    ASSERT_EQ(got.samples.size(), 200U);
    for (const auto& [place, sample] : got.samples) ASSERT_EQ(sample.version, 2U);
  }
  EXPECT_THAT(one.completions()[0]["model"].get<std::string>(), ::testing::StartsWith("smol-v2-"));
}

TEST(OpenAiWeights, AreGivenToTheOnlyServerOnceItIsBack) {
  FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  server.server().vanish();
  std::thread back([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    server.server().come_back();
  });
  EXPECT_EQ(adopt(policy, "/adapters/1", 1), KRL_OK) << policy.host.error;
  back.join();
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(1, 1), got), KRL_OK) << policy.host.error;
  EXPECT_EQ((got.samples[{0, 0}].version), 1U);
}

// As SGLang, which may be restarted with the weights that it had at first.
class FakeSglang {
 public:
  FakeSglang() : server_([this](const SeenRequest& request) { return handle(request); }) {}
  std::string url() const { return server_.url(); }
  void start_anew() { version_ = 0; }
  int pushes() const { return pushes_; }

 private:
  Script handle(const SeenRequest& request) {
    const std::string& path = request.target;
    if (path == "/get_model_info") return answer(200, R"({"model_path": "m"})");
    if (path == "/v1/models") return answer(200, R"({"data": [{"id": "smol"}]})");
    if (path != "/update_weights_from_disk" && path != "/generate") return answer(404, "{}");
    const json body = json::parse(request.body);
    if (path == "/generate") return generate(body);
    ++pushes_;
    version_ = std::stoi(body["weight_version"].get<std::string>());
    return answer(200, R"({"success": true})");
  }

  Script generate(const json& body) const {
    json logprobs = json::array();
    for (const auto token : testing::tokenizer_directory().chat().answer("x"))
      logprobs.push_back({-0.5, token, nullptr});
    const json meta = {{"output_token_logprobs", logprobs},
                       {"completion_tokens", logprobs.size()},
                       {"prompt_tokens", body["input_ids"].size()},
                       {"finish_reason", {{"type", "stop"}}},
                       {"weight_version", version_ > 0 ? std::to_string(version_) : "default"}};
    return answer(200, json{{"text", "x"}, {"meta_info", meta}}.dump());
  }

  std::atomic<int> version_ = 0;
  std::atomic<int> pushes_ = 0;
  ScriptedServer server_;
};

TEST(OpenAiWeights, AServerThatAnswersWithOthersGetsThemAgain) {
  FakeSglang server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  ASSERT_EQ(adopt(policy, "/models/1", 1, KRL_WEIGHTS_HF), KRL_OK) << policy.host.error;
  server.start_anew();
  SampleCollector got;
  ASSERT_EQ(policy.sample(of_sessions(1, 1), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 1U) << got.failures[0].why;
  EXPECT_EQ((got.samples[{0, 0}].version), 1U);
  EXPECT_EQ(server.pushes(), 2);
}

TEST(OpenAiWeights, AModelThatIsTakenByHalfIsNotSampledFrom) {
  ScriptedServer server([](const SeenRequest& request) {
    if (request.target == "/version") return answer(200, R"({"version": "0.32.0"})");
    if (request.target == "/v1/models") return answer(200, R"({"data": [{"id": "smol"}]})");
    if (request.target == "/collective_rpc") return answer(200, R"({"results": [null]})");
    if (request.target != "/v1/completions") return answer(500, "{}");
    return answer(200, FakeVllm::answer(json::parse(request.body)).dump());
  });
  OpenAi policy(with_tokenizer({{"base_url", server.url()}, {"retries", 0}}));
  const krl::test::TemporaryDirectory model;
  std::ofstream(model.path() / "config.json") << "{}";
  EXPECT_EQ(adopt(policy, model.path(), 1, KRL_WEIGHTS_HF), KRL_UNAVAILABLE);
  SampleCollector got;
  policy.sample(of_sessions(1, 1), got);
  EXPECT_TRUE(got.samples.empty()) << "of weights that nobody knows";
  EXPECT_EQ(got.failures[0].status, KRL_UNAVAILABLE);
}

TEST(OpenAiWeights, WholeModelsNeedVllmsDevelopmentMode) {
  const FakeVllm server;
  OpenAi policy(with_tokenizer({{"base_url", server.url()}}));
  EXPECT_EQ(adopt(policy, "/nowhere", 1, KRL_WEIGHTS_HF), KRL_NOT_FOUND);
  const krl::test::TemporaryDirectory model;
  std::ofstream(model.path() / "config.json") << "{}";
  EXPECT_EQ(adopt(policy, model.path(), 1, KRL_WEIGHTS_HF), KRL_FAILED_PRECONDITION);
  EXPECT_THAT(policy.host.error, HasSubstr("VLLM_SERVER_DEV_MODE=1"));
}

// Chat.

// A chat server that refuses some fields, as vendors do.
class FakeChat {
 public:
  explicit FakeChat(std::function<std::optional<Script>(const json&)> refuse)
      : refuse_(std::move(refuse)),
        server_([this](const SeenRequest& request) { return handle(request); }) {}
  std::string url() const { return server_.url(); }
  std::vector<json> bodies() const {
    std::vector<json> bodies;
    for (const SeenRequest& request : server_.requests()) {
      if (!request.body.empty()) bodies.push_back(json::parse(request.body));
    }
    return bodies;
  }

 private:
  Script handle(const SeenRequest& request) {
    if (request.target == "/v1/models") return answer(200, R"({"data": [{"id": "gpt"}]})");
    if (request.target != "/v1/chat/completions") return answer(404, "{}");
    const json body = json::parse(request.body);
    if (const auto refusal = refuse_(body)) return *refusal;
    json choices = json::array();
    for (int i = 0; i < body.value("n", 1); ++i) {
      choices.push_back({{"index", i},
                         {"message", {{"content", "an answer"}, {"reasoning", "a thought"}}},
                         {"finish_reason", "stop"}});
    }
    return answer(200, json{{"choices", choices}}.dump());
  }
  std::function<std::optional<Script>(const json&)> refuse_;
  ScriptedServer server_;
};

std::optional<Script> refuse(const json& body, const char* field, const char* words) {
  if (!body.contains(field)) return std::nullopt;
  return answer(400, json{{"error", {{"message", words}}}}.dump());
}

RequestList chats(int count, unsigned samples) {
  RequestList requests;
  for (int i = 0; i < count; ++i) requests.add({.prompt = "Hi", .samples = samples});
  return requests;
}

TEST(OpenAiChat, ThoughtsAreInTheText) {
  const FakeChat server([](const json&) { return std::nullopt; });
  OpenAi policy({{"base_url", server.url()}});
  SampleCollector got;
  ASSERT_EQ(policy.sample(chats(1, 2), got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 2U);
  EXPECT_EQ((got.samples[{0, 1}].text), "<think>a thought</think>an answer");
  EXPECT_EQ(server.bodies().size(), 1U);
}

TEST(OpenAiChat, FieldsThatAServerRefusesAreLeftOutFromThenOn) {
  const FakeChat server([](const json& body) -> std::optional<Script> {
    if (auto no = refuse(body, "seed", "Unrecognized request argument supplied: seed")) return no;
    if (auto no = refuse(body, "max_tokens",
                         "Unsupported parameter: 'max_tokens' is not supported with this model. "
                         "Use 'max_completion_tokens' instead."))
      return no;
    return refuse(body, "n", "'n' must be 1");
  });
  OpenAi policy({{"base_url", server.url()}, {"concurrency", 1}});
  SampleCollector got;
  ASSERT_EQ(policy.sample(chats(2, 2), got), KRL_OK) << policy.host.error;
  EXPECT_TRUE(got.failures.empty()) << got.failures.begin()->second.why;
  EXPECT_EQ(got.samples.size(), 4U);
  EXPECT_EQ(got.puts, 4U);
  const json last = server.bodies().back();
  EXPECT_FALSE(last.contains("seed") || last.contains("n") || last.contains("max_tokens"));
  EXPECT_EQ(last["max_completion_tokens"], 64);
  EXPECT_EQ(server.bodies().size(), 3U + 4U);  // three were refused, once each
  EXPECT_EQ(policy.host.metrics.at("retries"), 0);
}

TEST(OpenAiChat, FieldsAreLeftOutOfRequestsThatWereOnTheirWayToo) {
  std::atomic<unsigned> refused = 0;
  const FakeChat server([&](const json& body) -> std::optional<Script> {
    if (!body.contains("seed")) return std::nullopt;
    ++refused;
    const std::string words = R"({"error": {"message": "Unrecognized request argument: seed"}})";
    const std::string length = std::to_string(words.size());
    return Script()
        .wait(std::chrono::milliseconds(100))
        .send(http::testing::head(400, {{"Content-Length", length}}) + words);
  });
  OpenAi policy({{"base_url", server.url()}, {"concurrency", 8}});
  SampleCollector got;
  ASSERT_EQ(policy.sample(chats(8, 1), got), KRL_OK) << policy.host.error;
  EXPECT_GT(refused, 1U);
  EXPECT_TRUE(got.failures.empty()) << got.failures.begin()->second.why;
  EXPECT_EQ(got.samples.size(), 8U);
}

TEST(OpenAiChat, ATemperatureThatMattersIsNotLeftOut) {
  const FakeChat server([](const json& body) {
    return refuse(body, "temperature", "Unsupported value: 'temperature' must be the default");
  });
  OpenAi policy({{"base_url", server.url()}});
  RequestList requests;
  requests.add({.prompt = "Hi", .temperature = 1});
  requests.add({.prompt = "Hi", .temperature = 0.5});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  EXPECT_EQ(got.samples.count({0, 0}), 1U);
  EXPECT_EQ(got.failures[1].status, KRL_INVALID_ARGUMENT);
}

TEST(OpenAiChat, SeveralModelsNeedAChoice) {
  ScriptedServer server([](const SeenRequest& request) {
    const bool lists = request.target == "/v1/models";
    return lists ? answer(200, R"({"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}]})")
                 : answer(404, "{}");
  });
  EXPECT_THAT(refusal({{"base_url", server.url()}}, KRL_FAILED_PRECONDITION),
              HasSubstr("set the option model to one of: a, b"));
  OpenAi policy({{"base_url", server.url()}, {"model", "b"}});
  EXPECT_THAT(std::string(view(policy.describe().description)), HasSubstr("model b"));
}

TEST(OpenAiChat, ItsOwnPathIsKept) {
  ScriptedServer server([](const SeenRequest& request) {
    const bool lists = request.target == "/api/v3/models";
    return lists ? answer(200, R"({"data": [{"id": "a"}]})") : answer(404, "{}");
  });
  OpenAi policy({{"base_url", server.url() + "/api/v3/"}});
  EXPECT_THAT(std::string(view(policy.describe().description)), HasSubstr("model a"));
}

}  // namespace
}  // namespace krl::openai

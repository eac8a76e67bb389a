// The policy of sdk/docs/examples that asks a server, beside one that answers and one that refuses.
#include <gtest/gtest.h>
#include <kernelrl/policy.hpp>
#include <kernelrl/testing.hpp>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "tests/unit/http/scripted_server.hpp"

namespace krl::http::testing {
namespace {

using nlohmann::json;

struct Got {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> samples;
  std::map<std::uint32_t, std::string> failures;
};

// Two requests, the first for two samples.
Got ask(std::uint16_t port) {
  const krl::testing::Plugin plugin(KERNELRL_BINARY_DIR
                                    "/tests/plugins/examples/asks_a_server.krl.so");
  const auto policy = plugin.create<krl_policy_v>(KRL_POLICY, "example.asks_a_server",
                                                  {{"port", static_cast<std::int64_t>(port)}});
  Got got;
  krl_sample_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &got;
  sink.put = [](const krl_sample_sink* s, const krl_sample* sample) -> krl_status {
    static_cast<Got*>(s->ctx)->samples[{sample->request, sample->index}] = view(sample->text);
    return KRL_OK;
  };
  sink.fail = [](const krl_sample_sink* s, std::uint32_t request, krl_status,
                 krl_str why) -> krl_status {
    static_cast<Got*>(s->ctx)->failures[request] = view(why);
    return KRL_OK;
  };
  const krl_message message{sizeof(krl_message), KRL_ROLE_USER, to_c("how?")};
  const krl_message* const messages[] = {&message};
  krl_sampling sampling{};
  sampling.struct_size = sizeof sampling;
  sampling.max_tokens = 16;
  sampling.temperature = sampling.top_p = 1;
  sampling.top_k = -1;
  krl_request two{}, one{};
  two.messages = one.messages = messages;
  two.n_messages = one.n_messages = 1;
  two.sampling = one.sampling = &sampling;
  two.n_samples = 2;
  one.n_samples = 1;
  one.seed = 1;
  const krl_request* requests[] = {&two, &one};
  policy.call().require(policy.table().sample(policy.self(), policy.context(), requests, 2, &sink));
  return got;
}

TEST(AsksAServer, GivesItsAnswersAndAsksForEachWithASeedOfItsOwn) {
  int asked = 0;
  ScriptedServer server([&](const SeenRequest&) {
    const json choice = {{"message", {{"content", "answer " + std::to_string(++asked)}}},
                         {"finish_reason", "stop"}};
    return answer(200, json{{"choices", {choice}}}.dump()).close();
  });
  const Got got = ask(server.port());
  EXPECT_EQ(got.failures.size(), 0U);
  EXPECT_EQ(got.samples, (decltype(got.samples){
                             {{0, 0}, "answer 1"}, {{0, 1}, "answer 2"}, {{1, 0}, "answer 3"}}));
  std::set<std::int64_t> seeds;
  for (const SeenRequest& request : server.requests()) {
    const json body = json::parse(request.body);
    EXPECT_EQ(body["messages"][0]["content"], "how?");
    EXPECT_EQ(body["max_tokens"], 16);
    seeds.insert(body["seed"].get<std::int64_t>());
  }
  EXPECT_EQ(seeds.size(), 3U);
}

TEST(AsksAServer, ARequestThatTheServerRefusesFailsByItself) {
  int asked = 0;
  ScriptedServer server([&](const SeenRequest&) {
    if (++asked == 1) return answer(400, R"({"error": "too long"})").close();
    return answer(200, R"({"choices": [{"message": {"content": "fine"}}]})").close();
  });
  const Got got = ask(server.port());
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_NE(got.failures.at(0).find("too long"), std::string::npos);
  EXPECT_EQ(got.samples, (decltype(got.samples){{{1, 0}, "fine"}}));
}

}  // namespace
}  // namespace krl::http::testing

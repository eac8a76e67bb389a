// Samples of a service: what is asked, what is believed, and what becomes of the rest of a call
// when one request fails.
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "plugins/policies/tinker/sampling.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tinker/fake_service.hpp"

namespace krl::tinker {
namespace {

using http::testing::answer;
using krl::test::RecordingContext;
using krl::test::RequestList;
using krl::test::RequestOptions;
using krl::test::SampleCollector;
using nlohmann::json;
using testing::FakeService;
using namespace std::chrono_literals;

constexpr TokenId kA = policies::kSpecialCount + 'a';  // tokens are bytes

class TinkerSampling : public ::testing::Test {
 protected:
  TinkerSampling() : chat_(policies::scratch_chat_tokenizer(policies::scratch_tokenizer({}), 64)) {}

  ServiceOptions service_options() const {
    ServiceOptions options;
    options.base_url = service_.url();
    options.base_model = "tiny";
    options.http.retries = {3, 1ms, 5ms};
    return options;
  }

  static SamplingOptions sampling_options() {
    SamplingOptions options;
    options.context = 64;
    options.vocabulary = 260;
    options.timeout = 60s;
    return options;
  }

  // Answers the requests; the failures are in the collector.
  void sample(const RequestList& requests) { sample(requests, sampling_options()); }
  void sample(const RequestList& requests, const SamplingOptions& options) {
    Session session(service_options(), Patience::of(30s));
    Sampling sampling(session, chat_, options, [this] { return sampler_; });
    sampling.sample(requests, collected_, context_);
  }

  static RequestList requests(std::vector<RequestOptions> options) {
    RequestList list;
    for (RequestOptions& o : options) list.add(std::move(o));
    return list;
  }

  json asked(std::size_t i = 0) const { return json::parse(service_.posted("asample").at(i)); }

  static std::string sequences(const std::string& one) { return R"({"sequences":[)" + one + "]}"; }

  std::shared_ptr<Sampler> sampler_ = [] {
    auto sampler = std::make_shared<Sampler>();
    sampler->sampling_session_id = "p1";
    sampler->version = 7;
    return sampler;
  }();
  policies::ChatTokenizer chat_;
  FakeService service_;
  RecordingContext context_;
  SampleCollector collected_;
};

TEST_F(TinkerSampling, AsksAndAnswers) {
  sample(requests({{.prompt = "xy", .samples = 2, .max_tokens = 9, .top_p = 0.9, .top_k = 40}}));
  ASSERT_EQ(collected_.samples.size(), 2u);
  const auto& sample = collected_.samples.at({0, 1});
  EXPECT_EQ(sample.text, "ab");
  EXPECT_EQ(sample.tokens, (std::vector<TokenId>{kA, kA + 1, policies::kEndToken}));
  EXPECT_EQ(sample.logprobs, (std::vector<float>{-1, -2, -0.5}));
  EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
  EXPECT_EQ(sample.version, 7u);
  EXPECT_EQ(json(sample.prompt_tokens), asked()["prompt"]["chunks"][0]["tokens"]);
  const json params = asked()["sampling_params"];
  EXPECT_EQ(asked()["num_samples"], 2);
  EXPECT_EQ(asked()["sampling_session_id"], "p1");
  EXPECT_EQ(params["max_tokens"], 9);
  EXPECT_EQ(params["top_k"], 40);
  EXPECT_EQ(params["top_p"], 0.9);
  EXPECT_EQ(params["stop"], json(chat_.stop_tokens()));
  EXPECT_EQ(context_.metrics.at("prompt_tokens"), 4);  // begin, x, y, answer
}

TEST_F(TinkerSampling, GivenTokensAreUsedAsTheyAre) {
  sample(requests({{.prompt = "unused",
                    .max_tokens = 5,
                    .prompt_tokens = {9, 8},
                    .answer_prefix = {kA + 25}}}));
  EXPECT_EQ(asked()["sampling_params"]["max_tokens"], 4);
  EXPECT_EQ(asked()["prompt"]["chunks"][0]["tokens"], json({9, 8, kA + 25}));
  EXPECT_EQ(collected_.samples.at({0, 0}).prompt_tokens, (std::vector<TokenId>{9, 8}));
  EXPECT_EQ(collected_.samples.at({0, 0}).text, "zab");  // of the whole answer
  EXPECT_EQ(collected_.samples.at({0, 0}).tokens.size(), 3u);
}

TEST_F(TinkerSampling, ASampleEndsWithItsStopText) {
  service_.answer_next("asample", sequences(R"({"tokens":[101,102,103,104],)"
                                            R"("logprobs":[-1,-2,-3,-4],"stop_reason":"length"})"));
  sample(requests({{.prompt = "xy", .stop = {"bc"}}}));
  const auto& sample = collected_.samples.at({0, 0});
  EXPECT_EQ(sample.text, "a");
  EXPECT_EQ(sample.tokens, (std::vector<TokenId>{101, 102, 103}));
  EXPECT_EQ(sample.logprobs.size(), 3u);
  EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
}

TEST_F(TinkerSampling, WhatFollowsAnEndTokenIsNoAnswer) {
  service_.answer_next("asample", sequences(R"({"tokens":[101,3,103],)"
                                            R"("logprobs":[-1,-2,-3],"stop_reason":"length"})"));
  sample(requests({{.prompt = "xy"}}));
  EXPECT_EQ(collected_.samples.at({0, 0}).tokens, (std::vector<TokenId>{101, 3}));
  EXPECT_EQ(collected_.samples.at({0, 0}).stop_reason, KRL_STOP_END);
}

TEST_F(TinkerSampling, LengthIsAReasonToStop) {
  service_.answer_next("asample", sequences(R"({"tokens":[101,102],)"
                                            R"("logprobs":[-1,-2],"stop_reason":"length"})"));
  sample(requests({{.prompt = "xy", .max_tokens = 2}}));
  EXPECT_EQ(collected_.samples.at({0, 0}).stop_reason, KRL_STOP_LENGTH);
}

// One request's answer is wrong, another's is not.
TEST_F(TinkerSampling, WrongTokensNeverReachTheHost) {
  const std::map<std::string, std::string> wrong = {
      {R"({"tokens":[101,260],"logprobs":[-1,-2],"stop_reason":"stop"})",
       "token 260, outside the vocabulary of 260"},
      {R"({"tokens":[101,-5],"logprobs":[-1,-2],"stop_reason":"stop"})",
       "tokens[1]: must be a whole number"},
      {R"({"tokens":[101,102],"logprobs":[-1],"stop_reason":"stop"})",
       "2 tokens with 1 log-probabilities"},
      {R"({"tokens":[101,102],"stop_reason":"stop"})", "2 tokens with 0 log-probabilities"},
      {R"({"tokens":[101,102],"logprobs":[-1,null],"stop_reason":"stop"})",
       "token 1 with log-probability nan"},
      {R"({"tokens":[101,102],"logprobs":[-1,0.7],"stop_reason":"stop"})",
       "token 1 with log-probability 0.7"},
      {R"({"tokens":[],"logprobs":[],"stop_reason":"stop"})", "an answer without a token"},
      {R"({"tokens":[101,102,103,104],"logprobs":[-1,-1,-1,-1],"stop_reason":"length"})",
       "4 tokens, more than the 3 asked for"},
      {R"({"tokens":[101],"logprobs":[-1],"stop_reason":"tired"})", "stop_reason: unknown"},
      {"", "0 samples instead of 1"},
      {R"({"tokens":[101],"logprobs":[-1],"stop_reason":"stop"},)"
       R"({"tokens":[101],"logprobs":[-1],"stop_reason":"stop"})",
       "2 samples instead of 1"}};
  for (const auto& [sequence, why] : wrong) {
    collected_.samples.clear();
    collected_.failures.clear();
    SamplingOptions one_by_one = sampling_options();
    one_by_one.in_flight = 1;
    service_.answer_next("asample", sequences(sequence));
    sample(requests({{.prompt = "x", .max_tokens = 3}, {.prompt = "y", .max_tokens = 3}}),
           one_by_one);
    EXPECT_EQ(collected_.samples.size(), 1u) << sequence;
    EXPECT_TRUE(collected_.samples.contains({1, 0})) << sequence;
    EXPECT_EQ(collected_.failures.at(0).status, KRL_UNAVAILABLE) << sequence;
    EXPECT_NE(collected_.failures.at(0).why.find(why), std::string::npos)
        << collected_.failures.at(0).why;
  }
}

TEST_F(TinkerSampling, AWrongSampleTakesItsRequestWithIt) {
  service_.answer_next("asample",
                       sequences(R"({"tokens":[101],"logprobs":[-1],"stop_reason":"stop"},)"
                                 R"({"tokens":[999],"logprobs":[-1],"stop_reason":"stop"})"));
  sample(requests({{.prompt = "x", .samples = 2}}));
  EXPECT_TRUE(collected_.samples.empty());
  EXPECT_EQ(collected_.failures.size(), 1u);
}

TEST_F(TinkerSampling, WhatCannotBeAskedFailsByItself) {
  sample(requests({{.prompt = std::string(80, 'x')},
                   {.prompt = "x", .prompt_tokens = {5, 300}},
                   {.prompt = "x", .prompt_tokens = std::vector<TokenId>(60, 5)}}));
  EXPECT_EQ(collected_.failures.at(0).status, KRL_INVALID_ARGUMENT);
  EXPECT_NE(collected_.failures.at(0).why.find("the model's context is 64"), std::string::npos);
  EXPECT_EQ(collected_.failures.at(1).status, KRL_INVALID_ARGUMENT);
  EXPECT_EQ(service_.posted("asample").size(), 1u);
  EXPECT_EQ(asked()["sampling_params"]["max_tokens"], 4);  // of 64, what the context leaves
}

TEST_F(TinkerSampling, TheServicesNoIsForOneRequest) {
  SamplingOptions one_by_one = sampling_options();
  one_by_one.in_flight = 1;
  service_.fail("asample", answer(400, R"({"detail":"too long"})"));
  service_.fail("asample", answer(503, "busy"));
  sample(requests({{.prompt = "x"}, {.prompt = "y"}}), one_by_one);
  EXPECT_EQ(collected_.failures.at(0).status, KRL_INVALID_ARGUMENT);
  EXPECT_TRUE(collected_.samples.contains({1, 0}));
  EXPECT_EQ(context_.metrics.at("retries"), 1);
}

TEST_F(TinkerSampling, ARefusedKeyEndsTheCall) {
  SamplingOptions one_by_one = sampling_options();
  one_by_one.in_flight = 1;
  service_.fail("asample", answer(403, "no"));
  try {
    sample(requests({{.prompt = "x"}, {.prompt = "y"}, {.prompt = "z"}}), one_by_one);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
  }
  EXPECT_EQ(service_.posted("asample").size(), 1u);
}

TEST_F(TinkerSampling, ADeadlineIsARequestsOwn) {
  const auto soon = std::chrono::steady_clock::now() + 100ms;
  service_.fail("retrieve_future", http::testing::Script().hold());
  SamplingOptions one_by_one = sampling_options();
  one_by_one.in_flight = 1;
  RequestOptions hurried;
  hurried.deadline_ns = soon.time_since_epoch() / 1ns;
  sample(requests({hurried, {.prompt = "y"}}), one_by_one);
  EXPECT_EQ(collected_.failures.at(0).status, KRL_DEADLINE_EXCEEDED);
  EXPECT_TRUE(collected_.samples.contains({1, 0}));
}

TEST_F(TinkerSampling, ManyAreInFlightButNotTooMany) {
  SamplingOptions options = sampling_options();
  options.in_flight = 4;
  std::vector<RequestOptions> many(20);
  for (std::size_t i = 0; i < many.size(); ++i) many[i].seed = i;
  for (int i = 0; i < 8; ++i)
    service_.fail("retrieve_future", http::testing::Script().wait(50ms).send(
                                         http::testing::head(408, {{"Content-Length", "0"}})));
  sample(requests(many), options);
  EXPECT_EQ(collected_.samples.size(), 20u);
  EXPECT_EQ(service_.server().most_at_once(), 4);
  std::set<std::int64_t> seeds;
  for (std::size_t i = 0; i < many.size(); ++i) {
    const std::int64_t seed = asked(i)["sampling_params"]["seed"];
    EXPECT_TRUE(seed >= 0 && seed < 0x7fff0000);
    seeds.insert(seed);
  }
  EXPECT_EQ(seeds.size(), 20u);
}

TEST_F(TinkerSampling, AHostThatTakesNoMoreEndsTheCall) {
  collected_.status = KRL_CANCELLED;
  EXPECT_THROW(sample(requests({{.prompt = "x"}, {.prompt = "y"}})), Failure);
}

// ---- requests as they come

// Gives its first request at once and each further one when all before it were answered or failed.
class Conversation {
 public:
  Conversation(RequestList requests, const SampleCollector& collected)
      : requests_(std::move(requests)), collected_(collected) {
    source_ = {sizeof source_, 0, this, next};
    sink_ = {sizeof sink_, 0, this, put, fail};
  }
  RequestSource source() const { return RequestSource(&source_); }
  SampleSink sink() const { return SampleSink(&sink_); }
  krl_status at_the_end = KRL_OK;

 private:
  static Conversation& of(void* self) { return *static_cast<Conversation*>(self); }
  static krl_status next(const krl_request_source* c, std::int32_t, const krl_request** out) {
    Conversation& self = of(c->ctx);
    while (self.over_ < self.given_) std::this_thread::sleep_for(1ms);
    const bool more = self.given_ < self.requests_.size();
    *out = more ? self.requests_.data()[self.given_++] : nullptr;
    return more ? KRL_OK : self.at_the_end;
  }
  static krl_status put(const krl_sample_sink* c, const krl_sample* sample) {
    const krl_sample_sink* to = of(c->ctx).collected_.c();
    const krl_status status = to->put(to, sample);
    ++of(c->ctx).over_;
    return status;
  }
  static krl_status fail(const krl_sample_sink* c, std::uint32_t request, krl_status status,
                         krl_str why) {
    const krl_sample_sink* to = of(c->ctx).collected_.c();
    const krl_status taken = to->fail(to, request, status, why);
    ++of(c->ctx).over_;
    return taken;
  }

  RequestList requests_;
  const SampleCollector& collected_;
  std::size_t given_ = 0;
  std::atomic<std::size_t> over_ = 0;
  krl_request_source source_{};
  krl_sample_sink sink_{};
};

TEST_F(TinkerSampling, RequestsMayComeOneAfterTheOther) {
  Session session(service_options(), Patience::of(30s));
  Sampling sampling(session, chat_, sampling_options(), [this] { return sampler_; });
  service_.fail("asample", answer(422, "no"));
  Conversation talk(requests({{.prompt = "x"}, {.prompt = "y"}, {.prompt = "z"}}), collected_);
  sampling.sample_stream(talk.source(), talk.sink(), context_);
  EXPECT_EQ(collected_.failures.at(0).status, KRL_INVALID_ARGUMENT);
  EXPECT_EQ(collected_.samples.at({1, 0}).text, "ab");
  EXPECT_EQ(collected_.samples.at({2, 0}).text, "ab");
}

TEST_F(TinkerSampling, NoRequestOfAStreamIsLeftWithoutAWord) {
  Session session(service_options(), Patience::of(30s));
  Sampling sampling(session, chat_, sampling_options(), [this] { return sampler_; });
  service_.fail("asample", answer(401, "no"));
  Conversation talk(requests({{.prompt = "x"}, {.prompt = "y"}, {.prompt = "z"}}), collected_);
  EXPECT_THROW(sampling.sample_stream(talk.source(), talk.sink(), context_), Failure);
  EXPECT_EQ(collected_.failures.size(), 3u);
  EXPECT_EQ(service_.posted("asample").size(), 1u);
}

TEST_F(TinkerSampling, AStreamEndsAsItsSourceDoes) {
  Session session(service_options(), Patience::of(30s));
  Sampling sampling(session, chat_, sampling_options(), [this] { return sampler_; });
  Conversation talk(requests({{.prompt = "x"}}), collected_);
  talk.at_the_end = KRL_CANCELLED;
  try {
    sampling.sample_stream(talk.source(), talk.sink(), context_);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_CANCELLED);
  }
  EXPECT_EQ(collected_.samples.size(), 1u);
}

}  // namespace
}  // namespace krl::tinker

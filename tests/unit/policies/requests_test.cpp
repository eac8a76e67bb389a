// What becomes of each request of a call: prompts as messages or as tokens, and requests that fail
// while the others are answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {
namespace {

using namespace krl::test;
using ::testing::HasSubstr;

// By sample(), and by sample_stream().
class RequestsTest : public ::testing::TestWithParam<bool> {
 protected:
  RequestsTest() : policy_(tiny_options()) {
    const RecordingContext context;
    const std::string text = "the quick brown fox jumps over the lazy dog\nthe end of the text\n";
    const std::vector<krl_str> texts = {to_c(text), to_c(text)};
    policy_.fit(texts, 1, context);
  }

  SampleCollector answers(const std::vector<RequestOptions>& options) {
    RequestList requests;
    for (const RequestOptions& o : options) requests.add(o);
    SampleCollector collector;
    answer(policy_, requests, GetParam(), collector);
    return collector;
  }
  // Of a call with one request, of which one answer is wanted.
  KeptSample only_answer(const RequestOptions& options) {
    return answers({options}).samples.at({0, 0});
  }

  LocalPolicy policy_;
};

TEST_P(RequestsTest, ThatAreWrongFailByThemselves) {
  const RequestOptions first = {.prompt = "the fox", .max_tokens = 20, .seed = 3},
                       last = {.prompt = "a dog", .max_tokens = 20, .seed = 4};
  const auto vocabulary = static_cast<std::int32_t>(policy_.describe().vocabulary);
  const SampleCollector collector = answers({{.prompt = std::string(500, 'x')},
                                             first,
                                             {.prompt = "a", .max_tokens = 0},
                                             {.prompt = "a", .temperature = -1},
                                             {.prompt = "a", .top_p = 2},
                                             {.prompt = "a", .stop = {""}},
                                             {.prompt_tokens = {5, vocabulary}},
                                             {.prompt_tokens = std::vector<std::int32_t>(128, 5)},
                                             last});
  const std::map<std::uint32_t, std::string> whys = {{0, "tokens and the model's context only 128"},
                                                     {2, "max_tokens must be"},
                                                     {3, "temperature must be"},
                                                     {4, "top_p must be"},
                                                     {5, "a stop text is empty"},
                                                     {6, "outside the vocabulary of"},
                                                     {7, "the prompt has 128 tokens"}};
  EXPECT_EQ(collector.failures.size(), whys.size());
  for (const auto& [request, why] : whys) {
    const KeptFailure& failure = collector.failures.at(request);
    EXPECT_EQ(failure.status, KRL_INVALID_ARGUMENT) << request;
    EXPECT_THAT(failure.why, HasSubstr(why));
  }
  ASSERT_EQ(collector.samples.size(), 2u);
  EXPECT_EQ(collector.samples.at({1, 0}).tokens, only_answer(first).tokens);
  EXPECT_EQ(collector.samples.at({8, 0}).tokens, only_answer(last).tokens);
}

TEST_P(RequestsTest, MayAllBeWrong) {
  const SampleCollector collector = answers({{.max_tokens = 0}, {.max_tokens = 0}});
  EXPECT_EQ(collector.failures.size(), 2u);
  EXPECT_TRUE(collector.samples.empty());
}

TEST_P(RequestsTest, MayHaveTheirPromptAsTokens) {
  EXPECT_TRUE(policy_.describe().takes_tokens);
  const KeptSample expected = only_answer({.prompt = "the fox", .seed = 7});
  const KeptSample found =
      only_answer({.prompt = "something else", .seed = 7, .prompt_tokens = expected.prompt_tokens});
  EXPECT_EQ(found, expected);
  EXPECT_NE(only_answer({.prompt = "something else", .seed = 7}).prompt_tokens,
            expected.prompt_tokens);
}

TEST_P(RequestsTest, MayGoOnWithAnAnswer) {
  EXPECT_TRUE(policy_.describe().continues);
  const KeptSample whole = only_answer({.prompt = "the fox", .max_tokens = 20, .temperature = 0});
  ASSERT_EQ(whole.tokens.size(), 20u);
  const std::vector<std::int32_t> begun(whole.tokens.begin(), whole.tokens.begin() + 5);
  const KeptSample rest = only_answer(
      {.prompt = "the fox", .max_tokens = 20, .temperature = 0, .answer_prefix = begun});
  EXPECT_EQ(rest.tokens, std::vector<std::int32_t>(whole.tokens.begin() + 5, whole.tokens.end()));
  EXPECT_EQ(rest.text, whole.text);
  EXPECT_EQ(rest.prompt_tokens, whole.prompt_tokens);
}

TEST_P(RequestsTest, AreNotBegunAfterTheirDeadline) {
  const std::int64_t in_an_hour = monotonic_ns() + 3'600'000'000'000;
  const SampleCollector collector =
      answers({{.prompt = "a", .deadline_ns = 1}, {.prompt = "a", .deadline_ns = in_an_hour}});
  ASSERT_EQ(collector.failures.size(), 1u);
  EXPECT_EQ(collector.failures.at(0).status, KRL_DEADLINE_EXCEEDED);
  EXPECT_EQ(collector.samples.count({1, 0}), 1u);
}

// The sink's status ends the call, that of a failure too.
TEST_P(RequestsTest, EndWhenTheHostTakesNoMore) {
  RequestList requests;
  requests.add({.max_tokens = 0});
  SampleCollector collector;
  collector.status = KRL_CANCELLED;
  try {
    answer(policy_, requests, GetParam(), collector);
    ADD_FAILURE() << "it continues";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_CANCELLED);
  }
}

INSTANTIATE_TEST_SUITE_P(Calls, RequestsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Stream" : "Sample"; });

}  // namespace
}  // namespace krl::libtorch

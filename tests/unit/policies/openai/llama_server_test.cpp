// Against a real server: llama.cpp's, with SmolLM2. Skipped where it is not installed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <set>

#include "plugins/policies/tokenizer/chat_tokenizer.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"
#include "tests/unit/policies/openai/policy_under_test.hpp"

namespace krl::openai {
namespace {

using krl::test::RequestList;
using krl::test::SampleCollector;
using krl::testing::Table;
using testing::OpenAi;

const std::string kModel = KERNELRL_DEPS "/models/smollm2";

class LlamaServer : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kModel + ".gguf") ||
        !std::filesystem::exists(KERNELRL_DEPS "/llama_server")) {
      GTEST_SKIP() << "no llama.cpp server in .deps: run scripts/setup.sh --tests";
    }
    const std::string command = "exec python3 '" KERNELRL_SOURCE_DIR
                                "/tests/servers/llama_server.py' '" +
                                kModel + ".gguf' 2> /dev/null";
    output_ = ::popen(command.c_str(), "r");
    ASSERT_NE(output_, nullptr);
    ASSERT_EQ(std::fscanf(output_, "%d", &port_), 1) << "the server did not start";
  }
  // The server ends as nobody reads its output any more.
  void TearDown() override {
    if (output_ != nullptr) ::pclose(output_);
  }

  Table options(const std::string& tokenizer = kModel) const {
    return {{"base_url", "http://127.0.0.1:" + std::to_string(port_) + "/v1"},
            {"tokenizer", tokenizer}};
  }

  std::FILE* output_ = nullptr;
  int port_ = 0;
};

TEST_F(LlamaServer, SamplesTokensWithTheirLogprobs) {
  OpenAi policy(options());
  const auto info = policy.describe();
  EXPECT_EQ(info.flags & KRL_POLICY_HAS_TOKENS, KRL_POLICY_HAS_TOKENS);
  EXPECT_EQ(info.logprobs, KRL_LOGPROBS_RAW);
  EXPECT_EQ(info.context_tokens, 2048);
  EXPECT_EQ(info.vocabulary, 49152);

  RequestList requests;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    requests.add({.prompt = "Say hello.", .samples = 5, .max_tokens = 12, .seed = seed});
  }
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  EXPECT_TRUE(got.failures.empty()) << got.failures.begin()->second.why;
  ASSERT_EQ(got.samples.size(), 15U);
  EXPECT_EQ(got.puts, 15U);
  const auto chat = policies::ChatTokenizer::from_directory(kModel, {});
  std::set<std::string> texts;
  for (const auto& [place, sample] : got.samples) {
    EXPECT_EQ(sample.tokens.size(), sample.logprobs.size());
    EXPECT_EQ(sample.text, policies::to_utf8(chat.tokenizer().decode(sample.tokens)));
    texts.insert(sample.text);
  }
  EXPECT_GT(texts.size(), 10U);  // each sample has a seed of its own
}

// Where the server leaves a log-probability out, that of the same token forced is asked for.
TEST_F(LlamaServer, GivesALogprobToEveryTokenOfACharacter) {
  OpenAi policy(options());
  RequestList requests;
  requests.add({.prompt = "Write this once more: \xF0\x9F\x91\x8B\xF0\x9F\x98\x80 "
                          "\xF0\x9F\x91\x8B\xF0\x9F\x98\x80",
                .samples = 4,
                .max_tokens = 16,
                .temperature = 0.3,
                .seed = 3});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  EXPECT_TRUE(got.failures.empty()) << got.failures.begin()->second.why;
  ASSERT_EQ(got.samples.size(), 4U);
  std::size_t inside = 0;  // tokens that are no whole characters
  const auto chat = policies::ChatTokenizer::from_directory(kModel, {});
  for (const auto& [place, sample] : got.samples) {
    ASSERT_EQ(sample.tokens.size(), sample.logprobs.size());
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      if (policies::is_utf8(chat.tokenizer().bytes(sample.tokens[i]))) continue;
      ++inside;
      EXPECT_LT(sample.logprobs[i], 0);
    }
  }
  EXPECT_GT(inside, 0U);
}

TEST_F(LlamaServer, TheSameSeedGivesTheSameTokens) {
  OpenAi policy(options());
  RequestList requests;
  requests.add({.prompt = "Count to three.", .samples = 2, .max_tokens = 16, .seed = 11});
  SampleCollector first, second;
  ASSERT_EQ(policy.sample(requests, first), KRL_OK) << policy.host.error;
  ASSERT_EQ(policy.sample(requests, second), KRL_OK) << policy.host.error;
  ASSERT_EQ(first.samples.size(), 2U);
  EXPECT_EQ(first.samples, second.samples);
}

TEST_F(LlamaServer, AStopTextEndsAnAnswer) {
  OpenAi policy(options());
  RequestList requests;
  requests.add({.prompt = "Write the numbers from 1 to 9, with commas.",
                .max_tokens = 40,
                .temperature = 0,
                .stop = {"3"}});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 1U) << got.failures.begin()->second.why;
  const auto& sample = got.samples.begin()->second;
  EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
  EXPECT_EQ(sample.text.find('3'), std::string::npos);
  EXPECT_EQ(sample.tokens.size(), sample.logprobs.size());
}

TEST_F(LlamaServer, APromptBeyondTheContextFailsAlone) {
  OpenAi policy(options());
  RequestList requests;
  std::string words;
  for (int i = 0; i < 3000; ++i) words += " word";
  requests.add({.prompt = words, .max_tokens = 4});
  requests.add({.prompt = "Say hello.", .max_tokens = 4});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.failures.size(), 1U);
  EXPECT_EQ(got.failures[0].status, KRL_INVALID_ARGUMENT);
  EXPECT_EQ(got.samples.size(), 1U);
}

TEST_F(LlamaServer, WithoutATokenizerItChats) {
  OpenAi policy(options(""));
  const auto info = policy.describe();
  EXPECT_EQ(info.flags & KRL_POLICY_HAS_TOKENS, 0U);
  EXPECT_NE(view(info.description).find("llama.cpp"), std::string_view::npos);
  EXPECT_NE(view(info.description).find("for evaluation only"), std::string_view::npos);
  RequestList requests;
  requests.add({.prompt = "Say hello.", .samples = 2, .max_tokens = 8});
  SampleCollector got;
  ASSERT_EQ(policy.sample(requests, got), KRL_OK) << policy.host.error;
  ASSERT_EQ(got.samples.size(), 2U) << got.failures.begin()->second.why;
  for (const auto& [place, sample] : got.samples) {
    EXPECT_FALSE(sample.text.empty());
    EXPECT_TRUE(sample.tokens.empty());
  }
}

TEST_F(LlamaServer, AForcedDialectMustFit) {
  Table wrong = options();
  wrong.emplace("dialect", "vllm");
  try {
    OpenAi policy(wrong);
    FAIL() << "llama.cpp passed as vLLM";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_NE(std::string(failure.what()).find("this is llama.cpp"), std::string::npos);
  }
}

}  // namespace
}  // namespace krl::openai

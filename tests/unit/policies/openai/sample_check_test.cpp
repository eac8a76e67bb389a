// Nothing that a server says of its answer is believed.
#include "plugins/policies/openai/sample_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <kernelrl/values.hpp>
#include <limits>

#include "tests/unit/policies/tokenizer/tokenizer_documents.hpp"

namespace krl::openai {
namespace {

using policies::ChatFamily;
using policies::Tokenizer;

class SampleCheck : public ::testing::Test {
 protected:
  static ChatTokenizer make_chat() {
    const std::string document =
        krl::test::tokenizer_document({"<|im_start|>", "<|im_end|>"}).dump();
    return ChatTokenizer(Tokenizer::from_json(document, "tokenizer.json"), ChatFamily::kChatml, {},
                         {});
  }

  // An answer as a good server gives it.
  Choice choice(const std::string& text, std::uint32_t reason = KRL_STOP_LENGTH) const {
    Choice choice;
    choice.text = text;
    choice.tokens = chat_.tokenizer().encode(text);
    choice.logprobs.assign(choice.tokens.size(), -0.5F);
    choice.stop_reason = reason;
    return choice;
  }
  void add_end(Choice& choice) const {
    choice.tokens.push_back(chat_.stop_tokens().front());
    choice.logprobs.emplace_back(-0.25F);
    choice.stop_reason = KRL_STOP_END;
  }
  std::string refusal(const Choice& choice) const {
    try {
      checked_sample(choice, expected_);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
      return failure.what();
    }
    return {};
  }

  const ChatTokenizer chat_ = make_chat();
  Expected expected_{&chat_, {1, 2}, 2, {}, 100};
};

TEST_F(SampleCheck, AGoodAnswerIsKeptAsItIs) {
  Choice good = choice("int i = 0;");
  add_end(good);
  const Sample sample = checked_sample(good, expected_);
  EXPECT_EQ(sample.text, "int i = 0;");
  EXPECT_EQ(sample.tokens, good.tokens);
  EXPECT_EQ(sample.logprobs.back(), -0.25F);
  EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
  EXPECT_EQ(checked_sample(choice("int"), expected_).stop_reason, KRL_STOP_LENGTH);
  EXPECT_EQ(checked_sample(choice("int", KRL_STOP_ABORTED), expected_).stop_reason,
            KRL_STOP_ABORTED);
}

TEST_F(SampleCheck, NumbersAgree) {
  Choice bad = choice("int i");
  bad.logprobs.pop_back();
  EXPECT_NE(refusal(bad).find(std::to_string(bad.tokens.size()) + " tokens with"),
            std::string::npos);
  bad = choice("int i");
  expected_.max_tokens = static_cast<std::uint32_t>(bad.tokens.size()) - 1;
  EXPECT_NE(refusal(bad).find("were requested"), std::string::npos);
  bad = choice("");
  EXPECT_NE(refusal(bad).find("no tokens"), std::string::npos);
}

TEST_F(SampleCheck, IdsAreOfTheVocabulary) {
  Choice bad = choice("int i");
  bad.tokens[0] = static_cast<TokenId>(chat_.tokenizer().vocabulary());
  EXPECT_NE(refusal(bad).find("vocabulary"), std::string::npos);
}

TEST_F(SampleCheck, LogprobsAreThoseOfProbabilities) {
  const float wrong[] = {0.1F, std::numeric_limits<float>::infinity(),
                         -std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN()};
  for (const float logprob : wrong) {
    Choice bad = choice("int i");
    bad.logprobs[1] = logprob;
    EXPECT_NE(refusal(bad).find("of token 1"), std::string::npos) << logprob;
  }
  Choice rounded = choice("int i");
  rounded.logprobs[1] = 1e-6F;
  EXPECT_EQ(checked_sample(rounded, expected_).logprobs[1], 0.0F);
  Choice missing = choice("int i");
  missing.logprobs[1].reset();
  EXPECT_NE(refusal(missing).find("no log-probability of token 1"), std::string::npos);
}

TEST_F(SampleCheck, TheTextIsThatOfTheIds) {
  Choice bad = choice("int i");
  bad.text = "int j";
  EXPECT_NE(refusal(bad).find("is this the tokenizer of the server's model"), std::string::npos);
}

TEST_F(SampleCheck, ABrokenCharacterAtTheEndMayBeLeftOut) {
  Choice cut = choice("a\xF0\x9F\x98");
  for (const char* text : {"a", "a\xEF\xBF\xBD", "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}) {
    cut.text = text;
    EXPECT_EQ(refusal(cut), "");
  }
}

TEST_F(SampleCheck, AStopTextEndsTheAnswerWhateverTheServerDid) {
  expected_.stop = {"= 0"};
  const Choice all = choice("int i = 0;\n\nint i");
  const Sample sample = checked_sample(all, expected_);
  EXPECT_EQ(sample.text, "int i ");
  EXPECT_EQ(sample.stop_reason, KRL_STOP_END);
  EXPECT_LT(sample.tokens.size(), all.tokens.size());
  EXPECT_EQ(chat_.tokenizer().decode(sample.tokens).rfind("int i = 0", 0), 0U);
  EXPECT_EQ(sample.logprobs.size(), sample.tokens.size());
  Choice cut = all;
  for (const char* text : {"int i ", "int i = 0"}) {
    cut.text = text;
    EXPECT_EQ(refusal(cut), "") << text;
  }
  cut.text = "int";
  EXPECT_NE(refusal(cut), "");
}

TEST_F(SampleCheck, LogprobsMayBeMissingBehindTheEnd) {
  expected_.stop = {"= 0"};
  Choice all = choice("int i = 0;\n\nint i");
  all.logprobs.back().reset();
  EXPECT_EQ(refusal(all), "");
}

TEST_F(SampleCheck, AnEndTokenEndsTheAnswerWhateverTheServerDid) {
  Choice on = choice("int i");
  add_end(on);
  const std::size_t size = on.tokens.size();
  const Choice more = choice("user");
  on.tokens.insert(on.tokens.end(), more.tokens.begin(), more.tokens.end());
  on.logprobs.insert(on.logprobs.end(), more.logprobs.begin(), more.logprobs.end());
  on.text += more.text;
  const Sample sample = checked_sample(on, expected_);
  EXPECT_EQ(sample.tokens.size(), size);
  EXPECT_EQ(sample.text, "int i");
}

TEST_F(SampleCheck, AContinuedAnswerHasTheWholeText) {
  const std::vector<TokenId> prefix = chat_.tokenizer().encode("int i");
  expected_.prompt.insert(expected_.prompt.end(), prefix.begin(), prefix.end());
  const Choice rest = choice(" = 0;");
  const Sample sample = checked_sample(rest, expected_);
  EXPECT_EQ(sample.text, "int i = 0;");
  EXPECT_EQ(sample.tokens, rest.tokens);
}

TEST_F(SampleCheck, ThePromptThatTheServerReadIsOurs) {
  Reply reply;
  EXPECT_NO_THROW(check_prompt(reply, expected_));
  reply.prompt = {1, 2};
  EXPECT_NO_THROW(check_prompt(reply, expected_));
  reply.prompt = {1, 3};
  EXPECT_THROW(check_prompt(reply, expected_), Failure);
}

TEST_F(SampleCheck, WithoutATokenizerThereIsTextAlone) {
  const Expected text{nullptr, {}, 0, {"\n\n"}, 100};
  Choice chat;
  chat.text = "a\n\nb";
  chat.thoughts = "t";
  chat.stop_reason = KRL_STOP_LENGTH;
  const Sample sample = checked_sample(chat, text);
  EXPECT_EQ(sample.text, "<think>t</think>a");
  EXPECT_TRUE(sample.tokens.empty());
}

}  // namespace
}  // namespace krl::openai

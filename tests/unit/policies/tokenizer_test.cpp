#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "recording_host.hpp"
#include "tokenizer/byte_pair_encoding.hpp"
#include "tokenizer/chat_format.hpp"
#include "tokenizer/tokenizer_json.hpp"

namespace krl::libtorch {
namespace {

std::vector<std::string> code_corpus() {
  std::vector<std::string> texts;
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    texts.push_back("int i" + n + " = blockIdx.x * blockDim.x + threadIdx.x;\n  y[i" + n +
                    "] = x[i" + n + "] + " + n + ".0f;\n}\n");
  }
  return texts;
}

BytePairEncoding trained(std::int64_t vocabulary = 400) {
  const auto texts = code_corpus();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return train_byte_pair_encoding(views, vocabulary);
}

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 256);
  return bytes;
}

TEST(BytePairEncoding, RandomBytesComeBack) {
  const BytePairEncoding encoding = trained();
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string bytes = random_bytes(random, size);
    EXPECT_EQ(encoding.decode(encoding.encode(bytes)), bytes);
  }
}

TEST(BytePairEncoding, TextsOfTheCorpusGetShort) {
  const BytePairEncoding encoding = trained();
  const std::string text = code_corpus()[5];
  const auto tokens = encoding.encode(text);
  EXPECT_EQ(encoding.decode(tokens), text);
  EXPECT_LT(tokens.size() * 4, text.size());
}

TEST(BytePairEncoding, MergesInTheOrderOfLearning) {
  const std::vector<std::string_view> texts = {"abab", "abc"};
  const BytePairEncoding encoding = train_byte_pair_encoding(texts, 1000);
  const TokenId a = kSpecialCount + 'a', b = kSpecialCount + 'b', c = kSpecialCount + 'c';
  ASSERT_FALSE(encoding.merges().empty());
  EXPECT_EQ(encoding.merges().front(), std::pair(a, b));  // three times; no other pair twice
  EXPECT_EQ(encoding.vocabulary(), kFirstMerge + 1);
  EXPECT_EQ(encoding.encode("abcab"), (std::vector<TokenId>{kFirstMerge, c, kFirstMerge}));
}

TEST(BytePairEncoding, OfEqualCountsTheSmallerIdsWin) {
  const std::vector<std::string_view> texts = {"xy", "xy", "ab", "ab"};
  const BytePairEncoding encoding = train_byte_pair_encoding(texts, kFirstMerge + 1);
  const std::pair<TokenId, TokenId> ab(kSpecialCount + 'a', kSpecialCount + 'b');
  EXPECT_EQ(encoding.merges(), std::vector{ab});
}

TEST(BytePairEncoding, TrainingIgnoresTheOrderOfTheTexts) {
  auto texts = code_corpus();
  const auto forward = trained().merges();
  std::reverse(texts.begin(), texts.end());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  EXPECT_EQ(train_byte_pair_encoding(views, 400).merges(), forward);
}

TEST(BytePairEncoding, NoTwoTokensSpellTheSame) {
  std::string repeats;
  std::mt19937 random(3);
  for (int i = 0; i < 4000; ++i) repeats += static_cast<char>('a' + random() % 2);
  const std::vector<std::string_view> texts = {repeats};
  const BytePairEncoding encoding = train_byte_pair_encoding(texts, 900);
  std::vector<std::string> spelled;
  for (TokenId id = kSpecialCount; id < encoding.vocabulary(); ++id) {
    spelled.push_back(encoding.bytes(id));
  }
  std::sort(spelled.begin(), spelled.end());
  EXPECT_EQ(std::adjacent_find(spelled.begin(), spelled.end()), spelled.end());
  EXPECT_EQ(encoding.decode(encoding.encode(repeats)), repeats);
}

TEST(BytePairEncoding, LongPieceTakesNoQuadraticTime) {
  const BytePairEncoding encoding = trained();
  const std::string long_line(2'000'000, ' ');  // a quadratic merge would take hours
  EXPECT_EQ(encoding.decode(encoding.encode(long_line)), long_line);
}

TEST(BytePairEncoding, TextNeverGivesSpecialTokens) {
  const BytePairEncoding encoding = trained();
  for (const TokenId token : encoding.encode("<pad><bos><answer><end>")) {
    EXPECT_GE(token, kSpecialCount);
  }
}

TEST(BytePairEncoding, DecodeSkipsWhatIsNoText) {
  const BytePairEncoding encoding = trained();
  const std::vector<TokenId> tokens = {kBeginToken, -5, kSpecialCount + 'x', 1 << 30, kEndToken};
  EXPECT_EQ(encoding.decode(tokens), "x");
}

TEST(Utf8, ReplacesOnlyWhatIsInvalid) {
  EXPECT_EQ(to_utf8("plain ä € 😀"), "plain ä € 😀");
  EXPECT_EQ(to_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(to_utf8("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD");          // overlong
  EXPECT_EQ(to_utf8("\xE2\x82"), "\xEF\xBF\xBD");                      // cut off
  EXPECT_EQ(to_utf8("\xED\xA0\x80").find("\xED"), std::string::npos);  // surrogate
}

TEST(TokenizerJson, ComesBackTheSame) {
  const BytePairEncoding encoding = trained();
  const std::string json = tokenizer_to_json(encoding);
  const BytePairEncoding again = tokenizer_from_json(json, "tokenizer.json");
  EXPECT_EQ(again.merges(), encoding.merges());
  EXPECT_EQ(tokenizer_to_json(again), json);
}

std::string refusal(const std::string& json) {
  try {
    tokenizer_from_json(json, "t.json");
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "accepted";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TokenizerJson, RefusesByNameWhatItDoesNotKnow) {
  const std::string json = tokenizer_to_json(trained());
  EXPECT_NE(refusal("[1, 2").find("not a JSON object"), std::string::npos);
  EXPECT_NE(refusal(replaced(json, "\"normalizer\": null", "\"normalizer\": {\"type\": \"NFC\"}"))
                .find("normalizer"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(json, "\"BPE\"", "\"WordPiece\"")).find("model.type"),
            std::string::npos);
  EXPECT_NE(refusal(replaced(json, "<answer>", "<other>")).find("added_tokens"), std::string::npos);
  EXPECT_NE(
      refusal(replaced(json, "\"merges\": [", "\"merges\": [[\"q\", \"zz\"],")).find("merge 0"),
      std::string::npos);
}

TEST(ChatFormat, RendersTurnsAndEndsWithTheAnswerMark) {
  const BytePairEncoding encoding({});
  const test::MessageList messages({{KRL_ROLE_SYSTEM, "s"},
                                    {KRL_ROLE_USER, "u"},
                                    {KRL_ROLE_ASSISTANT, "a"},
                                    {KRL_ROLE_USER, "v"}});
  const auto byte = [](char c) { return kSpecialCount + c; };
  EXPECT_EQ(render_prompt(encoding, messages),
            (std::vector<TokenId>{kBeginToken, byte('s'), byte('\n'), byte('u'), kAnswerToken,
                                  byte('a'), kEndToken, byte('v'), kAnswerToken}));
  EXPECT_EQ(render_answer(encoding, "a"), (std::vector<TokenId>{byte('a'), kEndToken}));
}

TEST(ChatFormat, RefusesNoMessagesAndUnknownRoles) {
  const BytePairEncoding encoding({});
  EXPECT_THROW(render_prompt(encoding, test::MessageList({})), Failure);
  EXPECT_THROW(render_prompt(encoding, test::MessageList({{9, "x"}})), Failure);
}

}  // namespace
}  // namespace krl::libtorch

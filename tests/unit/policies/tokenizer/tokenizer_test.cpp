#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::policies {
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

Tokenizer train(std::span<const std::string_view> texts, std::int64_t vocabulary) {
  return scratch_tokenizer(learn_merges(texts, vocabulary));
}

Tokenizer trained(std::int64_t vocabulary = 400) {
  const auto texts = code_corpus();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return train(views, vocabulary);
}

using Pair = std::pair<TokenId, TokenId>;

std::vector<Pair> pairs(std::span<const Merge> merges) {
  std::vector<Pair> all;
  for (const Merge& merge : merges) all.emplace_back(merge.left, merge.right);
  return all;
}

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % 256);
  return bytes;
}

TEST(ScratchTokenizer, RandomBytesComeBackAsText) {
  const Tokenizer encoding = trained();
  std::mt19937 random(7);
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string bytes = random_bytes(random, size);
    const std::string text = to_utf8(bytes);
    EXPECT_EQ(encoding.decode(encoding.encode(bytes)), text);
    EXPECT_EQ(encoding.encode(bytes), encoding.encode(text));
  }
}

TEST(ScratchTokenizer, TextsOfTheCorpusGetShort) {
  const Tokenizer encoding = trained();
  const std::string text = code_corpus()[5];
  const auto tokens = encoding.encode(text);
  EXPECT_EQ(encoding.decode(tokens), text);
  EXPECT_LT(tokens.size() * 4, text.size());
}

TEST(ScratchTokenizer, MergesInTheOrderOfLearning) {
  const std::vector<std::string_view> texts = {"abab", "abc"};
  const Tokenizer encoding = train(texts, 1000);
  const TokenId a = kSpecialCount + 'a', b = kSpecialCount + 'b', c = kSpecialCount + 'c';
  EXPECT_EQ(pairs(encoding.merges()), std::vector{Pair(a, b)});  // three times; no other pair twice
  EXPECT_EQ(encoding.vocabulary(), kFirstMerge + 1);
  EXPECT_EQ(encoding.encode("abcab"), (std::vector<TokenId>{kFirstMerge, c, kFirstMerge}));
}

TEST(ScratchTokenizer, OfEqualCountsTheSmallerIdsWin) {
  const std::vector<std::string_view> texts = {"xy", "xy", "ab", "ab"};
  const Tokenizer encoding = train(texts, kFirstMerge + 1);
  EXPECT_EQ(pairs(encoding.merges()), std::vector{Pair(kSpecialCount + 'a', kSpecialCount + 'b')});
}

TEST(ScratchTokenizer, TrainingIgnoresTheOrderOfTheTexts) {
  auto texts = code_corpus();
  const auto forward = pairs(trained().merges());
  std::reverse(texts.begin(), texts.end());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  EXPECT_EQ(pairs(learn_merges(views, 400)), forward);
}

TEST(ScratchTokenizer, NoTwoTokensSpellTheSame) {
  std::string repeats;
  std::mt19937 random(3);
  for (int i = 0; i < 4000; ++i) repeats += static_cast<char>('a' + random() % 2);
  const std::vector<std::string_view> texts = {repeats};
  const Tokenizer encoding = train(texts, 900);
  std::vector<std::string> spelled;
  for (TokenId id = kSpecialCount; id < encoding.vocabulary(); ++id) {
    spelled.push_back(encoding.bytes(id));
  }
  std::sort(spelled.begin(), spelled.end());
  EXPECT_EQ(std::adjacent_find(spelled.begin(), spelled.end()), spelled.end());
  EXPECT_EQ(encoding.decode(encoding.encode(repeats)), repeats);
}

TEST(ScratchTokenizer, NoMergeSpellsASpecialToken) {
  std::vector<std::string> texts;
  for (char before = 'a'; before <= 'z'; ++before) {
    for (char after = 'A'; after <= 'Z'; ++after) {
      texts.push_back(std::string(1, before) + "<answer>" + after);
    }
  }
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const Tokenizer encoding = train(views, 1000);
  EXPECT_EQ(encoding.decode(encoding.encode(texts[0])), texts[0]);
}

TEST(ScratchTokenizer, LongPieceTakesNoQuadraticTime) {
  const Tokenizer encoding = trained();
  const std::string long_line(2'000'000, ' ');  // a quadratic merge would take hours
  EXPECT_EQ(encoding.decode(encoding.encode(long_line)), long_line);
}

TEST(ScratchTokenizer, TextNeverGivesSpecialTokens) {
  const Tokenizer encoding = trained();
  for (const TokenId token : encoding.encode("<pad><bos><answer><end>")) {
    EXPECT_GE(token, kSpecialCount);
  }
}

TEST(ScratchTokenizer, DecodeSkipsWhatIsNoText) {
  const Tokenizer encoding = trained();
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

TEST(ScratchTokenizer, ComesBackFromItsFile) {
  const Tokenizer encoding = trained();
  const Tokenizer again = Tokenizer::from_json(encoding.json(), "tokenizer.json");
  EXPECT_EQ(pairs(again.merges()), pairs(encoding.merges()));
  EXPECT_EQ(again.json(), encoding.json());
}

}  // namespace
}  // namespace krl::policies

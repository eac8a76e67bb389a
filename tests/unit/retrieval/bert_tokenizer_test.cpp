// BERT's tokenizer by small vocabularies: splitting, special tokens, truncation, broken files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/values.hpp>

#include "plugins/retrieval/wordpiece/bert_tokenizer.hpp"

namespace krl::retrieval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kNoLimit = 1000;
// [UNK] 0, [CLS] 1, [SEP] 2
const std::string kVocabulary = "[UNK]\n[CLS]\n[SEP]\nker\n##nel\n##s\ncafe\n(\nk\n行\n";

BertTokenizer small_tokenizer() { return BertTokenizer::from_vocabulary(kVocabulary, "v.txt", {}); }

TEST(BertTokenizer, TakesTheLongestPieces) {
  EXPECT_THAT(small_tokenizer().encode("Kernels KERNEL k", kNoLimit),
              ElementsAre(1, 3, 4, 5, 3, 4, 8, 2));
}

TEST(BertTokenizer, AWordWithoutASplitIsUnknownAsAWhole) {
  EXPECT_THAT(small_tokenizer().encode("kernelx k", kNoLimit), ElementsAre(1, 0, 8, 2));
}

TEST(BertTokenizer, SplitsPunctuationAndIdeographsAndStripsAccents) {
  EXPECT_THAT(small_tokenizer().encode("caf\u00e9(k行k", kNoLimit),
              ElementsAre(1, 6, 7, 8, 9, 8, 2));
}

TEST(BertTokenizer, CutsOffTheEnd) {
  EXPECT_THAT(small_tokenizer().encode("kernels kernels", 5), ElementsAre(1, 3, 4, 5, 2));
  EXPECT_THAT(small_tokenizer().encode("kernels", 4), ElementsAre(1, 3, 4, 2));
  EXPECT_THAT(small_tokenizer().encode("kernels", 2), ElementsAre(1, 2));
  EXPECT_THAT(small_tokenizer().encode("k[SEP]k[SEP]", 4), ElementsAre(1, 8, 2, 2));
}

TEST(BertTokenizer, NothingIsEmpty) {
  EXPECT_THAT(small_tokenizer().encode("", kNoLimit), ElementsAre(1, 2));
  EXPECT_THAT(small_tokenizer().encode(" \x01\n\t", kNoLimit), ElementsAre(1, 2));
}

TEST(BertTokenizer, BytesThatAreNoTextAreLeftOut) {
  EXPECT_THAT(small_tokenizer().encode("k\xff\xfek", kNoLimit), ElementsAre(1, 0, 2));
  EXPECT_THAT(small_tokenizer().encode("k \xff k", kNoLimit), ElementsAre(1, 8, 8, 2));
}

// The smallest file, with one part replaced.
std::string problem_of(const std::string& from, const std::string& to) {
  std::string text = R"({"model": {"type": "WordPiece", "unk_token": "[UNK]",
      "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
      "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3}},
    "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
      "strip_accents": null, "lowercase": true},
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "added_tokens": [{"id": 1, "content": "[CLS]", "special": true, "normalized": false}],
    "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}})";
  const std::size_t at = text.find(from);
  if (at == text.npos) return "no '" + from + "'";
  text.replace(at, from.size(), to);
  try {
    BertTokenizer::from_json(text, "t.json");
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(BertTokenizer, TheSmallestFileIsRead) { EXPECT_EQ(problem_of("null", "null"), ""); }

TEST(BertTokenizer, BrokenFilesAreNamedWithTheirKey) {
  EXPECT_THAT(problem_of("{\"model\"", "\"model\""), HasSubstr("t.json: not valid JSON"));
  EXPECT_EQ(problem_of("\"WordPiece\"", "\"BPE\""),
            "t.json.model.type: 'BPE' is not supported, only WordPiece");
  EXPECT_EQ(problem_of("\"a\": 3", "\"a\": 2"),
            "t.json.model.vocab['a']: another token has this id");
  EXPECT_EQ(problem_of("\"a\": 3", "\"a\": -3"),
            "t.json.model.vocab['a']: must be a whole number from 0 to 1048575");
  EXPECT_EQ(problem_of("\"unk_token\": \"[UNK]\"", "\"unk_token\": \"?\""),
            "t.json.model.unk_token: '?' is not in the vocabulary");
  EXPECT_EQ(problem_of("BertPreTokenizer", "Whitespace"),
            "t.json.pre_tokenizer.type: 'Whitespace' is not supported, only BertPreTokenizer");
  EXPECT_EQ(problem_of("\"normalized\": false", "\"normalized\": true"),
            "t.json.added_tokens[0].normalized: true is not supported");
  EXPECT_EQ(problem_of("\"id\": 1, ", "\"id\": 7, "),
            "t.json.added_tokens[0]: the vocabulary has another id for this token");
  EXPECT_EQ(problem_of("[\"[SEP]\", 2]", "[\"[SEP]\", 1]"),
            "t.json.post_processor.sep: the vocabulary has another id");
}

TEST(BertTokenizer, AVocabularyNeedsItsSpecialTokens) {
  EXPECT_THROW(BertTokenizer::from_vocabulary("[UNK]\n[CLS]\na\n", "v.txt", {}), Failure);
}

TEST(BertTokenizer, ReadsWindowsLineEnds) {
  const auto tokenizer =
      BertTokenizer::from_vocabulary("[UNK]\r\n[CLS]\r\n[SEP]\r\nk\r\n", "v", {});
  EXPECT_THAT(tokenizer.encode("k", kNoLimit), ElementsAre(1, 3, 2));
  EXPECT_EQ(tokenizer.vocabulary(), 4);
}

}  // namespace
}  // namespace krl::retrieval

// tokenizer.json files: what is read from them, and what is refused by name. A file may be hostile.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <thread>

#include "plugins/policies/tokenizer/normal_form.hpp"
#include "plugins/policies/tokenizer/split_pattern.hpp"
#include "plugins/policies/tokenizer/tokenizer.hpp"
#include "tests/unit/policies/tokenizer/tokenizer_documents.hpp"

namespace krl::policies {
namespace {

using Json = nlohmann::json;
using Tokens = std::vector<TokenId>;

Tokenizer load(const Json& document) { return Tokenizer::from_json(document.dump(), "t.json"); }

// The message of the failure that `text` as a file is refused with.
std::string refusal_of(const std::string& text) {
  try {
    Tokenizer::from_json(text, "t.json");
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "accepted";
}

struct Change {
  const char* path;   // of the value that is replaced
  const char* value;  // by this JSON
  const char* said;   // part of the message
};

class RefusedFile : public ::testing::TestWithParam<Change> {};

TEST_P(RefusedFile, NamesFileKeyAndValue) {
  Json document = test::tokenizer_document({"<|a|>"});
  document[Json::json_pointer(GetParam().path)] = Json::parse(GetParam().value);
  const std::string message = refusal_of(document.dump());
  EXPECT_EQ(message.find("t.json"), 0u) << message;
  EXPECT_NE(message.find(GetParam().said), std::string::npos) << message;
}

constexpr Change kChanges[] = {
    {"/surprise", "1", "t.json: 'surprise' is not supported"},
    {"/truncation", "{}", "t.json.truncation: is not supported"},
    {"/normalizer", R"({"type": "NFKC"})", "normalizer: 'NFKC' is not supported"},
    {"/normalizer", R"({"type": "NFC", "more": 1})", "normalizer: 'more' is not supported"},
    {"/pre_tokenizer", "null", "'pre_tokenizer' is missing"},
    {"/pre_tokenizer", R"({"type": "Whitespace"})", "'Whitespace' is not supported"},
    {"/pre_tokenizer/pretokenizers", "[]", "ByteLevel must be the last"},
    {"/pre_tokenizer/pretokenizers/0/type", "\"Metaspace\"", "'Metaspace' is not supported"},
    {"/pre_tokenizer/pretokenizers/0/behavior", "\"Removed\"", "'Removed' is not supported"},
    {"/pre_tokenizer/pretokenizers/0/invert", "true", "invert: is not supported"},
    {"/pre_tokenizer/pretokenizers/0/pattern", R"({"String": " "})", "'String' is not supported"},
    {"/pre_tokenizer/pretokenizers/0/pattern/Regex", R"("^a")", "Regex: the construct '^'"},
    {"/pre_tokenizer/pretokenizers/0/pattern/Regex", R"("(a")", "PCRE2 refuses it"},
    {"/pre_tokenizer/pretokenizers/0/pattern/Regex", R"("a*")", "matches the empty text"},
    {"/pre_tokenizer/pretokenizers/1/add_prefix_space", "true", "add_prefix_space"},
    {"/pre_tokenizer/pretokenizers/1/type", "\"Digits\"", "ByteLevel is"},
    {"/post_processor", R"({"type": "BertProcessing"})", "'BertProcessing' is not supported"},
    {"/post_processor", R"({"type": "Sequence", "processors": [{"type": "Sequence"}]})",
     "processors[0]: 'Sequence' is not supported here"},
    {"/post_processor",
     R"({"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<x>"}}],
         "special_tokens": {"<x>": {"ids": [999999]}}})",
     "ids[0]: is not a token id"},
    {"/post_processor", R"({"type": "TemplateProcessing", "single": []})", "no place for the text"},
    {"/decoder", R"({"type": "WordPiece"})", "decoder: 'WordPiece' is not supported"},
    {"/model", "[]", "model: must be an object"},
    {"/model/type", "\"Unigram\"", "model.type: 'Unigram' is not supported"},
    {"/model/dropout", "0.1", "model.dropout"},
    {"/model/byte_fallback", "true", "model.byte_fallback"},
    {"/model/continuing_subword_prefix", "\"##\"", "model.continuing_subword_prefix"},
    {"/model/ignore_merges", "\"yes\"", "ignore_merges: must be true or false"},
    {"/model/vocab", "{}", "model.vocab: is empty"},
    {"/model/vocab/a", "-1", "model.vocab.a: must be a whole number from 0 to"},
    {"/model/vocab/a", "4000000000", "model.vocab.a: must be a whole number"},
    {"/model/vocab/a", "1.5", "model.vocab.a: must be a whole number"},
    {"/model/vocab/a", "5", "two tokens have the id 5"},
    {"/model/merges", "{}", "model.merges: must be an array"},
    {"/model/merges/0", "\"ab\"", "model.merges[0]: must be two texts with a space between"},
    {"/model/merges/0", "\"a b c\"", "model.merges[0]: must be two texts with a space between"},
    {"/model/merges/0", R"(["a"])", "model.merges[0]: must be two texts"},
    {"/model/merges/0", R"(["a", 1])", "model.merges[0][1]: must be a text"},
    {"/model/merges/0", R"(["qq", "q"])", "'qq' is not a token of the vocabulary"},
    {"/model/merges/0", R"(["<", "end>"])", "is not a token of the vocabulary"},
    {"/added_tokens/0/lstrip", "true", "added_tokens[0].lstrip: is not supported"},
    {"/added_tokens/0/normalized", "true", "added_tokens[0].normalized: is not supported"},
    {"/added_tokens/0/content", "\"\"", "content: must have 1 to"},
    {"/added_tokens/0/content", "\"<bos>\"", "added_tokens[0].id: the vocabulary has another id"},
    {"/added_tokens/0/id", "9", "added_tokens[0].id: the vocabulary has another id for '<pad>'"},
    {"/added_tokens/4/id", "9", "added_tokens[4].id: is already used by another token"},
    {"/added_tokens/4/special", "null", "added_tokens[4]: 'special' is missing"},
};
INSTANTIATE_TEST_SUITE_P(TokenizerFile, RefusedFile, ::testing::ValuesIn(kChanges));

TEST(TokenizerFile, RefusesMergesAndAddedTokensThatAreThereTwice) {
  Json document = test::tokenizer_document({"<|a|>"});
  Json twice = document;
  twice["model"]["merges"].push_back(document["model"]["merges"][0]);
  EXPECT_NE(refusal_of(twice.dump()).find("is a duplicate"), std::string::npos);
  twice = document;
  twice["added_tokens"].push_back(document["added_tokens"][4]);
  EXPECT_NE(refusal_of(twice.dump()).find("'<|a|>' is a duplicate"), std::string::npos);
}

TEST(TokenizerFile, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "\xFF", "{\"a\": \"\xC3\"}", "nan"}) {
    EXPECT_NE(refusal_of(text).find("t.json: not valid JSON"), std::string::npos) << text;
  }
  EXPECT_NE(refusal_of("[]").find("t.json: must be an object"), std::string::npos);
}

TEST(TokenizerFile, NestingOfAnyDepthIsRefused) {
  constexpr std::size_t kDepth = 1'000'000;
  EXPECT_NE(
      refusal_of(std::string(kDepth, '[') + std::string(kDepth, ']')).find("must be an object"),
      std::string::npos);
  EXPECT_NE(refusal_of(std::string(kDepth, '[')).find("not valid JSON"), std::string::npos);
}

// Whatever is read instead of refused must also encode and decode.
TEST(TokenizerFile, ChangedBytesNeverCrash) {
  const std::string text = test::tokenizer_document({"<|a|>"}, {"<b>"}).dump();
  std::mt19937 random(5);
  int accepted = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string changed = text;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      const std::size_t at = random() % changed.size();
      const std::size_t size = random() % 4;
      const char bytes[] = {'"', ',', '{', ']', '0', static_cast<char>(random())};
      changed.replace(at, size, std::string(random() % 3, bytes[random() % sizeof bytes]));
    }
    try {
      const Tokenizer tokenizer = Tokenizer::from_json(changed, "t.json");
      tokenizer.decode(tokenizer.encode("int i = 0;\n<|a|> <b> é\xFF", SpecialNames::kTokens));
      ++accepted;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT) << failure.what();
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, 1500);
}

TEST(Tokenizer, ReadsMergesOfBothSpellings) {
  Json document = test::tokenizer_document({});
  const Tokens expected = load(document).encode("int i = 0;\n\n");
  for (Json& merge : document["model"]["merges"]) {
    merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  }
  EXPECT_EQ(load(document).encode("int i = 0;\n\n"), expected);
  EXPECT_LT(expected.size(), 10u);
}

TEST(Tokenizer, SpecialNamesAreTextUnlessAskedFor) {
  const Tokenizer tokenizer = load(test::tokenizer_document({"<|a|>"}, {"<b>"}));
  const TokenId a = tokenizer.find("<|a|>")->id, b = tokenizer.find("<b>")->id;
  EXPECT_TRUE(tokenizer.find("<|a|>")->special);
  EXPECT_FALSE(tokenizer.find("<b>")->special);
  EXPECT_FALSE(tokenizer.find("x").has_value());
  EXPECT_EQ(tokenizer.encode("<|a|><b>", SpecialNames::kTokens), (Tokens{a, b}));
  const Tokens text = tokenizer.encode("<|a|><b>");
  EXPECT_EQ(text.back(), b);
  EXPECT_EQ(std::count(text.begin(), text.end(), a), 0);
  EXPECT_EQ(tokenizer.decode(text), "<|a|><b>");
  EXPECT_EQ(tokenizer.bytes(a), "");
  EXPECT_EQ(tokenizer.bytes(b), "<b>");
  EXPECT_EQ(tokenizer.bytes(-1), "");
  EXPECT_EQ(tokenizer.bytes(1 << 30), "");
}

TEST(Tokenizer, OfAddedTokensTheLeftmostLongestIsFound) {
  const Tokenizer tokenizer = load(test::tokenizer_document({}, {"<b", "<b>", "<b>c", "b>"}));
  const auto id = [&](const char* name) { return tokenizer.find(name)->id; };
  EXPECT_EQ(tokenizer.encode("<b>c<b><bb>"), (Tokens{id("<b>c"), id("<b>"), id("<b"), id("b>")}));
}

TEST(Tokenizer, PutsTheTokensOfTheTemplateAround) {
  Json document = test::tokenizer_document({"<|a|>", "<|z|>"});
  document["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [
      {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true},
      {"type": "TemplateProcessing",
       "single": [{"SpecialToken": {"id": "<|a|>", "type_id": 0}},
                  {"Sequence": {"id": "A", "type_id": 0}},
                  {"SpecialToken": {"id": "<|z|>", "type_id": 0}}],
       "pair": [],
       "special_tokens": {"<|a|>": {"id": "<|a|>", "ids": [2], "tokens": ["<|a|>"]},
                          "<|z|>": {"id": "<|z|>", "ids": [3, 1], "tokens": ["<|z|>"]}}}]})");
  EXPECT_EQ(load(document).with_special_tokens({9}), (Tokens{2, 9, 3, 1}));
}

TEST(Tokenizer, BytesWithoutATokenAreLeftOut) {
  Json document = test::tokenizer_document({});
  document["model"]["vocab"].erase("~");
  const Tokenizer tokenizer = load(document);
  EXPECT_EQ(tokenizer.encode("~"), Tokens{});
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("a~b")), "ab");
  document["model"]["unk_token"] = "<pad>";
  EXPECT_NE(refusal_of(document.dump()).find("model.unk_token"), std::string::npos);
}

TEST(Tokenizer, NormalFormCWhereTheFileSaysSo) {
  Json document = test::tokenizer_document({});
  EXPECT_NE(load(document).encode("e\u0301"), load(document).encode("\u00E9"));
  document["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(load(document).encode("e\u0301"), load(document).encode("\u00E9"));
}

TEST(Tokenizer, LongTextsTakeNoQuadraticTime) {
  const Tokenizer tokenizer = load(test::tokenizer_document({"<|a|>"}));
  for (const std::string& part : {std::string("a"), std::string(" "), std::string("\n"),
                                  std::string(" \n"), std::string("<|"), std::string("9")}) {
    std::string text;
    while (text.size() < 1'000'000) text += part;
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text) << part;
  }
}

TEST(Tokenizer, ThreadsMayEncodeAtOnce) {
  const Tokenizer tokenizer = load(test::tokenizer_document({"<|a|>"}));
  const auto text = [](int i) { return "int i" + std::to_string(i) + " = hello;\n\n"; };
  std::vector<Tokens> expected, found(400);
  for (int i = 0; i < 400; ++i)
    expected.push_back(load(test::tokenizer_document({"<|a|>"})).encode(text(i)));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < found.size(); i += 4) {
        found[i] = tokenizer.encode(text(static_cast<int>(i)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

TEST(SplitPattern, TranslatesWhatTheTwoSyntaxesReadDifferently) {
  EXPECT_EQ(translate_pattern(R"(\s+(?!\S)|\r\n)"), R"(\p{White_Space}+(?!\P{White_Space})|\r\n)");
  EXPECT_EQ(translate_pattern("(?i:'s)|(?:a|b)(?=c){2,3}"), "(?i:'s)|(?:a|b)(?=c){2,3}");
  EXPECT_EQ(translate_pattern(R"([^\r\p{Lt}])"), R"([^\r\p{Lt}])");
  EXPECT_EQ(translate_pattern(R"(\P{Lt})"), R"([^\p{Lt}])");
  // Letters that Unicode 16 has and 14 does not.
  EXPECT_EQ(translate_pattern(R"(\p{L})").find(R"([\p{L}\x{1C89}-\x{1C89})"), 0u);
}

TEST(SplitPattern, RefusesWhatItDoesNotKnow) {
  for (const char* pattern :
       {"^a",         "a$",    "a.",    R"(\ba)",      R"(\w)",  R"(\d)", R"(\p{Han})",
        R"([\P{L}])", R"(\p)", "[a",    "[[:alpha:]]", "[a&&b]", "[]a]",  "(?<a>b)",
        "(?<=a)b",    "(?>a)", "a{,3}", "a{2}?",       "a{2}+",  "a{x}",  "a{",
        "a}",         "a]",    R"(\1)", R"(\x41)",     "\\"}) {
    EXPECT_THROW(translate_pattern(pattern), Failure) << pattern;
  }
}

TEST(SplitPattern, PiecesCoverTheText) {
  const SplitPattern pattern(translate_pattern(R"(\p{N})"));
  SplitPattern::Workspace workspace;
  std::vector<std::string> pieces;
  pattern.for_each_piece("ab12c", workspace,
                         [&](std::string_view piece) { pieces.emplace_back(piece); });
  EXPECT_EQ(pieces, (std::vector<std::string>{"ab", "1", "2", "c"}));
}

TEST(SplitPattern, APatternThatExplodesIsAnError) {
  const SplitPattern pattern(translate_pattern(R"((?:a+)+\p{N})"));
  SplitPattern::Workspace workspace;
  EXPECT_THROW(pattern.for_each_piece(std::string(5000, 'a'), workspace, [](std::string_view) {}),
               Failure);
}

TEST(Nfc, ComposesOnlyWhatUnicode9Knows) {
  EXPECT_EQ(to_nfc("e\u0301\u0323"), "\u1EB9\u0301");
  EXPECT_FALSE(is_nfc("e\u0301"));
  EXPECT_TRUE(is_nfc("\u00E9 plain"));
  const std::string newer = "\U00010EFD\U00010EFE";  // marks of Unicode 15
  EXPECT_EQ(to_nfc("a\u0301" + newer), "\u00E1" + newer);
}

}  // namespace
}  // namespace krl::policies

// What a query finds and what it leaves out, with an encoder that counts words; and a leak test:
// copies of real kernels, planted in disguise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <filesystem>
#include <kernelrl/cuda_source.hpp>
#include <map>

#include "plugins/files/file.hpp"
#include "plugins/retrieval/search/retriever.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::retrieval {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::size_t kWidth = 64;

// How often a text has the words of each of 64 classes; of length 1.
std::vector<float> counted_words(std::span<const std::string_view> texts, TextRole) {
  std::vector<float> vectors;
  for (const std::string_view text : texts) {
    std::vector<float> counts(kWidth, 1e-3f);
    std::size_t hash = 0;
    for (const char c : std::string(text) + " ") {
      if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        hash = hash * 31 + static_cast<unsigned char>(c);
      } else if (hash != 0) {
        counts[hash % kWidth] += 1;
        hash = 0;
      }
    }
    float length = 0;
    for (const float count : counts) length += count * count;
    for (const float count : counts) vectors.push_back(count / std::sqrt(length));
  }
  return vectors;
}

Retriever retriever_of(const std::filesystem::path& folder, const std::vector<Document>& documents,
                       const RetrievalRules& rules) {
  std::vector<std::string_view> texts;
  for (const Document& document : documents) texts.push_back(document.text);
  write_index(folder, {"counted words", "none"}, documents,
              counted_words(texts, TextRole::kDocument), kWidth);
  return Retriever(read_index(folder), counted_words, rules);
}

std::vector<std::string> ids_of(const std::vector<Hit>& hits) {
  std::vector<std::string> ids;
  for (const Hit& hit : hits) ids.push_back(hit.document->id);
  return ids;
}

std::map<std::string, std::string> reasons_of(const std::vector<LeftOut>& all) {
  std::map<std::string, std::string> reasons;
  for (const LeftOut& left : all) reasons[left.document->id] = reason_name(left.reason);
  return reasons;
}

TEST(Retriever, FindsTheNearestInOrder) {
  const krl::test::TemporaryDirectory directory;
  const Retriever retriever =
      retriever_of(directory.path() / "index",
                   {make_document("far", "", "wholly different words here"),
                    make_document("near", "", "sum each row of the matrix with care"),
                    make_document("nearer", "", "sum each row of the matrix quickly please")},
                   {.similar = 2.0f});
  const Retrieval found =
      retriever.find({.text = "sum each row of the matrix quickly", .count = 2});
  EXPECT_THAT(ids_of(found.hits), ElementsAre("nearer", "near"));
  EXPECT_GT(found.hits[0].score, found.hits[1].score);
  EXPECT_THAT(found.left_out, IsEmpty());
}

TEST(Retriever, LeavesOutWhatGivesTheAnswerAway) {
  const std::string reference = "for every row add up all of its entries and write the total";
  const krl::test::TemporaryDirectory directory;
  const Retriever retriever = retriever_of(
      directory.path() / "index",
      {make_document("own", "row_sum", "sum each row quickly, by a block"),
       make_document("query", "", "sum each row quickly"),
       make_document("reference", "",
                     "For every row, add up all of its entries and write the total"),
       make_document("similar", "", reference + " again"),
       make_document("shuffled", "", "total the write and entries its of all up add row every for"),
       make_document("good", "", "sum each column of a large tensor very slowly"),
       make_document("good again", "", "Sum each column of a large tensor: very slowly!")},
      {.similar = 0.9f});
  const std::string_view texts[] = {reference};
  const GuardedTexts guarded = retriever.guard(texts);
  const std::string names[] = {"row_sum"};
  const Retrieval found = retriever.find(
      {.text = "sum each row quickly", .names = names, .guarded = &guarded, .count = 6});
  EXPECT_THAT(ids_of(found.hits), ElementsAre("good"));
  EXPECT_EQ(reasons_of(found.left_out),
            (std::map<std::string, std::string>{{"own", "own_task"},
                                                {"query", "same_text"},
                                                {"reference", "same_source"},
                                                {"similar", "similar_source"},
                                                {"shuffled", "similar_vector"},
                                                {"good again", "repeats"}}));
}

TEST(Retriever, KnowsOwnDocumentsByAnyOfTheirNamesAndTheirCopies) {
  const krl::test::TemporaryDirectory directory;
  const Retriever retriever = retriever_of(
      directory.path() / "index",
      {make_document("Row-Sum", "", "one way to do it that nobody else has thought of"),
       make_document("b", "", "another way to do it, with no name that says so",
                     {{"Op_Name", "ROW SUM"}, {"Level", 1}}),
       make_document("c", "other", "One way, to do it: that nobody else has thought of!"),
       make_document("d", "row", "a third way to do something else entirely")},
      {.similar = 2.0f});
  const std::string names[] = {"row_sum", "Sum of rows"};
  const Retrieval found = retriever.find({.text = "way to do it", .names = names, .count = 4});
  EXPECT_THAT(ids_of(found.hits), ElementsAre("d"));
  EXPECT_EQ(reasons_of(found.left_out),
            (std::map<std::string, std::string>{
                {"Row-Sum", "own_task"}, {"b", "own_task"}, {"c", "same_source"}}));
}

// More are left out than a search looks at first.
TEST(Retriever, LooksOnUntilItHasEnough) {
  std::vector<Document> documents;
  for (int i = 0; i < 500; ++i) {
    documents.push_back(make_document("own " + std::to_string(i), "task", "the query words"));
  }
  documents.push_back(make_document("other", "", "query of other words in another language"));
  const krl::test::TemporaryDirectory directory;
  const Retriever retriever = retriever_of(directory.path() / "index", documents, {});
  const std::string names[] = {"task"};
  const Retrieval found = retriever.find({.text = "the query words!", .names = names, .count = 1});
  EXPECT_THAT(ids_of(found.hits), ElementsAre("other"));
  EXPECT_EQ(found.left_out.size(), 500u);
}

TEST(Retriever, AnEmptyIndexFindsNothing) {
  const krl::test::TemporaryDirectory directory;
  const Retriever retriever = retriever_of(directory.path() / "index", {}, {});
  EXPECT_THAT(retriever.find({.text = "anything"}).hits, IsEmpty());
}

// Every name that a kernel declares gets another one; each token is on a line of its own.
std::string disguised(const std::string& source) {
  static const std::vector<std::string> kTypes = {"float", "int",    "double", "half", "unsigned",
                                                  "void",  "float4", "bool",   "long"};
  const ScannedSource read = scan_cuda_source(source);
  std::map<std::string, std::string> names;
  for (std::size_t i = 1; i < read.tokens.size(); ++i) {
    const SourceToken &token = read.tokens[i], &before = read.tokens[i - 1];
    const bool type = std::find(kTypes.begin(), kTypes.end(), before.text) != kTypes.end();
    const bool known = std::find(kTypes.begin(), kTypes.end(), token.text) != kTypes.end();
    if (token.kind != SourceToken::kIdentifier || !type || known) continue;
    if (token.text.starts_with("__")) continue;
    names.try_emplace(token.text, "name_" + std::to_string(names.size()));
  }
  std::string text;
  for (std::size_t i = 0; i < read.tokens.size(); ++i) {
    const SourceToken& token = read.tokens[i];
    if (token.starts_line && !text.empty()) text += "\n";
    if (token.is("#")) text += "\n";
    const auto renamed = names.find(token.text);
    const bool member = i > 0 && read.tokens[i - 1].is(".");  // threadIdx.x
    const bool rename = renamed != names.end() && token.kind == SourceToken::kIdentifier && !member;
    text += (rename ? renamed->second : token.text) + (token.is("#") ? "" : " ");
  }
  return "// a comment in front\n" + text;
}

// The kernels of the evaluator's benchmarks, each planted as it is, in disguise and inside a Python
// program: none of its copies may be found by someone who has to write it.
TEST(RetrieverLeaks, NoPlantedCopyIsFound) {
  std::map<std::string, std::string> kernels;
  for (const auto& entry :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/tolerance/right")) {
    if (entry.path().extension() == ".cu")
      kernels[entry.path().stem().string()] = files::read_file(entry.path());
  }
  ASSERT_GE(kernels.size(), 5u);
  std::vector<Document> documents;
  for (const auto& [name, source] : kernels) {
    documents.push_back(make_document(name + ".copy", "another name", source));
    documents.push_back(make_document(name + ".disguised", "", disguised(source)));
    documents.push_back(make_document(
        name + ".python", "",
        "import torch\nsource = r\"\"\"#include <torch/extension.h>\n" + disguised(source) +
            "\"\"\"\nmodule = load_inline(name='m', cuda_sources=source)\n"));
  }
  const krl::test::TemporaryDirectory directory;
  // Vectors that differ never count here: the texts alone must give the copies away.
  const Retriever retriever =
      retriever_of(directory.path() / "index", documents, {.similar = 2.0f});
  std::size_t shown = 0;
  for (const auto& [name, source] : kernels) {
    const std::string_view texts[] = {source};
    const GuardedTexts guarded = retriever.guard(texts);
    const Retrieval found = retriever.find(
        {.text = "write this kernel", .guarded = &guarded, .count = documents.size()});
    for (const Hit& hit : found.hits) {
      EXPECT_FALSE(hit.document->id.starts_with(name + ".")) << hit.document->id;
    }
    shown += found.hits.size();
  }
  EXPECT_GT(shown, kernels.size());  // others are found
}

}  // namespace
}  // namespace krl::retrieval

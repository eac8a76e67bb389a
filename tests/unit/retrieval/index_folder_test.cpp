// An index on disk: complete or not there, and every change of it noticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <kernelrl/values.hpp>
#include <limits>

#include "plugins/files/file.hpp"
#include "plugins/retrieval/index/index_folder.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::retrieval {
namespace {

using ::testing::HasSubstr;

class IndexFolder : public ::testing::Test {
 protected:
  void write(const std::vector<Document>& documents) {
    write_index(folder_, encoder_, documents, std::vector<float>(documents.size() * 2, 0.5f), 2);
  }
  void write_some() {
    write({make_document("a", "row_sum", "sum \xff rows", {{"level", 1}}),
           make_document("b", "", "line\nbreak \"quoted\" \u00e9")});
  }
  std::string problem() const {
    try {
      read_index(folder_);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = files::read_file(folder_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    files::write_file(folder_ / file, {text.replace(at, from.size(), to)});
  }
  std::size_t entries() const {
    const std::filesystem::directory_iterator all(directory_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  const krl::test::TemporaryDirectory directory_;
  const std::filesystem::path folder_ = directory_.path() / "index";
  const EncoderIdentity encoder_{"f1e2d3c4b5a697", "models/minilm"};
};

TEST_F(IndexFolder, ComesBackAsItWas) {
  write_some();
  const StoredIndex index = read_index(folder_);
  EXPECT_EQ(index.encoder.fingerprint, encoder_.fingerprint);
  EXPECT_EQ(index.dimension, 2);
  ASSERT_EQ(index.documents.size(), 2u);
  EXPECT_EQ(index.documents[0].id, "a");
  EXPECT_EQ(index.documents[0].task, "row_sum");
  EXPECT_EQ(index.documents[0].text, "sum \uFFFD rows");
  EXPECT_EQ(index.documents[0].metadata, nlohmann::json({{"level", 1}}));
  EXPECT_EQ(index.documents[1].text, "line\nbreak \"quoted\" \u00e9");
  EXPECT_EQ(index.vectors().size(), 4u);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(IndexFolder, MayBeEmpty) {
  write({});
  EXPECT_TRUE(read_index(folder_).documents.empty());
}

TEST_F(IndexFolder, ReplacesAnOlderOne) {
  write_some();
  write({make_document("c", "", "new")});
  EXPECT_EQ(read_index(folder_).documents.at(0).id, "c");
  EXPECT_EQ(entries(), 1u);  // nothing is left beside it
}

TEST_F(IndexFolder, NeverReplacesWhatIsNoIndex) {
  std::filesystem::create_directory(folder_);
  files::write_file(folder_ / "thesis.tex", {"years of work"});
  try {
    write_some();
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_THAT(failure.what(), HasSubstr("there is something that is not an index"));
  }
  EXPECT_EQ(files::read_file(folder_ / "thesis.tex"), "years of work");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(IndexFolder, IsNotBuiltWithTwoDocumentsOfOneName) {
  const std::vector<Document> twice = {make_document("a", "", "1"), make_document("a", "", "2")};
  EXPECT_THROW(write(twice), Failure);
  EXPECT_EQ(entries(), 0u);
}

TEST_F(IndexFolder, AnotherEncoderIsRefused) {
  write_some();
  const StoredIndex index = read_index(folder_);
  EXPECT_NO_THROW(require_encoder(index, encoder_));
  try {
    require_encoder(index, {"0123456789abcdef", "models/bge"});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_EQ(std::string(failure.what()),
              "the index " + folder_.string() +
                  " was built with another encoder: models/minilm (f1e2d3c4b5a6), not models/bge "
                  "(0123456789ab); name the encoder that it was built with, or build it again");
  }
}

TEST_F(IndexFolder, AMissingOneIsNamed) {
  EXPECT_THAT(problem(), HasSubstr("index: there is no index"));
}

TEST_F(IndexFolder, ChangedFilesAreNamed) {
  write_some();
  replace("documents.jsonl", "row_sum", "row_max");
  EXPECT_THAT(problem(),
              HasSubstr("documents.jsonl: is not the file that manifest.json describes"));
  replace("documents.jsonl", "row_max", "row_sum");
  EXPECT_EQ(problem(), "");
  std::string vectors = files::read_file(folder_ / "vectors.safetensors");
  vectors.resize(vectors.size() - 4);
  files::write_file(folder_ / "vectors.safetensors", {vectors});
  EXPECT_THAT(problem(), HasSubstr("vectors.safetensors: is not the file"));
}

TEST_F(IndexFolder, AnotherVersionIsRefused) {
  write_some();
  replace("manifest.json", "\"version\": 1", "\"version\": 2");
  EXPECT_THAT(problem(), HasSubstr("manifest.json.version: must be 1; build the index again"));
}

TEST_F(IndexFolder, AManifestThatContradictsItsFilesIsRefused) {
  write_some();
  replace("manifest.json", "\"documents\": 2", "\"documents\": 3");
  EXPECT_THAT(problem(), HasSubstr("manifest.json.documents: the file has 2"));
  replace("manifest.json", "\"documents\": 3", "\"documents\": 2");
  replace("manifest.json", "\"dimension\": 2", "\"dimension\": 4");
  EXPECT_THAT(problem(), HasSubstr("tensor 'vectors' is F32 [2, 2], not F32 [2, 4]"));
}

TEST_F(IndexFolder, VectorsMustBeFinite) {
  write_index(folder_, encoder_, {make_document("a", "", "1")},
              std::vector<float>{1, std::numeric_limits<float>::quiet_NaN()}, 2);
  EXPECT_THAT(problem(), HasSubstr("a vector has a value that is not finite"));
}

TEST(IndexDocuments, BrokenLinesAreNamed) {
  const auto problem = [](const std::string& text) -> std::string {
    try {
      documents_from_json_lines(text, "d.jsonl");
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  };
  const std::string good = documents_to_json_lines({make_document("a", "t", "text")});
  EXPECT_EQ(problem(good), "");
  EXPECT_THAT(problem(good + "{"), HasSubstr("d.jsonl:2: not valid JSON"));
  EXPECT_THAT(problem(good + "[]\n"), HasSubstr("d.jsonl:2: must be an object"));
  EXPECT_EQ(problem(good + good), "d.jsonl:2: another document has the id 'a'");
  std::string changed = good;
  EXPECT_EQ(problem(changed.replace(changed.find("\"text\":\"text\""), 13, "\"text\":\"next\"")),
            "d.jsonl:1.hash: is not that of the text; the line was changed");
}

}  // namespace
}  // namespace krl::retrieval

// Reading an encoder's folder: what is understood, and what is refused by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <kernelrl/values.hpp>

#include "plugins/files/file.hpp"
#include "plugins/retrieval/encoder/sentence_model.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::retrieval {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kModels = KERNELRL_SOURCE_DIR "/tests/unit/retrieval/data";

// A copy of a small model, to be changed.
class SentenceModelFolder : public ::testing::Test {
 protected:
  SentenceModelFolder() {
    std::filesystem::copy(kModels / "mean_uncased", folder_,
                          std::filesystem::copy_options::recursive);
  }

  void write(const std::string& file, const std::string& text) {
    files::write_file(folder_ / file, {text});
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) {
    std::string text = files::read_file(folder_ / file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    write(file, text.replace(at, from.size(), to));
  }
  std::string problem() const {
    try {
      read_sentence_model(folder_);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return "";
  }

  const krl::test::TemporaryDirectory directory_;
  const std::filesystem::path folder_ = directory_.path() / "model";
};

TEST_F(SentenceModelFolder, IsReadAsSentenceTransformersDoes) {
  const SentenceModel mean = read_sentence_model(folder_);
  EXPECT_EQ(mean.pooling, Pooling::kMean);
  EXPECT_TRUE(mean.normalised);
  EXPECT_EQ(mean.max_tokens, 24u);
  EXPECT_EQ(mean.config.hidden, 32);
  const SentenceModel cls = read_sentence_model(kModels / "cls_cased");
  EXPECT_EQ(cls.pooling, Pooling::kFirst);
  EXPECT_FALSE(cls.normalised);
  EXPECT_EQ(cls.query_prompt, "the row: ");
  EXPECT_EQ(cls.document_prompt, "");
  EXPECT_FALSE(cls.tokenizer.lower_case());
}

TEST_F(SentenceModelFolder, WithoutModulesVectorsAreMeans) {
  std::filesystem::remove(folder_ / "modules.json");
  EXPECT_EQ(read_sentence_model(folder_).pooling, Pooling::kMean);
  EXPECT_FALSE(read_sentence_model(folder_).normalised);
}

TEST_F(SentenceModelFolder, TheFingerprintIsOfWhatVectorsDependOn) {
  const std::string before = read_sentence_model(folder_).fingerprint;
  EXPECT_EQ(before, read_sentence_model(kModels / "mean_uncased").fingerprint);
  replace("config.json", "\"transformers_version\": \"", "\"transformers_version\": \"9");
  EXPECT_EQ(before, read_sentence_model(folder_).fingerprint);
  replace("sentence_bert_config.json", "24", "23");
  const std::string shorter = read_sentence_model(folder_).fingerprint;
  EXPECT_NE(before, shorter);
  replace("1_Pooling/config.json", "\"pooling_mode_cls_token\": false",
          "\"pooling_mode_cls_token\": true");
  replace("1_Pooling/config.json", "\"pooling_mode_mean_tokens\": true",
          "\"pooling_mode_mean_tokens\": false");
  EXPECT_NE(shorter, read_sentence_model(folder_).fingerprint);
}

TEST_F(SentenceModelFolder, AChangedWeightChangesTheFingerprint) {
  const std::string before = read_sentence_model(folder_).fingerprint;
  std::string weights = files::read_file(folder_ / "model.safetensors");
  weights.back() = static_cast<char>(weights.back() ^ 1);
  write("model.safetensors", weights);
  EXPECT_NE(before, read_sentence_model(folder_).fingerprint);
}

TEST_F(SentenceModelFolder, WhatIsNotSupportedIsNamed) {
  replace("config.json", "\"gelu\"", "\"relu\"");
  EXPECT_THAT(problem(), HasSubstr("config.json.hidden_act: 'relu' is not supported, only gelu"));
  replace("config.json", "\"relu\"", "\"gelu\"");
  replace("1_Pooling/config.json", "\"pooling_mode_max_tokens\": false",
          "\"pooling_mode_max_tokens\": true");
  EXPECT_THAT(problem(), HasSubstr("pooling_mode_max_tokens: true is not supported"));
  replace("1_Pooling/config.json", "\"pooling_mode_max_tokens\": true",
          "\"pooling_mode_max_tokens\": false");
  replace("modules.json", "models.Normalize", "models.Dense");
  EXPECT_THAT(problem(), HasSubstr("module 2 must not be 'sentence_transformers.models.Dense'"));
  replace("modules.json", "models.Dense", "models.Normalize");
  replace("modules.json", "1_Pooling", "../1_Pool");
  EXPECT_THAT(problem(), HasSubstr("must be a folder inside this one"));
}

TEST_F(SentenceModelFolder, ContradictionsAreNamed) {
  replace("config.json", "\"num_attention_heads\": 4", "\"num_attention_heads\": 5");
  EXPECT_THAT(problem(), HasSubstr("num_attention_heads: must divide hidden_size"));
  replace("config.json", "\"num_attention_heads\": 5", "\"num_attention_heads\": 4");
  replace("config.json", "\"vocab_size\": ", "\"vocab_size\": 1, \"was\": ");
  EXPECT_THAT(problem(), HasSubstr("but config.json says that vocab_size is 1"));
}

TEST_F(SentenceModelFolder, MissingFilesAreNamed) {
  std::filesystem::remove(folder_ / "tokenizer.json");
  EXPECT_THAT(problem(), HasSubstr("has neither tokenizer.json nor vocab.txt"));
  std::filesystem::remove(folder_ / "config.json");
  EXPECT_THAT(problem(), HasSubstr("config.json: No such file"));
}

TEST_F(SentenceModelFolder, ATruncatedLengthIsRefused) {
  replace("sentence_bert_config.json", "24", "2");
  EXPECT_THAT(problem(), HasSubstr("max_seq_length is 2, which leaves no room for text"));
  replace("sentence_bert_config.json", "2", "400");
  EXPECT_THAT(problem(), HasSubstr("max_seq_length: must be a whole number from 0 to 40"));
}

}  // namespace
}  // namespace krl::retrieval

// The encoder against sentence-transformers, whose vectors data/make_encoder_fixtures.py recorded:
// small random models of both poolings, and MiniLM where it is installed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/policies/storage/safetensors.hpp"
#include "plugins/retrieval/encoder/text_encoder.hpp"
#include "tests/unit/policies/temporary_directory.hpp"

namespace krl::retrieval {
namespace {

namespace fs = std::filesystem;

const fs::path kData = KERNELRL_SOURCE_DIR "/tests/unit/retrieval/data";

nlohmann::json recorded(const fs::path& path) {
  std::ifstream file(path);
  return nlohmann::json::parse(file);
}

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

float largest_difference(const std::vector<float>& got, const nlohmann::json& rows) {
  float largest = 0;
  std::size_t at = 0;
  for (const auto& row : rows) {
    for (const auto& value : row) {
      largest = std::max(largest, std::abs(got.at(at++) - value.get<float>()));
    }
  }
  EXPECT_EQ(at, got.size());
  return largest;
}

void expect_recorded(const fs::path& model, const fs::path& truth, float tolerance) {
  const nlohmann::json wanted = recorded(truth);
  const auto texts = wanted.at("texts").get<std::vector<std::string>>();
  const SentenceModel described = read_sentence_model(model);
  EXPECT_EQ(described.max_tokens, wanted.at("max_tokens").get<std::size_t>());
  const TextEncoder encoder(described, {.device = "cpu", .threads = 2});
  const auto documents = encoder.encode(views_of(texts), TextRole::kDocument);
  EXPECT_LE(largest_difference(documents, wanted.at("documents")), tolerance);
  if (wanted.contains("queries")) {
    const auto queries = encoder.encode(views_of(texts), TextRole::kQuery);
    EXPECT_LE(largest_difference(queries, wanted.at("queries")), tolerance);
  }
}

TEST(TextEncoder, MeanOfAllTokensNormalised) {
  expect_recorded(kData / "mean_uncased", kData / "mean_uncased/truth.json", 1e-5f);
}

// Values up to 3, as nothing normalises them; the model's queries have a prompt.
TEST(TextEncoder, FirstTokenOfACasedModelWithPrompts) {
  expect_recorded(kData / "cls_cased", kData / "cls_cased/truth.json", 3e-5f);
}

TEST(TextEncoder, MiniLM) {
  const char* named = std::getenv("KERNELRL_MINILM");
  const fs::path model = named != nullptr ? named : KERNELRL_DEPS "/models/minilm";
  if (!fs::exists(model / "model.safetensors")) {
    GTEST_SKIP() << "no model in " << model << "; make one by scripts/get_minilm.sh, or name it "
                 << "in KERNELRL_MINILM";
  }
  expect_recorded(model, kData / "minilm.json", 1e-5f);
}

// 300 texts take several batches; each has the vector that it has alone.
TEST(TextEncoder, CompanyDoesNotMatter) {
  const TextEncoder encoder(read_sentence_model(kData / "mean_uncased"), {});
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 300; ++i) {
    std::string text = "row " + std::to_string(i);
    for (std::size_t word = 0; word < i * 7 % 23; ++word) text += word % 2 == 0 ? " sum" : " max";
    texts.push_back(text);
  }
  std::size_t last = 0;
  const auto together = encoder.encode(views_of(texts), TextRole::kDocument, [&](std::size_t done) {
    EXPECT_GT(done, last);
    last = done;
  });
  EXPECT_EQ(last, texts.size());
  const auto width = static_cast<std::size_t>(encoder.dimension());
  for (std::size_t i = 0; i < texts.size(); i += 13) {
    const auto alone = encoder.encode(texts[i], TextRole::kDocument);
    for (std::size_t k = 0; k < width; ++k) {
      ASSERT_NEAR(alone[k], together[i * width + k], 2e-6f) << texts[i];
    }
  }
}

TEST(TextEncoder, NoTextsNoVectors) {
  const TextEncoder encoder(read_sentence_model(kData / "mean_uncased"), {});
  EXPECT_TRUE(encoder.encode(std::span<const std::string_view>(), TextRole::kDocument).empty());
}

TEST(TextEncoder, ProgressMayStopIt) {
  const TextEncoder encoder(read_sentence_model(kData / "mean_uncased"), {});
  const std::vector<std::string_view> texts = {"a", "b"};
  const auto stop = [](std::size_t) { throw Failure(KRL_CANCELLED, "cancelled"); };
  EXPECT_THROW(encoder.encode(texts, TextRole::kDocument, stop), Failure);
}

std::string refusal_of(const SentenceModel& model, const EncoderOptions& options) {
  try {
    const TextEncoder encoder(model, options);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(TextEncoder, UnknownDevicesAreNamed) {
  const SentenceModel model = read_sentence_model(kData / "mean_uncased");
  EXPECT_EQ(refusal_of(model, {.device = "tpu:x"}),
            "the encoder's device 'tpu:x' is neither cpu nor cuda nor cuda:N");
  EXPECT_EQ(refusal_of(model, {.device = "meta"}),
            "the encoder's device 'meta' is neither cpu nor cuda nor cuda:N");
}

// Half precision and "bert." before the names, as other exports have them.
TEST(TextEncoder, ReadsHalfPrecisionAndPrefixedNames) {
  const krl::test::TemporaryDirectory directory;
  const fs::path folder = directory.path() / "half";
  fs::copy(kData / "mean_uncased", folder, fs::copy_options::recursive);
  const auto original = policies::Safetensors::read(kData / "mean_uncased/model.safetensors");
  std::map<std::string, policies::TensorView> tensors;
  std::map<std::string, std::string> halves;
  for (const auto& [name, view] : original.tensors()) {
    std::string& bytes = halves[name];  // the upper halves of the floats
    for (std::size_t i = 0; i < view.bytes.size(); i += 4) bytes += view.bytes.substr(i + 2, 2);
    tensors["bert." + name] = {"BF16", view.shape, bytes};
  }
  policies::write_safetensors(folder / "model.safetensors", tensors);
  const nlohmann::json wanted = recorded(kData / "mean_uncased/truth.json");
  const auto texts = wanted.at("texts").get<std::vector<std::string>>();
  const SentenceModel model = read_sentence_model(folder);
  EXPECT_NE(model.fingerprint, read_sentence_model(kData / "mean_uncased").fingerprint);
  const TextEncoder encoder(model, {});
  const auto got = encoder.encode(views_of(texts), TextRole::kDocument);
  const float difference = largest_difference(got, wanted.at("documents"));
  EXPECT_GT(difference, 1e-5f);  // other weights
  EXPECT_LT(difference, 0.1f);
}

TEST(TextEncoder, AMissingTensorIsNamed) {
  SentenceModel model = read_sentence_model(kData / "mean_uncased");
  model.config.layers = 3;
  EXPECT_THAT(refusal_of(model, {}), ::testing::HasSubstr("encoder.layer.2"));
}

}  // namespace
}  // namespace krl::retrieval

// A real model, SmolLM2-135M-Instruct, against what transformers computes with it
// (data/make_smollm2_fixture.py): logits, and greedy answers token by token. Skipped where there is
// no model directory; scripts/get_smollm2.sh makes one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/hugging_face_model.hpp"
#include "engine/worker_threads.hpp"
#include "generation/decoder.hpp"
#include "model/parameters.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int32_t>;

struct Expected {
  Tokens prompt, answer;
  std::vector<float> logits;  // after the prompt, of every vocabulary_step-th token; often empty
};

std::vector<Expected> expected_answers(std::int64_t& vocabulary_step) {
  std::ifstream file(KERNELRL_TEST_DATA "/smollm2_greedy.json");
  const auto json = nlohmann::json::parse(file);
  vocabulary_step = json.at("vocabulary_step").get<std::int64_t>();
  std::vector<Expected> all;
  for (const auto& entry : json.at("prompts")) {
    all.push_back({entry.at("prompt").get<Tokens>(), entry.at("answer").get<Tokens>(),
                   entry.value("logits", std::vector<float>())});
  }
  return all;
}

std::int32_t likeliest(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

// The greedy answer to one prompt, and the logits after the prompt.
class Answer {
 public:
  Answer(Decoder& decoder, const ModelConfig& config, const Expected& expected)
      : decoder_(decoder),
        cache_(config, static_cast<std::int64_t>(expected.prompt.size() + expected.answer.size())) {
    const auto logits = read(expected.prompt);
    first_logits.assign(logits.begin(), logits.end());
    tokens.push_back(likeliest(first_logits));
    while (tokens.size() < expected.answer.size())
      tokens.push_back(likeliest(read({tokens.back()})));
  }

  std::vector<float> first_logits;
  Tokens tokens;

 private:
  // Reads tokens into the cache; the logits after the last.
  std::span<const float> read(const Tokens& more) {
    std::span<const float> logits;
    for (std::size_t begin = 0; begin < more.size(); begin += Decoder::kRows) {
      const std::size_t end = std::min(more.size(), begin + Decoder::kRows);
      std::vector<DecoderRow> rows;
      for (std::size_t i = begin; i < end; ++i, ++length_) {
        rows.push_back({more[i], length_, nullptr, 0, &cache_, length_});
      }
      logits = decoder_.run(rows, 1);
    }
    return logits;
  }

  Decoder& decoder_;
  KeyValueCache cache_;
  std::int64_t length_ = 0;
};

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* named = std::getenv("KERNELRL_SMOLLM2");
    directory_ =
        named != nullptr ? fs::path(named) : fs::path(KERNELRL_DEPS) / "models" / "smollm2";
    if (!fs::exists(directory_ / "config.json")) {
      GTEST_SKIP() << "skipped: no model in " << directory_
                   << "; make one by scripts/get_smollm2.sh, or name it in KERNELRL_SMOLLM2";
    }
  }
  fs::path directory_;
};

TEST_F(SmolLm2, AnswersAsTransformersDoes) {
  std::int64_t vocabulary_step = 0;
  const std::vector<Expected> all = expected_answers(vocabulary_step);
  ASSERT_EQ(all.size(), 200u);
  DecoderWeights weights;
  {
    const HuggingFaceModel model = load_hugging_face_model(directory_);
    pack_weights(ParameterLayout(model.config), model.weights, weights);
  }
  std::atomic<std::size_t> next{0}, logits_seen{0};
  std::mutex one_failure_at_a_time;
  WorkerThreads threads(0, [] {});
  threads.run(
      [&](int, const std::atomic<bool>&) {
        Decoder decoder(weights);
        for (std::size_t i = next++; i < all.size(); i = next++) {
          const Answer answer(decoder, weights.config, all[i]);
          const std::lock_guard lock(one_failure_at_a_time);
          EXPECT_EQ(answer.tokens, all[i].answer) << "prompt " << i;
          for (std::size_t k = 0; k < all[i].logits.size(); ++k, ++logits_seen) {
            const std::size_t token = k * static_cast<std::size_t>(vocabulary_step);
            EXPECT_NEAR(answer.first_logits[token], all[i].logits[k], 1e-4)
                << "prompt " << i << ", token " << token;
          }
        }
      },
      [] {});
  EXPECT_GT(logits_seen, 5000u);
}

}  // namespace
}  // namespace krl::libtorch

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

#include "plugins/policies/libtorch/base/worker_threads.hpp"
#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"
#include "plugins/policies/libtorch/generation/decoder.hpp"
#include "plugins/policies/libtorch/model/parameters.hpp"

namespace krl::libtorch {
namespace {

namespace fs = std::filesystem;
using Tokens = std::vector<std::int32_t>;

struct Expected {
  Tokens prompt, answer;
  std::vector<float> logits;  // after the prompt, of every vocabulary_step-th token; often empty
};

std::vector<Expected> expected_answers(std::int64_t& vocabulary_step) {
  std::ifstream file(KERNELRL_SOURCE_DIR "/tests/unit/policies/data/smollm2_greedy.json");
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

// What all prompts begin with, read once.
struct SharedStart {
  SharedStart(const DecoderWeights& weights, const std::vector<Expected>& all)
      : length(common_length(all)), cache(weights.config, length) {
    Decoder decoder(weights);
    for (std::int64_t i = 0; i < length; ++i) {
      const DecoderRow row{all[0].prompt[static_cast<std::size_t>(i)], i, nullptr, 0, &cache, i};
      decoder.run({&row, 1}, 1);
    }
  }

  static std::int64_t common_length(const std::vector<Expected>& all) {
    std::size_t length = all[0].prompt.size();
    for (const Expected& other : all) {
      const auto end = std::mismatch(all[0].prompt.begin(),
                                     all[0].prompt.begin() + static_cast<std::ptrdiff_t>(length),
                                     other.prompt.begin(), other.prompt.end());
      length = static_cast<std::size_t>(end.first - all[0].prompt.begin());
    }
    return static_cast<std::int64_t>(length);
  }

  std::int64_t length;
  KeyValueCache cache;
};

// A greedy answer as it grows, and the logits after the prompt.
struct GreedyAnswer {
  GreedyAnswer(const ModelConfig& config, const SharedStart& start, const Expected& expected)
      : start(start),
        expected(expected),
        cache(config, static_cast<std::int64_t>(expected.prompt.size() + expected.answer.size())) {}

  // The row that reads the next token, of the prompt or of the answer.
  DecoderRow next_row() {
    const std::int64_t position = start.length + length;
    const auto at = static_cast<std::size_t>(position);
    const std::int32_t token =
        at < expected.prompt.size() ? expected.prompt[at] : tokens[at - expected.prompt.size()];
    return {token, position, &start.cache, start.length, &cache, length++};
  }
  bool finished() const { return tokens.size() == expected.answer.size(); }

  const SharedStart& start;
  const Expected& expected;
  KeyValueCache cache;
  std::int64_t length = 0;  // tokens in `cache`
  std::vector<float> first_logits;
  Tokens tokens;
};

// Reads the prompt but for its start.
void read_prompt(Decoder& decoder, GreedyAnswer& answer) {
  std::span<const float> logits;
  auto left = static_cast<std::int64_t>(answer.expected.prompt.size()) - answer.start.length;
  while (left > 0) {
    std::vector<DecoderRow> rows;
    for (; left > 0 && rows.size() < Decoder::kRows; --left) rows.push_back(answer.next_row());
    logits = decoder.run(rows, 1);
  }
  answer.first_logits.assign(logits.begin(), logits.end());
  answer.tokens.push_back(likeliest(logits));
}

// One more token for each answer that is not finished; false if there was none.
bool grow(Decoder& decoder, std::vector<GreedyAnswer>& answers, std::size_t vocabulary) {
  std::vector<DecoderRow> rows;
  std::vector<GreedyAnswer*> growing;
  for (GreedyAnswer& answer : answers) {
    if (answer.finished()) continue;
    rows.push_back(answer.next_row());
    growing.push_back(&answer);
  }
  if (rows.empty()) return false;
  const auto logits = decoder.run(rows, static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < growing.size(); ++i) {
    growing[i]->tokens.push_back(likeliest(logits.subspan(i * vocabulary, vocabulary)));
  }
  return true;
}

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
    pack_weights(ParameterLayout(model.config), model.weights.floats(), weights);
  }
  const SharedStart start(weights, all);
  constexpr std::size_t kTogether = 50;
  std::atomic<std::size_t> next{0}, logits_seen{0};
  std::mutex one_failure_at_a_time;
  const auto compare = [&](const GreedyAnswer& answer) {
    const std::lock_guard lock(one_failure_at_a_time);
    const Expected& expected = answer.expected;
    EXPECT_EQ(answer.tokens, expected.answer) << "prompt " << &expected - all.data();
    for (std::size_t k = 0; k < expected.logits.size(); ++k, ++logits_seen) {
      const std::size_t token = k * static_cast<std::size_t>(vocabulary_step);
      EXPECT_NEAR(answer.first_logits[token], expected.logits[k], 1e-4)
          << "prompt " << &expected - all.data() << ", token " << token;
    }
  };
  WorkerThreads threads(0, [] {});
  threads.run(
      [&](int, const std::atomic<bool>&) {
        Decoder decoder(weights);
        for (std::size_t begin = (next += kTogether) - kTogether; begin < all.size();
             begin = (next += kTogether) - kTogether) {
          std::vector<GreedyAnswer> answers;
          for (std::size_t i = begin; i < std::min(all.size(), begin + kTogether); ++i) {
            answers.emplace_back(weights.config, start, all[i]);
            read_prompt(decoder, answers.back());
          }
          while (grow(decoder, answers, static_cast<std::size_t>(weights.config.vocabulary))) {
          }
          for (const GreedyAnswer& answer : answers) compare(answer);
        }
      },
      [] {});
  EXPECT_GT(logits_seen, 5000u);
}

}  // namespace
}  // namespace krl::libtorch

// What transformers computed for small random models (data/make_model_fixtures.py), and the check
// that a device computes the same in float32.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "plugins/policies/libtorch/engine/hugging_face_model.hpp"
#include "plugins/policies/libtorch/model/hugging_face_names.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "plugins/policies/storage/safetensors.hpp"
#include "tests/unit/policies/packed_sequence.hpp"
#include "tests/unit/policies/recording_host.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

inline constexpr const char* kTruthModels[] = {"llama", "llama3_untied", "qwen2", "qwen3"};

// Where the fixtures are: in the checkout that was built, or, on another machine, in the one that
// the test is started in.
inline std::filesystem::path truth_folder() {
  const std::filesystem::path folder = "tests/unit/policies/data/models";
  const auto built = std::filesystem::path(KERNELRL_SOURCE_DIR) / folder;
  return std::filesystem::exists(built) ? built : folder;
}

using MakeOperations = std::function<std::unique_ptr<const Operations>(const ModelConfig&)>;

struct ModelTruth {
  explicit ModelTruth(const std::string& name)
      : folder(truth_folder() / name),
        model(load_hugging_face_model(folder)),
        layout(model.config) {
    const auto file = Safetensors::read(folder / "truth.safetensors");
    const auto copy = [&](const TensorView& view, void* to) {
      std::memcpy(to, view.bytes.data(), view.bytes.size());
    };
    tokens.resize(file.tensors().at("tokens").bytes.size() / sizeof(std::int32_t));
    const auto length = static_cast<std::int64_t>(tokens.size());
    copy(file.get("tokens", "I32", {length}), tokens.data());
    logits = at::empty({length, model.config.vocabulary}, at::kFloat);
    copy(file.get("logits", "F32", {length, model.config.vocabulary}), logits.mutable_data_ptr());
    gradient = at::empty({layout.total}, at::kFloat);
    for (const NamedRows& rows : hugging_face_names(layout)) {
      const TensorView& view = file.get("gradient." + rows.name, "F32", rows.shape);
      copy(view, gradient.mutable_data_ptr<float>() + rows.offset);
    }
  }

  std::filesystem::path folder;
  HuggingFaceModel model;
  ParameterLayout layout;
  std::vector<std::int32_t> tokens;
  at::Tensor logits;    // [tokens, vocabulary]
  at::Tensor gradient;  // [layout.total], of the mean cross-entropy of all tokens but the first
};

// [tokens, vocabulary], of a model with the flat `weights`.
inline at::Tensor logits_of(const ParameterLayout& layout, const std::vector<float>& weights,
                            const std::vector<std::int32_t>& tokens, const Operations& operations,
                            at::ScalarType compute) {
  const at::NoGradGuard no_grad;
  const PackedBatch batch = packed_sequence(tokens, operations.device());
  const auto values = at::tensor(weights).to(operations.device(), compute);
  const auto parameters = bind_parameters(layout, operations, values, {});
  const auto hidden = last_hidden(operations, parameters, angle_table(operations, compute), batch);
  return at::mm(hidden, parameters.head.value.t()).to(at::kCPU, at::kFloat);
}

inline at::Tensor logits_of(const ModelTruth& truth, const Operations& operations,
                            at::ScalarType compute) {
  return logits_of(truth.layout, truth.model.weights.floats(), truth.tokens, operations, compute);
}

inline void expect_logits_of_truth(const std::string& name, const MakeOperations& make) {
  const ModelTruth truth(name);
  const auto logits = logits_of(truth, *make(truth.model.config), at::kFloat);
  EXPECT_LT((logits - truth.logits).abs().max().item<double>(), 1e-4);
}

inline void expect_gradient_of_truth(const std::string& name, const MakeOperations& make) {
  const ModelTruth truth(name);
  WorkerThreads threads(1, [] { at::set_num_threads(1); });
  Trainer trainer(truth.layout, truth.model.weights, make(truth.model.config), {}, threads);
  test::ExampleList examples;
  examples.add({{truth.tokens[0]}, {truth.tokens.begin() + 1, truth.tokens.end()}});
  test::RecordingContext context;
  const test::LossSpec loss("cross_entropy", static_cast<double>(truth.tokens.size() - 1));
  trainer.forward_backward(parse_loss(loss), examples, context);
  const auto gradient = trainer.gradient().cpu();
  for (const NamedRows& rows : hugging_face_names(truth.layout)) {
    const auto expected = truth.gradient.narrow(0, rows.offset, rows.size);
    const auto difference = gradient.narrow(0, rows.offset, rows.size) - expected;
    EXPECT_LT(difference.norm().item<double>(), 1e-3 * expected.norm().item<double>()) << rows.name;
  }
}

// 50 steps of AdamW over sequences of unequal lengths, split into micro-batches: the losses and
// the norms of the gradient as a loop in PyTorch has them.
inline void expect_losses_of_pytorch(const MakeOperations& make) {
  const ModelTruth truth("llama");
  std::ifstream file(truth.folder / "training.json");
  const auto run = nlohmann::json::parse(file);
  WorkerThreads threads(2, [] { at::set_num_threads(1); });
  Trainer trainer(truth.layout, truth.model.weights, make(truth.model.config),
                  {.micro_batch_tokens = 40}, threads);
  test::ExampleList examples;
  std::size_t answer_tokens = 0;
  for (const auto& sequence : run["sequences"]) {
    const auto tokens = sequence.get<std::vector<std::int32_t>>();
    const auto answer = tokens.begin() + run["prompt_tokens"].get<int>();
    examples.add({{tokens.begin(), answer}, {answer, tokens.end()}});
    answer_tokens += static_cast<std::size_t>(tokens.end() - answer);
  }
  krl_optimizer optimizer = test::adamw(run["lr"], run["grad_clip"]);
  optimizer.beta1 = run["beta1"];
  optimizer.beta2 = run["beta2"];
  optimizer.weight_decay = run["weight_decay"];
  test::RecordingContext context;
  const test::LossSpec loss("cross_entropy", static_cast<double>(answer_tokens));
  ASSERT_EQ(run["losses"].size(), 50u);
  for (std::size_t step = 0; step < run["losses"].size(); ++step) {
    const double got = trainer.forward_backward(parse_loss(loss), examples, context).loss;
    EXPECT_NEAR(got, run["losses"][step].get<double>(), 1e-3) << "step " << step;
    const double norm = run["grad_norms"][step];
    EXPECT_NEAR(trainer.optimizer_step(optimizer), norm, 1e-3 * std::max(1.0, norm));
  }
}

}  // namespace krl::libtorch

// Adapters of low rank: their gradient against finite differences and against that of the dense
// model, and that adding them in changes nothing.
#include <gtest/gtest.h>

#include "plugins/policies/libtorch/model/lora.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {
namespace {

using namespace policies;  // losses

using namespace krl::test;

class LoraTest : public ::testing::Test {
 protected:
  LoraTest() : threads_(2, [] { at::set_num_threads(1); }) {
    lora_ = {.rank = 3, .alpha = 5, .seed = 9};
    for (int i = 0; i < 8; ++i) {
      ExampleValues values;
      for (int t = 0; t < 3 + i % 4; ++t) values.prompt.push_back((7 * i + t) % 30);
      for (int t = 0; t < 4 + 3 * (i % 5); ++t) {
        values.tokens.push_back((5 * i + 3 * t) % 30);
        values.logprobs.push_back(-3.4f + 0.05f * static_cast<float>((i + t) % 5));
        values.advantages.push_back((i + t) % 3 == 0 ? -1.0f : 0.7f);
      }
      examples_.add(std::move(values));
    }
  }

  Trainer trainer(const std::optional<LoraOptions>& lora, bool recompute = false,
                  std::int64_t micro_batch = 1 << 20) {
    const ParameterLayout layout(config_);
    return Trainer(layout, initial_weights(layout, 3), make_cpu_operations(config_),
                   {.compute = at::kDouble,
                    .micro_batch_tokens = micro_batch,
                    .recompute = recompute,
                    .lora = lora},
                   threads_);
  }

  // Adapters of which nothing is zero.
  Trainer trained(bool recompute = false, std::int64_t micro_batch = 1 << 20) {
    Trainer result = trainer(lora_, recompute, micro_batch);
    TrainerState state = result.state();
    state.weights = state.weights + 0.2 * at::sin(at::arange(state.weights.numel()) + 1);
    result.restore(state);
    return result;
  }

  at::Tensor gradient_of(Trainer trainer) {
    trainer.forward_backward(loss_, examples_, context_);
    return trainer.gradient().clone();
  }

  std::vector<std::vector<float>> logprobs(Trainer trainer) {
    LogprobCollector collector;
    trainer.logprobs(0.8, examples_, collector, context_);
    std::vector<std::vector<float>> all;
    for (const auto& [example, values] : collector.logprobs) all.push_back(values);
    return all;
  }

  void expect_finite_differences() {
    Trainer t = trained();
    t.forward_backward(loss_, examples_, context_);
    const at::Tensor weights = t.state().weights.clone(), gradient = t.gradient().clone();
    const auto loss_at = [&](const at::Tensor& at) {
      Trainer other = trainer(lora_);
      TrainerState state = other.state();
      state.weights = at;
      other.restore(state);
      return other.forward_backward(loss_, examples_, context_).loss;
    };
    for (const ParameterSlot& slot : t.slots()) {
      const at::Tensor direction = at::zeros_like(weights);
      for (std::int64_t i = 0; i < slot.size; ++i) {
        direction[slot.offset + i] = std::sin(static_cast<double>(i + 1));
      }
      constexpr double kStep = 1e-6;
      const double difference =
          (loss_at(weights + kStep * direction) - loss_at(weights - kStep * direction)) /
          (2 * kStep);
      const double expected = (gradient * direction).sum().item<double>();
      EXPECT_NEAR(expected, difference, 1e-6 * std::max(1.0, std::abs(difference))) << slot.name;
    }
  }

  ModelConfig config_ = smallest_config();
  LoraOptions lora_;
  WorkerThreads threads_;
  ExampleList examples_;
  RecordingContext context_;
  LossOptions loss_ = parse_loss(
      LossSpec("ppo", 60, {{"clip_low", 0.9}, {"clip_high", 5}, {"kl", 0.5}, {"entropy", 0.1}},
               KRL_TOKEN_MEAN, 1.3));
  const LossOptions supervised_ = parse_loss(LossSpec("cross_entropy", 60));
};

TEST_F(LoraTest, GradientAgreesWithFiniteDifferences) { expect_finite_differences(); }

TEST_F(LoraTest, GradientWithDropoutAgreesWithFiniteDifferences) {
  lora_.dropout = 0.3;
  lora_.targets = {"q_proj", "v_proj", "down_proj"};
  loss_ = supervised_;
  expect_finite_differences();
}

// With y = x·(W + s·B·A)ᵀ: dA = s·Bᵀ·dW and dB = s·dW·Aᵀ, dW being the gradient of the dense model
// that has the adapters added in.
TEST_F(LoraTest, GradientFollowsFromThatOfTheDenseModel) {
  const LossOptions loss = parse_loss(LossSpec("cross_entropy", 60));
  Trainer with = trained(), dense = trainer(std::nullopt);
  TrainerState state = dense.state();
  state.weights = with.merged();
  dense.restore(state);
  with.forward_backward(loss, examples_, context_);
  dense.forward_backward(loss, examples_, context_);
  const auto by_weights = parameter_views(dense.layout(), dense.gradient());
  const LoraLayout& layout = *with.lora();
  const auto view = [&](const at::Tensor& flat, std::size_t slot) {
    const ParameterSlot& s = layout.slots[slot];
    return flat.narrow(0, s.offset, s.size).view(s.shape);
  };
  const at::Tensor& weights = with.state().weights;
  for (const LoraPair& pair : layout.pairs) {
    const auto by = by_weights[base_slot(dense.layout(), pair)]
                        .narrow(0, pair.first_row, pair.rows)
                        .mul(layout.options.scale());
    const auto expect_equal = [&](const at::Tensor& got, const at::Tensor& wanted,
                                  std::size_t slot) {
      EXPECT_LT((got - wanted).abs().max().item<double>(), 1e-12) << layout.slots[slot].name;
    };
    expect_equal(view(with.gradient(), pair.a), at::mm(view(weights, pair.b).t(), by), pair.a);
    expect_equal(view(with.gradient(), pair.b), at::mm(by, view(weights, pair.a).t()), pair.b);
  }
}

TEST_F(LoraTest, AddedInTheyGiveTheSameModel) {
  Trainer with = trained(), dense = trainer(std::nullopt);
  TrainerState state = dense.state();
  state.weights = with.merged();
  dense.restore(state);
  const auto expected = logprobs(std::move(dense));
  const auto got = logprobs(std::move(with));
  ASSERT_EQ(got.size(), examples_.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].size(), expected[i].size());
    for (std::size_t t = 0; t < got[i].size(); ++t) EXPECT_NEAR(got[i][t], expected[i][t], 1e-6);
  }
}

TEST_F(LoraTest, AtTheStartTheyDoNothing) {
  EXPECT_EQ(logprobs(trainer(lora_)), logprobs(trainer(std::nullopt)));
}

// As without adapters: what a supervised stage has taught them is not pulled back.
TEST_F(LoraTest, TheReferenceIsTheModelThatReinforcementBeganWith) {
  const LossOptions with_kl = parse_loss(LossSpec("ppo", 60, {{"kl", 1}}));
  Trainer t = trainer(lora_);
  t.forward_backward(parse_loss(LossSpec("cross_entropy", 60)), examples_, context_);
  t.optimizer_step(adamw(0.01));
  const at::Tensor taught = t.state().weights.clone();
  EXPECT_NEAR(t.forward_backward(with_kl, examples_, context_).kl, 0, 1e-15);
  t.optimizer_step(adamw(0.01));
  EXPECT_GT(t.forward_backward(with_kl, examples_, context_).kl, 1e-5);
  EXPECT_TRUE(at::equal(t.state().reference, taught));
}

// The policy that learns is the one that sampled, whatever dropout supervised stages have.
TEST_F(LoraTest, ReinforcementHasNoDropout) {
  const LossOptions tis = parse_loss(LossSpec("ppo", 60, {{"tis", 2}}));
  const at::Tensor plain = gradient_of(trained());
  lora_.dropout = 0.5;
  EXPECT_TRUE(at::equal(gradient_of(trained()), plain));
  Trainer t = trained();
  t.forward_backward(tis, examples_, context_);
  t.optimizer_step(adamw(0));  // θ_old is now computed, by the weights from before the step
  EXPECT_NEAR(t.forward_backward(tis, examples_, context_).clip_fraction, 0, 1e-15);
}

TEST_F(LoraTest, OnlyTheAdaptersLearn) {
  Trainer t = trained();
  const auto before = t.weights();
  EXPECT_EQ(static_cast<std::size_t>(t.gradient().numel()),
            static_cast<std::size_t>(t.lora()->total));
  t.forward_backward(loss_, examples_, context_);
  t.optimizer_step(adamw(0.01));
  const auto after = t.weights();
  const ParameterLayout& layout = t.layout();
  for (std::size_t slot = 0; slot < layout.slots.size(); ++slot) {
    const auto [name, shape, offset, size, deviation, start] = layout.slots[slot];
    const bool same =
        std::equal(before.begin() + offset, before.begin() + offset + size, after.begin() + offset);
    const bool adapted = name.find("layers.") == 0 && name.find("norm") == std::string::npos;
    EXPECT_EQ(same, !adapted) << name;
  }
}

TEST_F(LoraTest, MicroBatchesAndRecomputingDoNotChangeTheGradient) {
  const at::Tensor whole = gradient_of(trained());
  for (const std::int64_t micro_batch : {100, 50, 1}) {
    const at::Tensor split = gradient_of(trained(/*recompute=*/false, micro_batch));
    EXPECT_LT((split - whole).abs().max().item<double>(), 1e-12);
  }
  loss_ = supervised_;
  const at::Tensor supervised = gradient_of(trained());
  lora_.dropout = 0.5;  // masks are the same when a block is computed again
  const at::Tensor with_dropout = gradient_of(trained());
  EXPECT_GT((with_dropout - supervised).abs().max().item<double>(), 1e-6);
  EXPECT_TRUE(at::equal(gradient_of(trained(/*recompute=*/true)), with_dropout));
  EXPECT_TRUE(at::equal(gradient_of(trained()), with_dropout));
  lora_.seed = 10;
  EXPECT_FALSE(at::equal(gradient_of(trained()), with_dropout));
}

TEST_F(LoraTest, NamesAndStartAreThoseOfPeft) {
  lora_.targets = {"q_proj", "v_proj"};
  const LoraLayout layout(config_, lora_);
  ASSERT_EQ(layout.slots.size(), 8u);
  EXPECT_EQ(layout.slots[1].name, "base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight");
  EXPECT_EQ(layout.slots[3].shape, (std::vector<std::int64_t>{8, 3}));
  EXPECT_EQ(layout.pairs[1].first_row, 24);  // behind 16 rows of queries and 8 of keys
  const auto start = initial_adapters(layout);
  const double bound = 1 / std::sqrt(16.0);
  double largest = 0;
  for (const ParameterSlot& slot : layout.slots) {
    for (std::int64_t i = 0; i < slot.size; ++i) {
      const double value = start[static_cast<std::size_t>(slot.offset + i)];
      EXPECT_LE(std::abs(value), bound);
      if (slot.name.find("lora_B") != std::string::npos) {
        EXPECT_EQ(value, 0);
      }
      largest = std::max(largest, std::abs(value));
    }
  }
  EXPECT_GT(largest, 0.9 * bound);
}

TEST_F(LoraTest, BadOptionsAreRefusedByName) {
  const auto refusal = [&](const LoraOptions& options) {
    try {
      LoraLayout(config_, options);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(refusal({.rank = 0}), "lora.rank is 0"));
  EXPECT_TRUE(says(refusal({.alpha = -1}), "lora.alpha"));
  EXPECT_TRUE(says(refusal({.dropout = 1}), "lora.dropout"));
  EXPECT_TRUE(says(refusal({.targets = {}}), "lora.targets is empty"));
  EXPECT_TRUE(says(refusal({.targets = {"q_prj"}}), "did you mean 'q_proj'"));
  EXPECT_TRUE(says(refusal({.targets = {"q_proj", "q_proj"}}), "twice"));
}

}  // namespace
}  // namespace krl::libtorch

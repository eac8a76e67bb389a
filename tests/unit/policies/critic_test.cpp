// The critic: its gradient, through its own weights and the policy's, and that it learns.
#include <gtest/gtest.h>

#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {
namespace {

using namespace policies;  // losses

using namespace krl::test;

class CriticTest : public ::testing::Test {
 protected:
  CriticTest() : threads_(2, [] { at::set_num_threads(1); }) {
    for (int i = 0; i < 6; ++i) {
      ExampleValues v{{i, i + 1, i + 2}, {}};
      for (int t = 0; t < 4 + 2 * i; ++t) {
        v.tokens.push_back((5 * i + 3 * t) % 30);
        v.logprobs.push_back(-3.4f);
        v.advantages.push_back((i + t) % 3 == 0 ? -1.0f : 0.7f);
        // Inside and outside what clipping lets through.
        v.values.push_back(0.1f * static_cast<float>(t % 4) - 0.1f);
        v.returns.push_back(0.3f * static_cast<float>((i + t) % 3));
      }
      examples_.add(std::move(v));
    }
  }

  Trainer trainer(std::optional<CriticOptions> critic = CriticOptions{},
                  std::optional<LoraOptions> lora = std::nullopt) {
    const ParameterLayout layout(config_);
    return Trainer(layout, initial_weights(layout, 3), make_cpu_operations(config_),
                   {.compute = at::kDouble, .lora = std::move(lora), .critic = critic}, threads_);
  }
  Trainer attached(const std::optional<LoraOptions>& lora) {
    return trainer(CriticOptions{.detach = false}, lora);
  }

  // The gradient where the critic's numbers are not zero.
  at::Tensor gradient_of(Trainer t, double value_weight = 0.7) {
    TrainerState state = t.state();
    state.weights = state.weights + 0.05 * at::sin(at::arange(state.weights.numel()) + 1);
    t.restore(state);
    const LossSpec loss("ppo", 60, {{"clip_high", 5}, {"value_weight", value_weight}});
    t.forward_backward(parse_loss(loss), examples_, context_);
    return t.gradient().clone();
  }

  double loss_at(const at::Tensor& weights, const std::optional<LoraOptions>& lora) {
    Trainer t = attached(lora);
    TrainerState state = t.state();
    state.weights = weights;
    t.restore(state);
    return t.forward_backward(parse_loss(loss_), examples_, context_).loss;
  }

  void expect_finite_differences(const std::optional<LoraOptions>& lora) {
    Trainer t = attached(lora);
    TrainerState state = t.state();
    state.weights = state.weights + 0.05 * at::sin(at::arange(state.weights.numel()) + 1);
    t.restore(state);
    t.forward_backward(parse_loss(loss_), examples_, context_);
    const at::Tensor weights = t.state().weights.clone();
    ASSERT_EQ(t.slots().back().name, "critic.bias");
    for (const ParameterSlot& slot : t.slots()) {
      const at::Tensor direction = at::zeros_like(weights);
      for (std::int64_t i = 0; i < slot.size; ++i) {
        direction[slot.offset + i] = std::sin(static_cast<double>(i + 1));
      }
      constexpr double kStep = 1e-6;
      const double difference = (loss_at(weights + kStep * direction, lora) -
                                 loss_at(weights - kStep * direction, lora)) /
                                (2 * kStep);
      const double expected = (t.gradient() * direction).sum().item<double>();
      EXPECT_NEAR(expected, difference, 1e-6 * std::max(1.0, std::abs(difference))) << slot.name;
    }
  }

  ModelConfig config_ = smallest_config();
  WorkerThreads threads_;
  ExampleList examples_;
  RecordingContext context_;
  LossSpec loss_{"ppo", 60, {{"clip_high", 5}, {"value_weight", 0.7}, {"value_clip", 0.2}}};
};

TEST_F(CriticTest, GradientAgreesWithFiniteDifferences) {
  expect_finite_differences(std::nullopt);
  expect_finite_differences(LoraOptions{.rank = 2, .alpha = 4});
}

TEST_F(CriticTest, AtTheStartEveryStateIsWorthNothingAndThePolicyIsAsWithout) {
  Trainer with = trainer(), without = trainer(std::nullopt);
  CriticCollector values;
  with.values(examples_, values, context_);
  ASSERT_EQ(values.values.size(), examples_.size());
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    EXPECT_EQ(values.values[i], std::vector<float>(examples_[i].tokens.size(), 0.0f));
  }
  EXPECT_EQ(with.weights(), without.weights());
}

// As on a GPU, where the model computes in bfloat16.
TEST_F(CriticTest, IsOfFloat32BesideAModelOfBFloat16) {
  const ParameterLayout layout(config_);
  const auto operations = make_cpu_operations(config_);
  const std::vector<float> weights = initial_weights(layout, 3);
  LearnedModel model(layout, weights, std::nullopt, CriticOptions{}, *operations, at::kBFloat16);
  const at::Tensor learned = model.start(weights);
  constexpr float kFine = 1 + 0x1p-12F;  // 1 in bfloat16
  learned.narrow(0, model.policy_total(), config_.hidden + 1).fill_(kFine);
  model.update(learned);
  const DecoderParameters parameters = model.bind(model.working(), {});
  EXPECT_EQ(parameters.head.value.scalar_type(), at::kBFloat16);
  EXPECT_EQ(parameters.critic_weight.value.scalar_type(), at::kFloat);
  EXPECT_EQ(parameters.critic_bias.value.scalar_type(), at::kFloat);
  const at::Tensor hidden = at::ones({1, config_.hidden}, at::kBFloat16);
  const at::Tensor values = critic_values(parameters, hidden);
  EXPECT_EQ(values.scalar_type(), at::kFloat);
  const auto terms = static_cast<float>(config_.hidden + 1);
  EXPECT_EQ(values.item<float>(), terms * kFine) << "nothing was rounded";
}

TEST_F(CriticTest, LearnsTheReturns) {
  Trainer t = trainer(CriticOptions{.lr = 1e-2});
  const LossSpec loss("ppo", 60, {{"value_weight", 1}, {"value_clip", 0}});
  double first = 0, last = 0;
  for (int step = 0; step < 60; ++step) {
    last = t.forward_backward(parse_loss(loss), examples_, context_).value_loss;
    if (step == 0) first = last;
    t.optimizer_step(adamw(0));  // of the policy: it stays
  }
  EXPECT_GT(first, 0.01);
  EXPECT_LT(last, 0.5 * first);
}

TEST_F(CriticTest, DetachedItLeavesThePolicyAlone) {
  const at::Tensor detached = gradient_of(trainer()), attached = gradient_of(this->attached({}));
  const at::Tensor without = gradient_of(this->attached({}), 0);
  const std::int64_t policy = ParameterLayout(config_).total, critic = config_.hidden + 1;
  const auto of_policy = [&](const at::Tensor& flat) { return flat.narrow(0, 0, policy); };
  EXPECT_TRUE(at::allclose(of_policy(detached), of_policy(without), 0, 1e-14));
  EXPECT_FALSE(at::allclose(of_policy(attached), of_policy(without), 0, 1e-6));
  EXPECT_TRUE(at::equal(detached.narrow(0, policy, critic), attached.narrow(0, policy, critic)));
}

TEST_F(CriticTest, ItsLearningRateIsItsOwn) {
  Trainer t = trainer(CriticOptions{.lr = 1e-3});
  const at::Tensor before = t.state().weights.clone();
  t.forward_backward(parse_loss(loss_), examples_, context_);
  t.optimizer_step(adamw(0));
  const at::Tensor moved = (t.state().weights - before).abs();
  const std::int64_t policy = t.layout().total;
  EXPECT_EQ(moved.narrow(0, 0, policy).max().item<double>(), 0);
  // The first step of AdamW is as long as the learning rate, whatever the gradient.
  EXPECT_NEAR(moved.narrow(0, policy, moved.numel() - policy).max().item<double>(), 1e-3, 1e-6);
}

TEST_F(CriticTest, ReturnsWithoutACriticAreRefused) {
  Trainer t = trainer(std::nullopt);
  try {
    t.forward_backward(parse_loss(loss_), examples_, context_);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_NE(std::string(failure.what()).find("no critic"), std::string::npos);
  }
}

}  // namespace
}  // namespace krl::libtorch

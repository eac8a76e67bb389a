// The policy as a whole, through its primitives: training agrees with sampling, with finite
// differences and with itself, and bad input is an error.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "plugins/policies/libtorch/engine/local_policy.hpp"
#include "plugins/policies/libtorch/torch.hpp"
#include "plugins/policies/libtorch/training/trainer.hpp"
#include "plugins/policies/tokenizer/scratch_tokenizer.hpp"
#include "tests/unit/policies/recording_host.hpp"
#include "tests/unit/policies/temporary_directory.hpp"
#include "tests/unit/policies/tiny_model.hpp"

namespace krl::libtorch {

using namespace policies;  // tokenizer, storage

namespace {

using namespace krl::test;

void fit_tokenizer(TrainablePolicy& policy, std::uint64_t seed = 1) {
  RecordingContext context;
  const std::string text = "the quick brown fox jumps over the lazy dog\nthe end of the text\n";
  const std::vector<krl_str> texts = {to_c(text), to_c(text)};
  policy.fit(texts, seed, context);
}

std::map<std::pair<std::uint32_t, std::uint32_t>, KeptSample> seven_samples(
    TrainablePolicy& policy, double temperature = 0.7) {
  RecordingContext context;
  RequestList requests;
  requests.add(
      {.prompt = "the fox", .samples = 4, .max_tokens = 30, .temperature = temperature, .seed = 3});
  requests.add({.prompt = "a longer prompt about the dog",
                .samples = 3,
                .max_tokens = 20,
                .temperature = temperature,
                .seed = 4});
  SampleCollector collector;
  policy.sample(requests, collector, context);
  return collector.samples;
}

// The samples as training examples with advantages of both signs.
ExampleList examples_of(const std::map<std::pair<std::uint32_t, std::uint32_t>, KeptSample>& from) {
  ExampleList examples;
  for (const auto& [key, s] : from) {
    const float advantage = key.second % 2 ? -0.5f : 1.0f;
    examples.add({s.prompt_tokens,
                  s.tokens,
                  s.logprobs,
                  std::vector<float>(s.tokens.size(), advantage),
                  {}});
  }
  return examples;
}

std::size_t answer_tokens(const ExampleList& examples) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < examples.size(); ++i) n += examples[i].tokens.size();
  return n;
}

TEST(LocalPolicy, SamplerAndTrainerAgree) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  for (const double temperature : {0.7, 1.0}) {
    const auto samples = seven_samples(policy, temperature);
    const ExampleList examples = examples_of(samples);
    RecordingContext context;
    LogprobCollector collector;
    policy.logprobs(temperature, examples, collector, context);
    ASSERT_EQ(collector.logprobs.size(), examples.size());
    for (std::size_t i = 0; i < examples.size(); ++i) {
      ASSERT_EQ(collector.logprobs[i].size(), examples[i].tokens.size());
      for (std::size_t t = 0; t < examples[i].tokens.size(); ++t) {
        EXPECT_NEAR(collector.logprobs[i][t], examples[i].logprobs[t], 1e-4);
      }
    }
    const LossSpec loss("ppo", 100, {}, KRL_TOKEN_MEAN, temperature);
    policy.forward_backward(loss, examples, context);
    EXPECT_LT(context.metrics.at("logprob_diff_max"), 1e-4);
    policy.optimizer_step(adamw(0), context);
  }
}

// The sampler has the adapters beside the frozen weights, as the trainer does.
TEST(LocalPolicy, SamplerAndTrainerAgreeWithAdaptersThatHaveLearned) {
  const test::TemporaryDirectory directory;
  RecordingContext context;
  {
    LocalPolicy scratch(tiny_options());
    fit_tokenizer(scratch);
    scratch.export_weights(directory.path().string(), "hf", context);
  }
  const std::vector<std::string> some = {"k_proj", "v_proj", "down_proj"};
  for (const auto& targets : {LoraOptions{}.targets, some}) {
    EngineOptions options = tiny_options();
    options.model = {.context = 0};
    options.directory = directory.path().string();
    options.lora = LoraOptions{.rank = 3, .alpha = 5, .targets = targets};
    LocalPolicy policy(options);
    const auto before = seven_samples(policy);
    for (int step = 0; step < 3; ++step) {
      const ExampleList examples = examples_of(seven_samples(policy));
      policy.forward_backward(LossSpec("ppo", 100, {}, KRL_TOKEN_MEAN, 0.7), examples, context);
      EXPECT_LT(context.metrics.at("logprob_diff_max"), 1e-4) << step;
      policy.optimizer_step(adamw(1e-2), context);
    }
    EXPECT_NE(seven_samples(policy), before);
  }
}

TEST(LocalPolicy, SameSeedSameSamples) {
  LocalPolicy a(tiny_options(1)), b(tiny_options(3));
  fit_tokenizer(a);
  fit_tokenizer(b);
  EXPECT_EQ(seven_samples(a), seven_samples(b));
  LocalPolicy other(tiny_options());
  fit_tokenizer(other, 2);
  EXPECT_NE(seven_samples(a), seven_samples(other));
}

TEST(LocalPolicy, TrainingIsRepeatableBitForBit) {
  const auto run = [] {
    LocalPolicy policy(tiny_options(2));
    fit_tokenizer(policy);
    for (int step = 0; step < 3; ++step) {
      RecordingContext context;
      const ExampleList examples = examples_of(seven_samples(policy));
      const LossSpec loss("ppo", 100, {{"kl", 0.1}, {"entropy", 0.01}}, KRL_TOKEN_MEAN, 0.7);
      policy.forward_backward(loss, examples, context);
      policy.optimizer_step(adamw(1e-2), context);
    }
    return seven_samples(policy);
  };
  EXPECT_EQ(run(), run());
}

TEST(LocalPolicy, LearnsWhatItIsShown) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  RecordingContext context;
  const MessageList prompt({{KRL_ROLE_USER, "the fox"}});
  SampleCollector tokenized;
  policy.tokenize(prompt, "jumps over the lazy dog", tokenized, context);
  const KeptSample& shown = tokenized.samples.at({0, 0});
  EXPECT_EQ(shown.tokens.back(), kEndToken);
  EXPECT_EQ(shown.text, "jumps over the lazy dog");
  ExampleList examples;
  examples.add({shown.prompt_tokens, shown.tokens});
  const LossSpec loss("cross_entropy", static_cast<double>(shown.tokens.size()));
  for (int step = 0; step < 60; ++step) {
    policy.forward_backward(loss, examples, context);
    policy.optimizer_step(adamw(1e-2), context);
  }
  EXPECT_LT(context.metrics.at("loss"), 0.05);
  EXPECT_EQ(policy.describe().version, 60u);
  RequestList requests;
  requests.add({.prompt = "the fox", .temperature = 0});
  SampleCollector answers;
  policy.sample(requests, answers, context);
  EXPECT_EQ(answers.samples.at({0, 0}).text, "jumps over the lazy dog");
  EXPECT_EQ(answers.samples.at({0, 0}).stop_reason, KRL_STOP_END);
  EXPECT_EQ(answers.samples.at({0, 0}).version, 60u);
}

TEST(LocalPolicy, BeforeFitItSaysWhatToDo) {
  LocalPolicy policy(tiny_options());
  EXPECT_TRUE(policy.describe().needs_corpus);
  try {
    seven_samples(policy);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_NE(std::string(failure.what()).find("warmup"), std::string::npos);
  }
  RecordingContext context;
  EXPECT_THROW(policy.fit({}, 1, context), Failure);
  fit_tokenizer(policy);
  EXPECT_FALSE(policy.describe().needs_corpus);
  EXPECT_GT(policy.describe().vocabulary, kFirstMerge);
  EXPECT_THROW(fit_tokenizer(policy), Failure);
}

TEST(LocalPolicy, BadExamplesAreErrorsThatNameThem) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  const auto refusal = [&](ExampleValues bad) {
    ExampleList examples;
    examples.add({{1, 5}, {6, 7}, {-1, -1}, {1, 1}, {}});
    examples.add(std::move(bad));
    RecordingContext context;
    try {
      policy.forward_backward(LossSpec("ppo", 4), examples, context);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      EXPECT_NE(std::string(failure.what()).find("example 1"), std::string::npos);
      return std::string(failure.what());
    }
    return std::string("accepted");
  };
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(refusal({{}, {6}, {-1}, {1}}), "no prompt"));
  EXPECT_TRUE(says(refusal({{1}, {}, {}, {}}), "no answer"));
  EXPECT_TRUE(says(refusal({{1}, {6}, {NAN}, {1}}), "logprobs[0]"));
  EXPECT_TRUE(says(refusal({{1}, {6}, {-1}, {INFINITY}}), "advantages[0]"));
  EXPECT_TRUE(says(refusal({{1}, {6}, {}, {1}}), "0 logprobs for 1"));
  EXPECT_TRUE(says(refusal({{1}, {6}, {-1}, {1}, {-1}}), "negative"));
  ExampleValues lonely{{1}, {6}, {-1}, {1}};
  lonely.old_logprobs = {-1};
  EXPECT_TRUE(says(refusal(lonely), "old_logprobs, and example 0 has none"));
  EXPECT_TRUE(says(refusal({{1}, {100000}, {-1}, {1}}), "outside the vocabulary"));
  EXPECT_TRUE(says(refusal({{-1}, {6}, {-1}, {1}}), "outside the vocabulary"));
  const std::vector<std::int32_t> long_prompt(1'000'000, 5);
  EXPECT_TRUE(says(refusal({long_prompt, {6}, {-1}, {1}}), "context is 128"));
  // None of these left a gradient behind.
  RecordingContext context;
  EXPECT_THROW(policy.optimizer_step(adamw(1), context), Failure);
}

TEST(LocalPolicy, NoExamplesAreNoError) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  RecordingContext context;
  LogprobCollector collector;
  policy.logprobs(1, ExampleList(), collector, context);
  policy.forward_backward(LossSpec("ppo", 1), ExampleList(), context);
  policy.optimizer_step(adamw(1e-3), context);
  EXPECT_EQ(context.metrics.at("grad_norm"), 0);
}

TEST(LocalPolicy, CancelledCallsEndAsCancelled) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  const ExampleList examples = examples_of(seven_samples(policy));
  RecordingContext context;
  context.is_cancelled = true;
  const auto code_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Failure& failure) {
      return failure.code();
    }
    return KRL_OK;
  };
  RequestList requests;
  requests.add({.prompt = "x", .samples = 300, .max_tokens = 100});
  SampleCollector collector;
  EXPECT_EQ(code_of([&] { policy.sample(requests, collector, context); }), KRL_CANCELLED);
  EXPECT_EQ(code_of([&] { policy.forward_backward(LossSpec("ppo", 1), examples, context); }),
            KRL_CANCELLED);
  // In the middle of sampling.
  RecordingContext later;
  collector.to_cancel = &later;
  collector.cancel_after = 5;
  EXPECT_EQ(code_of([&] { policy.sample(requests, collector, later); }), KRL_CANCELLED);
}

TEST(LocalPolicy, OptimizerSettingsAreChecked) {
  LocalPolicy policy(tiny_options());
  fit_tokenizer(policy);
  RecordingContext context;
  policy.forward_backward(LossSpec("ppo", 1), ExampleList(), context);
  EXPECT_THROW(policy.optimizer_step(adamw(-1), context), Failure);
  EXPECT_THROW(policy.optimizer_step(adamw(NAN), context), Failure);
  policy.optimizer_step(adamw(0.1), context);
}

// Trainer by itself, in float64.
class TrainerTest : public ::testing::Test {
 protected:
  TrainerTest() : threads_(2, [] { at::set_num_threads(1); }) {
    weights_ = initial_weights(ParameterLayout(config_), 3);
    for (int i = 0; i < 12; ++i) {
      ExampleValues values;
      for (int t = 0; t < 3 + i % 4; ++t) values.prompt.push_back((7 * i + t) % 30);
      for (int t = 0; t < 4 + 3 * (i % 5); ++t) {
        values.tokens.push_back((5 * i + 3 * t) % 30);
        values.logprobs.push_back(-3.4f + 0.05f * static_cast<float>((i + t) % 5));
        values.advantages.push_back((i + t) % 3 == 0 ? -1.0f : 0.7f);
        values.weights.push_back((i + t) % 6 == 0 ? 0.0f : 1.0f);
      }
      examples_.add(std::move(values));
    }
  }

  Trainer trainer(WorkerThreads& threads, std::int64_t micro_batch = 1 << 20) {
    return Trainer(ParameterLayout(config_), weights_, make_cpu_operations(config_),
                   {.compute = at::kDouble, .micro_batch_tokens = micro_batch}, threads);
  }

  double loss_at(const at::Tensor& weights, const Loss& loss) {
    Trainer t = trainer(threads_);
    TrainerState state = t.state();
    state.weights = weights;
    state.reference = reference_;
    t.restore(state);
    return t.forward_backward(parse_loss(loss), examples_, context_).loss;
  }

  // Of some losses, for one direction in each parameter.
  void expect_finite_differences();

  ModelConfig config_ = smallest_config();
  std::vector<float> weights_;
  at::Tensor reference_;
  WorkerThreads threads_;
  ExampleList examples_;
  RecordingContext context_;
};

void TrainerTest::expect_finite_differences() {
  const double n = static_cast<double>(answer_tokens(examples_));
  const LossSpec losses[] = {
      {"cross_entropy", n},
      {"importance_sampling", n, {{"entropy", 0.3}}, KRL_TOKEN_MEAN, 0.7},
      {"ppo", 12, {{"clip_low", 0.9}, {"clip_high", 5}, {"kl", 0.5}}, KRL_SEQUENCE_MEAN, 1.3}};
  reference_ = at::tensor(initial_weights(ParameterLayout(config_), 4)).to(at::kDouble);
  for (const LossSpec& loss : losses) {
    Trainer t = trainer(threads_);
    TrainerState state = t.state();
    state.reference = reference_;
    t.restore(state);
    t.forward_backward(parse_loss(loss), examples_, context_);
    const at::Tensor weights = t.state().weights, gradient = t.gradient();
    for (const ParameterSlot& slot : t.layout().slots) {  // one step in a direction per parameter
      const at::Tensor direction = at::zeros_like(weights);
      for (std::int64_t i = 0; i < slot.size; ++i) {
        direction[slot.offset + i] = std::sin(static_cast<double>(i + 1));
      }
      constexpr double kStep = 1e-6;
      const double difference = (loss_at(weights + kStep * direction, loss) -
                                 loss_at(weights - kStep * direction, loss)) /
                                (2 * kStep);
      const double expected = (gradient * direction).sum().item<double>();
      EXPECT_NEAR(expected, difference, 1e-6 * std::max(1.0, std::abs(difference))) << slot.name;
    }
  }
}

TEST_F(TrainerTest, GradientsAgreeWithFiniteDifferences) { expect_finite_differences(); }

TEST_F(TrainerTest, GradientsOfQwen2AgreeWithFiniteDifferences) {
  config_.family = Family::kQwen2;
  weights_ = initial_weights(ParameterLayout(config_), 3);
  expect_finite_differences();
}

TEST_F(TrainerTest, GradientsOfQwen3WithAHeadOfItsOwnAgreeWithFiniteDifferences) {
  config_.family = Family::kQwen3;
  config_.head_dim = 6;
  config_.tied = false;
  weights_ = initial_weights(ParameterLayout(config_), 3);
  expect_finite_differences();
}

TEST_F(TrainerTest, BlocksComputedAgainGiveTheSameGradient) {
  const LossSpec loss("ppo", 90, {{"entropy", 0.1}});
  Trainer plain = trainer(threads_, 50);
  Trainer again(ParameterLayout(config_), weights_, make_cpu_operations(config_),
                {.compute = at::kDouble, .micro_batch_tokens = 50, .recompute = true}, threads_);
  plain.forward_backward(parse_loss(loss), examples_, context_);
  again.forward_backward(parse_loss(loss), examples_, context_);
  EXPECT_TRUE(at::equal(again.gradient(), plain.gradient()));
}

TEST_F(TrainerTest, MicroBatchesAndThreadsDoNotChangeTheGradient) {
  const LossSpec loss("gspo", 90, {{"kl", 0.2}, {"entropy", 0.1}});
  Trainer whole = trainer(threads_);
  whole.forward_backward(parse_loss(loss), examples_, context_);
  for (const std::int64_t micro_batch : {100, 50, 1}) {
    for (const int threads : {1, 3}) {
      WorkerThreads workers(threads, [] { at::set_num_threads(1); });
      Trainer split = trainer(workers, micro_batch);
      split.forward_backward(parse_loss(loss), examples_, context_);
      EXPECT_LT((split.gradient() - whole.gradient()).abs().max().item<double>(), 1e-12);
    }
  }
}

TEST_F(TrainerTest, OneTwoOrFourCallsGiveTheSameGradientAndMetrics) {
  const LossSpec loss("ppo", 90);
  Trainer whole = trainer(threads_);
  const LossMetrics expected = whole.forward_backward(parse_loss(loss), examples_, context_);
  for (const std::size_t calls : {2u, 4u}) {
    Trainer split = trainer(threads_);
    LossMetrics sum;
    for (std::size_t call = 0; call < calls; ++call) {
      ExampleList part;
      for (std::size_t i = call; i < examples_.size(); i += calls) part.add(examples_[i]);
      sum.add(split.forward_backward(parse_loss(loss), part, context_));
    }
    EXPECT_LT((split.gradient() - whole.gradient()).abs().max().item<double>(), 1e-12);
    EXPECT_NEAR(sum.loss, expected.loss, 1e-12);
    EXPECT_NEAR(sum.entropy, expected.entropy, 1e-12);
    EXPECT_EQ(sum.logprob_diff_max, expected.logprob_diff_max);
  }
}

TEST_F(TrainerTest, AFailedCallLeavesTheGradientAlone) {
  Trainer t = trainer(threads_);
  const LossSpec loss("ppo", 90);
  t.forward_backward(parse_loss(loss), examples_, context_);
  const at::Tensor before = t.gradient().clone();
  context_.is_cancelled = true;
  EXPECT_THROW(t.forward_backward(parse_loss(loss), examples_, context_), Failure);
  EXPECT_TRUE(at::equal(t.gradient(), before));
}

TEST_F(TrainerTest, StepIsAdamWWithClipping) {
  Trainer t = trainer(threads_);
  t.forward_backward(parse_loss(LossSpec("cross_entropy", 10)), examples_, context_);
  const at::Tensor g = t.gradient().clone(), w = t.state().weights.clone();
  krl_optimizer o = adamw(0.01, 0.5);
  o.weight_decay = 0.1;
  const double norm = t.optimizer_step(o);
  EXPECT_NEAR(norm, g.norm().item<double>(), 1e-9);
  ASSERT_GT(norm, 0.5);
  // After the first step both corrected moments are those of the clipped gradient c.
  const at::Tensor c = g * (0.5 / norm);
  at::Tensor decay = at::full_like(w, 0.1);
  decay.narrow(0, t.layout().matrices_end, t.layout().total - t.layout().matrices_end).zero_();
  const at::Tensor expected = w * (1 - 0.01 * decay) - 0.01 * c / (c.abs() + 1e-8);
  EXPECT_LT((t.state().weights - expected).abs().max().item<double>(), 1e-9);
  EXPECT_EQ(t.gradient().abs().max().item<double>(), 0);
}

TEST_F(TrainerTest, ReferenceStaysWhereItWasFirstAskedFor) {
  Trainer t = trainer(threads_);
  const LossOptions with_kl = parse_loss(LossSpec("ppo", 90, {{"kl", 0.1}}));
  const at::Tensor start = t.state().weights.clone();
  t.forward_backward(with_kl, examples_, context_);
  t.optimizer_step(adamw(0.01));
  t.forward_backward(with_kl, examples_, context_);
  EXPECT_TRUE(at::equal(t.state().reference, start));
  EXPECT_FALSE(at::equal(t.state().weights, start));
}

TEST_F(TrainerTest, TruncatedImportanceComparesWithTheWeightsThatSampled) {
  Trainer t = trainer(threads_);
  const LossOptions with_tis = parse_loss(LossSpec("ppo", 90, {{"tis", 2}}));
  const at::Tensor sampled_by = t.state().weights.clone();
  const double first = t.forward_backward(with_tis, examples_, context_).logprob_diff_mean;
  t.optimizer_step(adamw(0.01));
  EXPECT_TRUE(at::equal(t.state().behaviour, sampled_by));
  const double second = t.forward_backward(with_tis, examples_, context_).logprob_diff_mean;
  EXPECT_NEAR(first, second, 1e-12);  // not of the weights of now
  t.optimizer_step(adamw(0.01));
  t.note_sampling();
  EXPECT_FALSE(t.state().behaviour.defined());
}

// A sampler that computes otherwise than the trainer is not a step of the policy: the ratio of the
// sequence is 1 until there was one.
TEST_F(TrainerTest, TheFirstStepOfGspoClipsNothingHoweverTheSamplerComputes) {
  LogprobCollector now;
  Trainer t = trainer(threads_);
  t.logprobs(1.0, examples_, now, context_);
  ExampleList noisy;
  for (std::size_t i = 0; i < examples_.size(); ++i) {
    ExampleValues values = examples_[i];
    for (std::size_t j = 0; j < values.logprobs.size(); ++j)
      values.logprobs[j] = now.logprobs[i][j] + ((i + j) % 2 == 0 ? 0.05f : -0.03f);
    noisy.add(std::move(values));
  }
  const LossSpec gspo("gspo", 12, {{"tis", 2}, {"clip_low", 3e-4}, {"clip_high", 4e-4}},
                      KRL_SEQUENCE_MEAN);
  EXPECT_EQ(t.forward_backward(parse_loss(gspo), noisy, context_).clip_fraction, 0);
  EXPECT_GT(t.gradient().abs().max().item<double>(), 1e-3);
}

TEST_F(TrainerTest, AGradientThatIsNotFiniteIsNoStep) {
  Trainer t = trainer(threads_);
  const at::Tensor before = t.state().weights.clone();
  t.forward_backward(parse_loss(LossSpec("cross_entropy", 1e-308)), examples_, context_);
  EXPECT_FALSE(std::isfinite(t.optimizer_step(adamw(0.01))));
  EXPECT_TRUE(at::equal(t.state().weights, before));
  EXPECT_EQ(t.state().first_moment.abs().max().item<double>(), 0);
  EXPECT_EQ(t.state().steps, 0);
  t.forward_backward(parse_loss(LossSpec("cross_entropy", 90)), examples_, context_);
  EXPECT_TRUE(std::isfinite(t.optimizer_step(adamw(0.01)))) << "and the next one is";
  EXPECT_FALSE(at::equal(t.state().weights, before));
}

// What the host computed by logprobs() before the step gives the gradient that copies of the
// weights would have given.
TEST_F(TrainerTest, GivenLogprobsTakeThePlaceOfCopiesOfTheWeights) {
  for (const char* name : {"ppo", "importance_sampling", "gspo", "cispo"}) {
    const LossOptions loss = parse_loss(LossSpec(name, 90, {{"tis", 2}, {"kl", 0.1}}));
    Trainer copies = trainer(threads_), given = trainer(threads_);
    LogprobCollector before;
    given.logprobs(1.0, examples_, before, context_);
    ExampleList annotated;
    for (std::size_t i = 0; i < examples_.size(); ++i) {
      ExampleValues values = examples_[i];
      values.old_logprobs = values.reference_logprobs = before.logprobs[i];
      annotated.add(std::move(values));
    }
    copies.forward_backward(loss, examples_, context_);
    given.forward_backward(loss, annotated, context_);
    copies.optimizer_step(adamw(0.01));
    given.optimizer_step(adamw(0.01));
    copies.forward_backward(loss, examples_, context_);
    given.forward_backward(loss, annotated, context_);
    EXPECT_FALSE(given.state().behaviour.defined()) << "no copy is needed";
    EXPECT_FALSE(given.state().reference.defined());
    EXPECT_LT((given.gradient() - copies.gradient()).abs().max().item<double>(), 1e-6) << name;
    EXPECT_GT(copies.gradient().abs().max().item<double>(), 1e-3) << name;
  }
}

}  // namespace
}  // namespace krl::libtorch

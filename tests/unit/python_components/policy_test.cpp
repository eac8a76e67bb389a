// A policy in Python: one that only samples, and one that learns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <kernelrl/policy_values.hpp>

#include "tests/scratch_folder.hpp"
#include "tests/unit/python_components/python_file.hpp"

namespace krl {
namespace {

using ::testing::HasSubstr;
using testing::python_file;
using testing::python_plugin;

testing::PolicyInstance policy(const std::string& object, const std::string& options = "{}") {
  return python_plugin().policy("python", python_file("policies.py", object, options));
}

void learn(const testing::PolicyInstance& policy, float advantage) {
  ExampleValue example;
  example.prompt_tokens = {1};
  example.tokens = {2, 3};
  example.advantages = {advantage, advantage};
  LossValue loss;
  loss.name = "ppo";
  loss.normaliser = 2;
  loss.parameters = {{"clip_low", 0.2}};
  policy.forward_backward(loss, {example});
}

OptimizerValue step(double lr) {
  OptimizerValue optimizer;
  optimizer.lr = lr;
  return optimizer;
}

TEST(PythonPolicy, AFunctionSamples) {
  const auto hello = policy("says_hello");
  EXPECT_EQ(hello.describe().flags, 0u) << "neither tokens nor learning";
  RequestValue request;
  request.n_samples = 2;
  request.messages = {{KRL_ROLE_USER, "Hi"}};
  request.sampling.max_tokens = 5;
  request.sampling.temperature = 0.5;
  const auto samples = hello.sample({request});
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].index, 1u);
  EXPECT_EQ(samples[1].text, "Hi 5 0.5");
}

TEST(PythonPolicy, AClassLearnsAndIsSaved) {
  const auto learner = policy("Learner", R"({"at": -1.0})");
  EXPECT_EQ(learner.describe().flags,
            KRL_POLICY_TRAINABLE | KRL_POLICY_HAS_TOKENS | KRL_POLICY_HAS_LOGPROBS);
  EXPECT_EQ(learner.describe().vocabulary, 256);
  learn(learner, 3);
  EXPECT_EQ(learner.call().metrics.at("loss"), 3);
  learner.optimizer_step(step(0.25));
  EXPECT_EQ(learner.call().metrics.at("grad_norm"), 0.5);
  EXPECT_EQ(learner.describe().version, 1u);
  EXPECT_EQ(learner.sample({{}}).at(0).logprobs, (std::vector<float>{-0.25, -0.25, -0.25}));
  EXPECT_EQ(learner.tokenize({{KRL_ROLE_USER, "Hi"}}, "ab").tokens,
            (std::vector<std::int32_t>{'a', 'b'}));

  const test::ScratchFolder folder;
  learner.save(folder.path());
  const auto restored = policy("Learner");
  restored.load(folder.path());
  EXPECT_EQ(restored.describe().version, 1u);
  EXPECT_EQ(restored.sample({{}}).at(0).logprobs.at(0), -0.25);
}

// A new process would know nothing of what was learned.
TEST(PythonPolicy, ALearnerWhoseProcessEndedIsNotReplaced) {
  const auto learner = policy("Learner");
  const auto failure_of_step = [&](double lr) -> std::pair<krl_status, std::string> {
    try {
      learner.optimizer_step(step(lr));
    } catch (const Failure& failure) {
      return {failure.code(), failure.what()};
    }
    return {};
  };
  EXPECT_EQ(failure_of_step(2).first, KRL_UNAVAILABLE);
  const auto [code, why] = failure_of_step(0.1);
  EXPECT_EQ(code, KRL_FAILED_PRECONDITION);
  EXPECT_THAT(why, HasSubstr("resume the run from its last checkpoint"));
}

}  // namespace
}  // namespace krl

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

class PythonPolicy : public ::testing::Test {
 protected:
  using Instance = testing::Instance<krl_policy_v>;

  static Instance policy(const std::string& name, const std::string& options = "{}") {
    return python_plugin().create<krl_policy_v>(KRL_POLICY, "python",
                                                python_file("policies.py", name, options));
  }

  static testing::PolicyDescription describe(const Instance& policy) {
    return testing::policy_description([&](const krl_policy_info_sink* sink) {
      policy.call().require(policy.table().describe(policy.self(), policy.context(), sink));
    });
  }

  static std::vector<SampleValue> sample(const Instance& policy, const RequestValue& request) {
    std::vector<SampleValue> samples;
    const krl_sample_sink sink{
        sizeof(krl_sample_sink), 0, &samples,
        [](const krl_sample_sink* s, const krl_sample* sample) {
          static_cast<std::vector<SampleValue>*>(s->ctx)->push_back(value_of<SampleValue>(*sample));
          return krl_status{KRL_OK};
        },
        nullptr};
    const CViews<RequestValue> views(std::vector<const RequestValue*>{&request});
    policy.call().require(
        policy.table().sample(policy.self(), policy.context(), views.data(), views.size(), &sink));
    return samples;
  }

  static void learn(const Instance& policy, double advantage) {
    ExampleValue example;
    example.prompt_tokens = {1};
    example.tokens = {2, 3};
    example.advantages = {static_cast<float>(advantage), static_cast<float>(advantage)};
    LossValue loss;
    loss.name = "ppo";
    loss.normaliser = 2;
    loss.parameters = {{"clip_low", 0.2}};
    const CViews<ExampleValue> examples(std::vector<const ExampleValue*>{&example});
    policy.call().require(policy.table().forward_backward(policy.self(), policy.context(),
                                                          CView<LossValue>(loss).c(),
                                                          examples.data(), examples.size()));
  }

  static krl_status step(const Instance& policy, double lr) {
    OptimizerValue optimizer;
    optimizer.lr = lr;
    return policy.table().optimizer_step(policy.self(), policy.context(),
                                         CView<OptimizerValue>(optimizer).c());
  }
};

TEST_F(PythonPolicy, AFunctionSamples) {
  const auto hello = policy("says_hello");
  EXPECT_EQ(describe(hello).flags, 0u) << "neither tokens nor learning";
  RequestValue request;
  request.n_samples = 2;
  request.messages = {{KRL_ROLE_USER, "Hi"}};
  request.sampling.max_tokens = 5;
  request.sampling.temperature = 0.5;
  const auto samples = sample(hello, request);
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1].index, 1u);
  EXPECT_EQ(samples[1].text, "Hi 5 0.5");
}

TEST_F(PythonPolicy, AClassLearnsAndIsSaved) {
  const auto learner = policy("Learner", R"({"at": -1.0})");
  EXPECT_EQ(describe(learner).flags,
            KRL_POLICY_TRAINABLE | KRL_POLICY_HAS_TOKENS | KRL_POLICY_HAS_LOGPROBS);
  EXPECT_EQ(describe(learner).vocabulary, 256);
  learn(learner, 3);
  EXPECT_EQ(learner.call().metrics.at("loss"), 3);
  ASSERT_EQ(step(learner, 0.25), KRL_OK) << learner.call().why;
  EXPECT_EQ(learner.call().metrics.at("grad_norm"), 0.5);
  EXPECT_EQ(describe(learner).version, 1u);
  EXPECT_EQ(sample(learner, {})[0].logprobs, (std::vector<float>{-0.25, -0.25, -0.25}));

  const test::ScratchFolder folder;
  const std::string directory = folder.path().string();
  learner.call().require(learner.table().save(learner.self(), learner.context(), to_c(directory)));
  const auto restored = policy("Learner");
  restored.call().require(
      restored.table().load(restored.self(), restored.context(), to_c(directory)));
  EXPECT_EQ(describe(restored).version, 1u);
  EXPECT_EQ(sample(restored, {})[0].logprobs[0], -0.25);
}

// A new process would know nothing of what was learned.
TEST_F(PythonPolicy, ALearnerWhoseProcessEndedIsNotReplaced) {
  const auto learner = policy("Learner");
  EXPECT_EQ(step(learner, 2), KRL_UNAVAILABLE);
  EXPECT_EQ(step(learner, 0.1), KRL_FAILED_PRECONDITION);
  EXPECT_THAT(learner.call().why, HasSubstr("resume the run from its last checkpoint"));
}

}  // namespace
}  // namespace krl

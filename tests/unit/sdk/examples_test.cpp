// The plugins of sdk/docs/examples/ do what the documentation says.
#include <gtest/gtest.h>
#include <kernelrl/task_definition.hpp>
#include <kernelrl/testing.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace krl {
namespace {

testing::Plugin example(const std::string& name) {
  return testing::Plugin(KERNELRL_BINARY_DIR "/tests/plugins/examples/" + name + ".krl.so");
}

TEST(ShortSource, PaysForShortKernels) {
  const auto term = example("short_source").reward("example.short_source", {{"limit", 100}});
  EXPECT_EQ(term.score(testing::TurnBuilder().source(std::string(25, 'x'))), 0.75);
  EXPECT_EQ(term.score(testing::TurnBuilder().source(std::string(500, 'x'))), 0);
}

TEST(ScaledCopies, YieldsTasksThatAreWellFormed) {
  const testing::Plugin plugin = example("scaled_copies");
  const auto data =
      plugin.create<krl_dataset_v>(KRL_DATASET, "example.scaled_copies", {{"count", 3}});
  std::uint64_t size = 0;
  data.call().require(data.table().size(data.self(), data.context(), &size));
  EXPECT_EQ(size, 3u);

  std::vector<std::string> ids;
  krl_dataset_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &ids;
  sink.task = [](const krl_dataset_sink* s, const krl_task* task) -> krl_status {
    const auto definition = parse_task_definition(view(task->definition_json));
    EXPECT_TRUE(definition) << (definition ? "" : definition.error());
    static_cast<std::vector<std::string>*>(s->ctx)->emplace_back(view(task->id));
    return KRL_OK;
  };
  for (std::uint64_t i = 0; i < size; ++i)
    data.call().require(data.table().read(data.self(), data.context(), i, &sink));
  EXPECT_EQ(ids, (std::vector<std::string>{"scaled_copy_2", "scaled_copy_3", "scaled_copy_4"}));
}

std::string verdict_of(const std::string& source) {
  const testing::Plugin plugin = example("brackets");
  const auto backend = plugin.create<krl_backend_v>(KRL_BACKEND, "example.brackets");
  const testing::EvaluationReceiver receiver;
  krl_task task{};
  const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, &task, to_c(source)};
  const krl_evaluate_options options{sizeof(krl_evaluate_options), KRL_STAGE_COMPILE, 1};
  backend.call().require(backend.table().evaluate(backend.self(), backend.context(), &candidate,
                                                  &options, receiver.c()));
  const Evaluation& evaluation = receiver.evaluation();
  for (const Case& c : evaluation.cases) EXPECT_FALSE(c.timed());
  return std::string(name_of(evaluation.verdict)) + ": " + evaluation.why;
}

TEST(Brackets, NamesTheLine) {
  EXPECT_EQ(verdict_of("void f() { a[1] = 2; }"), "ok: ");
  EXPECT_EQ(verdict_of("void f() {\n  a[1) = 2;\n}"), "compile_error: line 2: unexpected )");
  EXPECT_EQ(verdict_of("void f() {\n"), "compile_error: line 2: missing }");
}

TEST(Brackets, EndsWhenCancelled) {
  const testing::Plugin plugin = example("brackets");
  const auto backend = plugin.create<krl_backend_v>(KRL_BACKEND, "example.brackets");
  backend.call().cancelled = true;
  const testing::EvaluationReceiver receiver;
  const krl_candidate candidate{sizeof(krl_candidate), KRL_CONTRACT_DEVICE, nullptr, to_c("{}")};
  const krl_evaluate_options options{sizeof(krl_evaluate_options), KRL_STAGE_COMPILE, 1};
  EXPECT_EQ(backend.table().evaluate(backend.self(), backend.context(), &candidate, &options,
                                     receiver.c()),
            KRL_CANCELLED);
}

TEST(Recorded, GivesTheFileToEveryRequest) {
  const std::string path = ::testing::TempDir() + "recorded_answer.txt";
  std::ofstream(path) << "the answer";
  const testing::Plugin plugin = example("recorded");
  const auto policy =
      plugin.create<krl_policy_v>(KRL_POLICY, "example.recorded", {{"answer", path}});
  std::vector<std::string> answers;
  krl_sample_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &answers;
  sink.put = [](const krl_sample_sink* s, const krl_sample* sample) -> krl_status {
    static_cast<std::vector<std::string>*>(s->ctx)->push_back(std::to_string(sample->request) +
                                                              std::to_string(sample->index) + " " +
                                                              std::string(view(sample->text)));
    return KRL_OK;
  };
  krl_request two{}, one{};
  two.n_samples = 2;
  one.n_samples = 1;
  const krl_request* requests[] = {&two, &one};
  policy.call().require(policy.table().sample(policy.self(), policy.context(), requests, 2, &sink));
  EXPECT_EQ(answers, (std::vector<std::string>{"00 the answer", "01 the answer", "10 the answer"}));
  EXPECT_EQ(policy.table().forward_backward, nullptr);
}

TEST(Recorded, AMissingFileIsAnError) {
  EXPECT_THROW(
      example("recorded")
          .create<krl_policy_v>(KRL_POLICY, "example.recorded", {{"answer", "/no/such/file"}}),
      Failure);
  EXPECT_THROW(example("recorded").create<krl_policy_v>(KRL_POLICY, "example.recorded"),
               std::runtime_error);
}

TEST(TwoAnswers, LearnsWhichOnePays) {
  const auto policy = example("two_answers").policy("example.two_answers");
  const auto share_of_first = [&] {
    RequestValue request;
    request.n_samples = 500;
    int first = 0;
    for (const SampleValue& sample : policy.sample({request})) first += sample.tokens[0] == 0;
    return first / 500.0;
  };
  EXPECT_NEAR(share_of_first(), 0.5, 0.1);
  ExampleValue paid, unpaid;
  paid.prompt_tokens = unpaid.prompt_tokens = {0};
  paid.tokens = {0}, paid.advantages = {1}, paid.logprobs = {-0.7F};
  unpaid.tokens = {1}, unpaid.advantages = {-1}, unpaid.logprobs = {-0.7F};
  LossValue loss;
  loss.name = "importance_sampling";
  loss.normaliser = 2;
  OptimizerValue optimizer;
  optimizer.lr = 4;
  policy.forward_backward(loss, {paid, unpaid});
  policy.optimizer_step(optimizer);
  EXPECT_GT(share_of_first(), 0.8);
  EXPECT_EQ(policy.describe().version, 1u);
}

}  // namespace
}  // namespace krl

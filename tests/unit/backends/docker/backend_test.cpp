// The real plugin `docker`, through the boundary, with a daemon of its own.
#include <kernelrl/values.hpp>

#include "tests/unit/backends/docker/compiler_fixture.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

Table options_with(const std::string& socket, const Table& more) {
  Table options = {{"execute", "off"},
                   {"arch", "sm_90"},
                   {"socket", socket},
                   {"image", docker::testing::kCompilerImage},
                   {"concurrency", std::int64_t{2}},
                   {"cache", "off"}};
  for (const auto& [key, value] : more) options.insert_or_assign(key, value);
  return options;
}

// Why the backend does not start.
std::string refusal(const Table& options) {
  try {
    const TaskBackend backend("docker", options);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "it starts";
}

class DockerBackendTest : public docker::testing::CompilerFixture {
 protected:
  Table options(const Table& more = {}) const { return options_with(daemon_->socket(), more); }
};

TEST_F(DockerBackendTest, SaysWhatAKernelUses) {
  const TaskBackend backend("docker", options());
  const auto info = backend.describe();
  EXPECT_EQ(info.concurrency, 2u);
  EXPECT_EQ(info.signals & (KRL_SIGNAL_CORRECTNESS | KRL_SIGNAL_TIME), 0u) << "nothing is run";
  EXPECT_NE(info.signals & KRL_SIGNAL_REGISTERS, 0u);

  const TaskText& task = all_tasks().at("row_sum");
  const Outcome outcome = backend.evaluate(task, naive_of(task));
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why << "\n" << outcome.log;
  EXPECT_THAT(outcome.toolchain, MatchesRegex("nvcc [0-9.]+ in Docker"));
  EXPECT_EQ(outcome.device, "sm_90, not executed");
  ASSERT_EQ(outcome.records.size(), 1u);
  EXPECT_GT(outcome.records.front().registers, 0);
  EXPECT_GT(outcome.records.front().occupancy, 0);
}

TEST_F(DockerBackendTest, GivesTheLineOfAnError) {
  const Outcome outcome = TaskBackend("docker", options())
                              .evaluate(all_tasks().at("vector_add"),
                                        R"(__global__ void add(const float* a, const float* b,
                    float* out, int n) { outt[0] = 1; }
)");
  EXPECT_EQ(outcome.verdict, Verdict::kCompileError);
  EXPECT_EQ(outcome.why, "line 2: identifier \"outt\" is undefined");
  EXPECT_THAT(outcome.diagnostics, Contains("2:0: identifier \"outt\" is undefined"));
}

TEST_F(DockerBackendTest, PassesTheFlagsOfThePlan) {
  const TaskBackend backend("docker", options({{"flags", "-maxrregcount=16 -DFOUR=4"}}));
  const Outcome outcome = backend.evaluate(all_tasks().at("vector_add"),
                                           R"(__global__ void add(const float* a, const float* b,
                    float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + 0 * FOUR;
}
)");
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  EXPECT_LE(outcome.records.at(0).registers, 16);
}

TEST_F(DockerBackendTest, CompilesHostCode) {
  const TaskBackend backend("docker", options());
  const auto evaluated = [&](const std::string& source) {
    return backend.evaluate(all_tasks().at("relu"), source, TaskBackend::kAllStages, 1,
                            KRL_CONTRACT_HOST);
  };
  const char* kernel =
      R"(__global__ void relu(const float* x, float* y, long n) {
  const long i = blockIdx.x * 256l + threadIdx.x;
  if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}
)";
  const Outcome plain = evaluated(std::string(kernel) +
                                  "void launch(const float* x, float* y, long n) "
                                  "{ relu<<<(n + 255) / 256, 256>>>(x, y, n); }\n");
  ASSERT_EQ(plain.verdict, Verdict::kOk) << plain.why << "\n" << plain.log;
  EXPECT_EQ(plain.log, "");
  EXPECT_GT(plain.records.at(0).registers, 0);
  const Outcome torch = evaluated(
      "#include <torch/extension.h>\n" + std::string(kernel) +
      "torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); "
      "relu<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); return y; }\n");
  EXPECT_EQ(torch.verdict, Verdict::kOk) << torch.why << "\n" << torch.log;
  const Outcome wrong = evaluated(std::string(kernel) + "void launch(int n) {}\n");
  EXPECT_EQ(wrong.verdict, Verdict::kCompileError);
  EXPECT_THAT(wrong.why, HasSubstr("there must be a function launch(float* inp, float* out"));
}

TEST_F(DockerBackendTest, WithoutItsImageSaysHowToBuildIt) {
  EXPECT_THAT(refusal(options({{"image", "nobody-has-this"}})),
              AllOf(HasSubstr("no image nobody-has-this"), HasSubstr("scripts/docker_image.sh")));
}

TEST_F(DockerBackendTest, RefusesAnArchitectureThatNobodyKnows) {
  EXPECT_THAT(refusal(options({{"arch", "sm_1"}})), HasSubstr("sm_1"));
}

TEST(DockerBackend, WithoutDockerSaysHowToGetIt) {
  EXPECT_THAT(refusal(options_with("/nowhere/docker.sock", {})),
              AllOf(HasSubstr("no Docker daemon at /nowhere/docker.sock"),
                    HasSubstr("apt-get install docker.io")));
}

}  // namespace
}  // namespace krl::testing

// The evaluator of kernels as a whole, on a simulated GPU: the checks of a task, and how long a
// candidate may run.
#include "plugins/backends/cuda/gpu_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/unit/backends/altered_tasks.hpp"
#include "tests/unit/backends/gpu/simulated_compiler.hpp"
#include "tests/unit/backends/gpu/simulated_gpu.hpp"

namespace krl::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kReal = 100'000;

// One GPU for all tests: of 4 MiB, with run_timeout = 20.
Evaluator& kernel_evaluator() {
  static Evaluator evaluator = [] {
    const GpuWorkers workers = simulated_workers();
    auto pool = std::make_unique<GpuPool>(find_gpus(workers.runner, {0}), workers);
    return Evaluator(
        {}, simulated_compiler(),
        std::make_unique<GpuExecutor>(GpuExecutorSettings(), "sm_90", std::move(pool)));
  }();
  return evaluator;
}

std::string launching(const std::string& kernel) {
  return "// @launch " + kernel + "<<<ceil_div(n, 64), 64>>>(x, y, n)\n__global__ void " + kernel +
         "(const float* x, float* y, int n);\n";
}

// The task of simulated_gpu.hpp with a real size and ranges.
nlohmann::json sized_task() {
  nlohmann::json task = nlohmann::json::parse(kTask);
  task["naive"] = launching("good");
  task["real"] = {{{"n", kReal}}};
  task["ranges"] = {{"n", {1, 4 * kReal}}};
  task["tolerance"] = {{"rtol", 1e-4}, {"atol", 1e-5}};
  return with_origin(std::move(task));
}

nlohmann::json sized_task(const std::string& key, nlohmann::json value) {
  return with(sized_task(), key, std::move(value));
}

nlohmann::json task_returning(const std::string& text) {
  return returning(sized_task(), "x", text);
}

nlohmann::json task_returning_two(const std::string& text, const std::string& dtype) {
  return returning_two(sized_task(), "x", text, dtype);
}

// Empty: the task is accepted.
std::string refusal_on_gpu(const nlohmann::json& task) {
  const std::string text = task.dump();
  try {
    kernel_evaluator().prepare(text, 7, {});
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "";
}

TEST(GpuTaskChecks, AcceptsATaskThatIsInOrder) { EXPECT_EQ(refusal_on_gpu(sized_task()), ""); }

TEST(GpuTaskChecks, RefusesCasesThatDoNotFitTheArena) {
  const nlohmann::json large = {{{"n", 300'000}}};
  for (const auto& [key, place] :
       {std::pair("cases", "50:14"), std::pair("real", "60:14"), std::pair("holdout", "70:14")}) {
    EXPECT_THAT(refusal_on_gpu(sized_task(key, large)),
                StartsWith("t.toml:" + std::string(place) +
                           ": the case n=300000 needs 5 MiB on the GPU, and arena_mb is 4; raise "
                           "it, or make the case smaller"))
        << key;
  }
}

// Some of them are larger than the largest case.
TEST(GpuTaskChecks, RefusesRangesWhosePoolDoesNotFitTheArena) {
  nlohmann::json task = sized_task("cases", {{{"n", 230'000}}});
  task.erase("real");
  EXPECT_THAT(refusal_on_gpu(task),
              AllOf(StartsWith("t.toml:40:13: the shape n="),
                    HasSubstr(" of the ranges needs 5 MiB on the GPU, and arena_mb is 4; raise it, "
                              "or make the largest case smaller")));
}

TEST(GpuTaskChecks, RefusesANaiveKernelThatIsWrong) {
  EXPECT_THAT(refusal_on_gpu(sized_task("naive", launching("wrong"))),
              StartsWith("t.toml:20:1: the naive kernel fails: wrong_result: n=1000: y: "));
}

TEST(GpuTaskChecks, RefusesAReferenceThatFailsOrIsNotFiniteAnywhereAtASize) {
  EXPECT_THAT(
      refusal_on_gpu(sized_task("reference", R"(def run(x):
    assert x.size(0) != 1, "too short"
    return 2 * x
)")),
      AllOf(StartsWith("t.toml:11:"), HasSubstr(": the reference, n=1: "), HasSubstr("too short")));
  for (const std::string size : {"1000", "77", "100000", "1"}) {  // small, hold-out, real, fresh
    const std::string reference = "2 * x if x.size(0) != " + size + " else x * float('nan')";
    EXPECT_THAT(refusal_on_gpu(task_returning(reference)),
                StartsWith("t.toml:10:1: the reference, n=" + size +
                           ": the output 'y' is not finite anywhere: "));
  }
  EXPECT_EQ(refusal_on_gpu(task_returning("torch.log(x)")), "") << "not finite in places";
}

TEST(GpuTaskChecks, RefusesAToleranceThatZerosPassAtOneSize) {
  for (const std::string size : {"333", "77", "100000", "1"}) {
    const std::string reference = "2 * x * (1.0 if x.size(0) != " + size + " else 1e-7)";
    EXPECT_THAT(refusal_on_gpu(task_returning(reference)),
                StartsWith("t.toml:30:13: at n=" + size +
                           ", an output 'y' that is all zero is within the tolerance: "));
  }
}

TEST(GpuTaskChecks, RefusesAnOutputThatZerosPassBesideAnother) {
  EXPECT_THAT(refusal_on_gpu(task_returning_two("2 * x, 1e-7 * x", "float32")),
              StartsWith("t.toml:30:13: at n=1000, an output 'z' that is all zero is within"));
  EXPECT_THAT(refusal_on_gpu(task_returning_two("2 * x, (0 * x).int()", "int32")),
              StartsWith("t.toml:30:13: an output 'z' that is all zero passes all checks; "));
  EXPECT_EQ(refusal_on_gpu(task_returning_two("torch.relu(x), x > 1", "bool")), "");
}

TEST(GpuEvaluation, SaysWhatEachCaseLaunches) {
  const std::string source =
      "// @launch good<<<ceil_div(n, 64), 64, n % 64 * 4>>>(x, y, n)\n__global__ void good(const float* "
      "x, float* y, int n);\n";
  const std::uint32_t stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
  const EvaluationRecord record =
      kernel_evaluator().evaluate({sized_task().dump(), source, stages, 7, false}, {});
  for (const krl::Value& value : record.values)
    EXPECT_LT(value.case_index, static_cast<std::int32_t>(record.cases.size())) << value.name;
  ASSERT_EQ(name_of(record.verdict), "ok") << record.why;
  const auto of_first = [&](std::string_view name) {
    for (const krl::Value& value : record.values)
      if (value.case_index == 0 && value.name == name) return value.value;
    return -1.0;
  };
  EXPECT_EQ(of_first("launches"), 1);
  EXPECT_EQ(of_first("blocks"), 16);
  EXPECT_EQ(of_first("threads"), 16 * 64);
  EXPECT_EQ(of_first("shared_bytes"), 1000 % 64 * 4);
}

// A second and 100 times what the naive kernel takes, and not the 20 s that any run may take.
TEST(GpuRunLimit, FollowsFromTheNaiveKernel) {
  const std::string task = sized_task().dump();
  const std::uint32_t stages = KRL_STAGE_COMPILE | KRL_STAGE_CHECK;
  kernel_evaluator().evaluate({task, launching("good"), stages, 7, false}, {});
  const auto start = std::chrono::steady_clock::now();
  const EvaluationRecord record =
      kernel_evaluator().evaluate({task, launching("hangs"), stages, 7, false}, {});
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(name_of(record.verdict), "timeout") << record.why;
  EXPECT_GE(took, std::chrono::seconds(1));
  EXPECT_LT(took, std::chrono::seconds(15));
}

}  // namespace
}  // namespace krl::testing

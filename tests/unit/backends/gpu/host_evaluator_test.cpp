// The evaluation of host code as a whole, from the source to the record: all but the compiler and
// CUDA is real.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "plugins/backends/cuda/gpu_executor.hpp"
#include "tests/unit/backends/gpu/host_candidate.hpp"
#include "tests/unit/backends/gpu/simulated_compiler.hpp"
#include "tests/wait_while.hpp"

namespace krl::testing {
namespace {

constexpr std::uint32_t kAll =
    KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME | KRL_STAGE_COUNTERS | KRL_STAGE_HOLDOUT;

// The task of simulated_gpu.hpp, with a baseline that the simulated driver has code for.
std::string task_with_naive() {
  nlohmann::json task = nlohmann::json::parse(kTask);
  task["naive"] =
      R"(// @launch good<<<ceil_div(n, 64), 64>>>(x, y, n)
__global__ void good(const float* x, float* y, int n);
)";
  task["forbid"] = {"system"};
  return task.dump();
}

CudaCompiler host_compiler() {
  CudaCompiler compiler = simulated_compiler();
  compiler.compile_library = [](std::string_view source, const Cancelled&) {
    try {
      return compiled_to({simulated_cubin({}), "", "", {}, compiled_by_gxx(std::string(source))});
    } catch (const std::runtime_error& error) {
      CompileOutput output;
      output.why = error.what();
      return output;
    }
  };
  return compiler;
}

Evaluator evaluator_with(Protocol protocol, bool reference) {
  GpuWorkers workers = simulated_workers();
  workers.sandbox = std::string(kWorkers) + "kernelrl-sandbox";
  auto pool = std::make_unique<GpuPool>(find_gpus(workers.runner, {0}), workers);
  EvaluatorSettings settings;
  settings.protocol = protocol;
  return {settings, host_compiler(),
          std::make_unique<GpuExecutor>(GpuExecutorSettings{{}, {}, {reference, {}}}, "sm_90",
                                        std::move(pool))};
}

Evaluator& evaluator() {
  static Evaluator evaluator = evaluator_with(Protocol::kKernelrl, false);
  return evaluator;
}

EvaluationRecord evaluated(const std::string& body, std::uint32_t stages = kAll) {
  const std::string task = task_with_naive();
  const std::string source = "void launch(const float* x, float* y, int n) {" + body + "}";
  return evaluator().evaluate({task, source, stages, 7, true}, {});
}

constexpr char kDoubles[] = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];";

TEST(HostEvaluation, ChecksAndTimesAgainstTheBaselineOfTheChecker) {
  const EvaluationRecord record = evaluated(kDoubles);
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  ASSERT_EQ(record.cases.size(), 3u);
  for (const int c : {0, 1}) {
    EXPECT_GT(record.cases[c].time_ns, 0);
    EXPECT_GT(record.cases[c].baseline_ns, 0);
    EXPECT_LE(record.cases[c].speedup_low, record.cases[c].speedup_high);
  }
  EXPECT_TRUE(std::isnan(record.cases[2].time_ns)) << "a hold-out is not timed";
  for (const krl::Value& value : record.values) {
    EXPECT_FALSE(value.name == "baseline_beside" && value.value != 0);
    EXPECT_NE(value.name, "dram_bytes") << "nobody profiles host code";
  }
}

TEST(HostEvaluation, IsNotTimedUnlessItIsAsked) {
  const EvaluationRecord record =
      evaluated(std::string(kDoubles) + "/**/", KRL_STAGE_COMPILE | KRL_STAGE_CHECK);
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  ASSERT_EQ(record.cases.size(), 2u);
  EXPECT_TRUE(std::isnan(record.cases[0].time_ns));
}

TEST(HostEvaluation, EndsWithTheFirstThingThatIsWrong) {
  EXPECT_EQ(evaluated("system(\"true\");").verdict, Verdict::kRejected);
  EXPECT_EQ(evaluated("no such thing").verdict, Verdict::kCompileError);
  const EvaluationRecord wrong = evaluated("for (int i = 0; i < n; ++i) y[i] = x[i];");
  EXPECT_EQ(wrong.verdict, Verdict::kWrongResult);
  EXPECT_TRUE(std::isnan(wrong.cases[0].time_ns)) << "what is wrong is not timed";
  const EvaluationRecord fault = evaluated("*(volatile int*)nullptr = 1;");
  EXPECT_EQ(fault.verdict, Verdict::kRuntimeFault) << fault.why;
  const EvaluationRecord next = evaluated(std::string(kDoubles) + " /* the next */");
  EXPECT_EQ(next.verdict, Verdict::kOk) << next.why;
}

// An answer as KernelBench asks for it; `body` is the work of its function.
std::string python_answer(const std::string& body) {
  return "from torch.utils.cpp_extension import load_inline\n"
         "ops = load_inline('ops', '', '''\n"
         "#include <torch/extension.h>\n"
         "#include <unistd.h>\n"
         "torch::Tensor twice(torch::Tensor in, double factor) {\n"
         "  torch::Tensor out = torch::empty_like(in);\n"
         "  float *x = in.data_ptr<float>(), *y = out.data_ptr<float>();\n"
         "  const long long n = in.numel();\n" +
         body +
         "\n  return out;\n}\n''', ['twice'])\n"
         "class ModelNew(torch.nn.Module):\n"
         "    def __init__(self, factor=2.0):\n"
         "        self.factor = factor\n"
         "    def forward(self, x):\n"
         "        return ops.twice(x.contiguous(), self.factor)\n";
}

constexpr char kTwice[] = "for (int i = 0; i < n; ++i) y[i] = factor * x[i];";

// Without a naive kernel the reference says what timed calls have to give.
TEST(HostEvaluation, TakesAnswersInPython) {
  const auto evaluated_answer = [](const std::string& source) {
    return evaluator().evaluate({kTask, source, kAll, 7, true}, {});
  };
  const EvaluationRecord right = evaluated_answer(python_answer(kTwice));
  ASSERT_EQ(right.verdict, Verdict::kOk) << right.why;
  EXPECT_GT(right.cases[0].time_ns, 0);
  EXPECT_EQ(evaluated_answer(python_answer("y[0] = 1;")).verdict, Verdict::kWrongResult);
  // Rounded down this factor is 2; an index of -1 is the last.
  std::string rounded =
      python_answer(std::string("x = in.unsqueeze(0).select(0, -1).data_ptr<float>();") + kTwice);
  const std::string_view factor = "self.factor)\n";
  rounded.replace(rounded.rfind(factor), factor.size(), "-(-x.size(0) // (x.size(0) - 1)))\n");
  const EvaluationRecord also_right = evaluated_answer(rounded);
  EXPECT_EQ(also_right.verdict, Verdict::kOk) << also_right.why;
  const EvaluationRecord refused =
      evaluated_answer("class ModelNew:\n    def forward(self, x):\n        return x * 2\n");
  EXPECT_EQ(refused.verdict, Verdict::kRejected);
  EXPECT_EQ(refused.why, "line 3, column 1: PyTorch computes 'x * 2'");
}

// In the form of a row of the AI CUDA Engineer Archive (service/kernels/answer_table.cpp).
TEST(HostEvaluation, TakesAModelThatCallsAnExtensionsForward) {
  const auto verdict_on = [](const std::string& body) {
    const std::string source =
        "def module_fn(x, factor):\n    return factor * x\n"
        "module_fn = load_inline(name='archive', cpp_sources='', cuda_sources=r'''\n"
        "#include <torch/extension.h>\n"
        "torch::Tensor forward(torch::Tensor in, double factor) {\n"
        "  torch::Tensor out = torch::empty_like(in);\n"
        "  float *x = in.data_ptr<float>(), *y = out.data_ptr<float>();\n"
        "  const long long n = in.numel();\n" +
        body +
        "\n  return out;\n}\n"
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"forward\", &forward, \"doubles\"); }\n"
        "''').forward\n"
        "class Model(torch.nn.Module):\n"
        "    def __init__(self, factor):\n        self.factor = factor\n"
        "    def forward(self, x, fn=module_fn):\n        return fn(x, self.factor)\n"
        "factor = 2.0\n"
        "def get_init_inputs():\n    return [factor]\n"
        "class ModelNew(Model):\n    pass\n";
    return evaluator().evaluate({kTask, source, kAll, 7, true}, {});
  };
  const EvaluationRecord right = verdict_on(kTwice);
  EXPECT_EQ(right.verdict, Verdict::kOk) << right.why;
  EXPECT_EQ(verdict_on("y[0] = 1;").verdict, Verdict::kWrongResult);
}

TEST(HostEvaluation, ByTheRulesOfKernelBench) {
  Evaluator by_protocol = evaluator_with(Protocol::kKernelBench, true);
  const auto judge = [](Evaluator& judge, const std::string& body,
                        std::uint32_t stages =
                            KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT) {
    return judge.evaluate({kTask, python_answer(body), stages, 7, true}, {});
  };
  const std::string changed = std::string(kTwice) + " x[0] = 5;";
  EXPECT_EQ(judge(evaluator(), changed).verdict, Verdict::kWrongResult);
  const EvaluationRecord right = judge(by_protocol, changed, kAll);
  ASSERT_EQ(right.verdict, Verdict::kOk) << right.why;
  ASSERT_EQ(right.cases.size(), 2u) << "no hold-out";
  EXPECT_GT(right.cases[0].time_ns, 0);
  EXPECT_GT(right.cases[0].baseline_ns, 0);
  const std::string shown = "if (n == 1000 || n == 333) " + std::string(kTwice);
  EXPECT_EQ(judge(evaluator(), shown).verdict, Verdict::kWrongResult);
  EXPECT_EQ(judge(by_protocol, shown).verdict, Verdict::kOk);
  const auto off_by = [](const char* error) {
    return "for (int i = 0; i < n; ++i) y[i] = factor * x[i] + " + std::string(error) + ";";
  };
  EXPECT_EQ(judge(evaluator(), off_by("5e-5f")).verdict, Verdict::kWrongResult);
  EXPECT_EQ(judge(by_protocol, off_by("5e-5f")).verdict, Verdict::kOk) << "within 1e-4";
  EXPECT_EQ(judge(by_protocol, off_by("1e-2f")).verdict, Verdict::kWrongResult);
  // Its times are those of 100 trials between events, and of what our clock sees beside them.
  const std::string waits = "usleep(20000);" + std::string(kTwice);
  const EvaluationRecord by_events = judge(by_protocol, waits, kAll);
  ASSERT_EQ(by_events.verdict, Verdict::kOk) << by_events.why;
  EXPECT_EQ(by_events.cases[0].samples_ns.size(), 100u);
  EXPECT_GT(by_events.cases[0].time_ns, 3e6);
  const EvaluationRecord by_clock = judge(evaluator(), waits, kAll);
  ASSERT_EQ(by_clock.verdict, Verdict::kOk) << by_clock.why;
  EXPECT_GT(by_clock.cases[0].time_ns, 3e6);
}

// Trials find neither the outputs of the one before nor its inputs.
TEST(HostEvaluation, TrialsOfKernelBenchAreLookedAt) {
  Evaluator by_protocol = evaluator_with(Protocol::kKernelBench, true);
  const auto judged = [&](const std::string& body) {
    return by_protocol.evaluate({kTask, python_answer(body), kAll, 7, true}, {});
  };
  const EvaluationRecord stands =
      judged("static int calls = 0; if (++calls < 40) " + std::string(kTwice));
  EXPECT_EQ(stands.verdict, Verdict::kFlagged) << stands.why;
  const EvaluationRecord kept = judged(
      "static int calls = 0; static float kept[1000];"
      "if (++calls < 40) for (int i = 0; i < n; ++i) kept[i] = factor * x[i];"
      "for (int i = 0; i < n; ++i) y[i] = kept[i];");
  EXPECT_EQ(kept.verdict, Verdict::kFlagged) << kept.why;
}

double figure(const EvaluationRecord& record, std::string_view name) {
  for (const krl::Value& value : record.values) {
    if (value.name == name && value.case_index == 0) return value.value;
  }
  return kUnknown;
}

// A sample of few short calls measures the way to the runner and back. Here a call's first memory
// takes a thousand times as long as the call.
TEST(HostEvaluation, SamplesAreAsManyShortCallsAsThereIsRoomFor) {
  const EvaluationRecord record =
      evaluator().evaluate({kTask, python_answer(kTwice) + "# short\n", kAll, 7, true}, {});
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  EXPECT_GE(figure(record, "launches_per_sample"), 40);
}

// Killed faster than they start, as by a system that is short of memory: there is no evaluation as
// long as it lasts, and one when it is over.
TEST(HostEvaluation, WaitsWhileProcessesAreKilledAgainAndAgain) {
  evaluator();
  std::atomic<bool> begun{false}, ended{false};
  std::jthread killer([&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (std::chrono::steady_clock::now() < end) {
      EXPECT_FALSE(ended);
      for (const pid_t worker : workers_of_this_process()) ::kill(worker, SIGKILL);
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  test::wait_while([&] { return !begun; });
  const EvaluationRecord record = evaluated(std::string(kDoubles) + " /* killed */");
  ended = true;
  killer.join();
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

}  // namespace
}  // namespace krl::testing

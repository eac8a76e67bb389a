// The CUDA backends on a real GPU, through the plugin boundary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/hostile/hostile_kernels.hpp"
#include "tests/task_kernels.hpp"
#include "tests/triton/triton_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/unit/backends/nvcc/host_sources.hpp"

namespace krl::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kChecked = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_HOLDOUT;
constexpr std::uint32_t kTimed = KRL_STAGE_COMPILE | KRL_STAGE_CHECK | KRL_STAGE_TIME;

// Calls body(item) for all, several at once: the GPU runs one at a time, compilers need not wait.
template <class Items, class Body>
void for_each_at_once(const Items& items, const Body& body) {
  constexpr int kThreads = 12;
  std::mutex mutex;
  auto next = items.begin();
  const auto work = [&] {
    while (true) {
      std::unique_lock lock(mutex);
      if (next == items.end()) return;
      const auto& item = *next++;
      lock.unlock();
      body(item);
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work);
}

class OnGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    if (nvrtc() == nullptr) GTEST_SKIP() << "skipped: no GPU: " << why_not();
  }

  // One for all tests, as it takes seconds to start; null without a GPU.
  static const TaskBackend* nvrtc() {
    static const std::unique_ptr<TaskBackend> backend = start("small");
    return backend.get();
  }
  static const TaskBackend& nvrtc_at_real_sizes() {
    static const std::unique_ptr<TaskBackend> backend = start("real");
    return *backend;
  }

  static std::unique_ptr<TaskBackend> start(const char* sizes) {
    try {
      return std::make_unique<TaskBackend>(
          "nvrtc",
          Table{
              {"cache", "off"}, {"sizes", sizes}, {"compile_timeout", 8.0}, {"run_timeout", 2.0}});
    } catch (const Failure& failure) {
      why_not() = failure.what();
      return nullptr;
    }
  }

  static std::string& why_not() {
    static std::string why;
    return why;
  }

  static Outcome evaluate(const std::string& task, const std::string& source,
                          std::uint32_t stages = kChecked) {
    return nvrtc()->evaluate(all_tasks().at(task), source, stages, 1);
  }
};

TEST_F(OnGpu, EveryNaiveKernelIsRight) {
  for_each_at_once(all_tasks(), [](const auto& entry) {
    const auto& [id, task] = entry;
    const Outcome outcome = evaluate(id, naive_of(task));
    EXPECT_EQ(outcome.verdict, Verdict::kOk) << id << ": " << outcome.why;
  });
}

// The reference and the naive kernel are right at real sizes and at all of the pool, and nothing
// lazy passes.
TEST_F(OnGpu, EveryTaskIsFitToBeLearnedFromAtRealSizes) {
  for_each_at_once(all_tasks(), [](const auto& entry) {
    EXPECT_NO_THROW(nvrtc_at_real_sizes().prepare(entry.second)) << entry.first;
  });
}

// The whole pool refuses each, the fresh shapes of one evaluation nearly all.
TEST_F(OnGpu, AKernelThatIsRightAtTheCasesOnlyIsRefused) {
  const auto names = kernel_names(kOverfitKernels);
  std::mutex mutex;
  std::vector<std::string> accepted;  // at real sizes, by the shapes of one evaluation
  for_each_at_once(names, [&](const std::string& name) {
    const TaskKernel kernel = task_kernel(kOverfitKernels, name);
    const TaskText& task = all_tasks().at(kernel.task);
    const Outcome small = evaluate(kernel.task, kernel.source, kChecked | KRL_STAGE_POOL);
    EXPECT_NE(small.verdict, Verdict::kOk) << name;
    const auto real = [&](std::uint32_t stages) {
      return nvrtc_at_real_sizes().evaluate(task, kernel.source, stages).verdict;
    };
    if (real(kChecked) != Verdict::kOk) return;
    EXPECT_NE(real(kChecked | KRL_STAGE_POOL), Verdict::kOk) << name << ", at real sizes";
    const std::lock_guard lock(mutex);
    accepted.push_back(name);
  });
  EXPECT_LE(accepted.size(), names.size() / 20) << ::testing::PrintToString(accepted);
}

TEST_F(OnGpu, WhereSizesAreRealTheSmallCasesAreNotTimed) {
  const TaskText& task = all_tasks().at("row_sum");
  const Outcome outcome = nvrtc_at_real_sizes().evaluate(task, naive_of(task), kTimed);
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  for (const auto& c : outcome.cases)
    EXPECT_EQ(std::isfinite(c.speedup), c.label == "rows=8192 cols=8192") << c.label;
}

TEST_F(OnGpu, EveryHostileKernelGetsItsVerdict) {
  for_each_at_once(hostile_kernel_names(), [](const std::string& name) {
    const HostileKernel kernel = hostile_kernel(name);
    const Outcome outcome = evaluate(kernel.task, kernel.source, TaskBackend::kAllStages);
    EXPECT_TRUE(kernel.expects_on_gpu(outcome.verdict))
        << name << ": expected " << kernel.expected_on_gpu << ", got " << name_of(outcome.verdict)
        << ": " << outcome.why;
    EXPECT_EQ(outcome.verdicts, 1) << name;
    for (const auto& c : outcome.cases) {
      EXPECT_FALSE(c.speedup_low > kernel.max_speedup_on_gpu) << name << ": " << c.speedup_low;
    }
    for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
      EXPECT_THAT(outcome.log, ::testing::Not(HasSubstr(secret))) << name;
    }
  });
}

TEST_F(OnGpu, EveryTritonKernelGetsItsVerdict) {
  for_each_at_once(triton_kernel_names(), [](const std::string& name) {
    const HostileKernel kernel = triton_kernel(name);
    const Outcome outcome = evaluate(kernel.task, kernel.source, TaskBackend::kAllStages);
    EXPECT_TRUE(kernel.expects_on_gpu(outcome.verdict))
        << name << ": expected " << kernel.expected_on_gpu << ", got " << name_of(outcome.verdict)
        << ": " << outcome.why;
  });
}

TEST_F(OnGpu, RightTritonKernelsAreRightAtRealSizes) {
  for_each_at_once(triton_kernel_names(), [](const std::string& name) {
    const HostileKernel kernel = triton_kernel(name);
    if (!name.starts_with("right/")) return;
    const Outcome outcome =
        nvrtc_at_real_sizes().evaluate(all_tasks().at(kernel.task), kernel.source, kTimed);
    EXPECT_EQ(outcome.verdict, Verdict::kOk) << name << ": " << outcome.why;
    for (const auto& c : outcome.cases) {
      if (std::isfinite(c.speedup))
        std::printf("%s: %s: %.4g us, %.3g of the naive kernel\n", name.c_str(), c.label.c_str(),
                    c.time_ns / 1e3, c.speedup);
    }
  });
}

TEST_F(OnGpu, PtxIsJudgedLikeCuda) {
  const std::string ptx = files::read_file_or_empty(KERNELRL_SOURCE_DIR "/tests/cli/data/relu.ptx");
  ASSERT_NE(ptx, "");
  const Outcome outcome = evaluate("relu", ptx, kTimed);
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  std::string unguarded = ptx;
  const std::size_t branch = unguarded.find("@%p1 bra DONE;");
  ASSERT_NE(branch, std::string::npos);
  unguarded.erase(branch, std::string("@%p1 bra DONE;").size());
  EXPECT_EQ(evaluate("relu", unguarded).verdict, Verdict::kRuntimeFault);
}

TEST_F(OnGpu, TimesAreMeasuredWithTheirInterval) {
  const Outcome outcome =
      evaluate("softmax_rows", naive_of(all_tasks().at("softmax_rows")), kTimed);
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  ASSERT_GE(outcome.cases.size(), 2u);
  for (const auto& c : {outcome.cases[0], outcome.cases[1]}) {  // the fresh ones are not timed
    EXPECT_GE(c.samples_ns.size(), 16u);
    EXPECT_GT(c.time_ns, 500);
    EXPECT_LE(c.speedup_low, c.speedup);
    EXPECT_LE(c.speedup, c.speedup_high);
    EXPECT_GT(c.speedup_low, 0.8);
    EXPECT_LT(c.speedup_high, 1.25);
  }
}

TEST_F(OnGpu, GoodKernelsAreRightBetweenBrokenOnes) {
  const std::string good = naive_of(all_tasks().at("vector_add"));
  const char* broken =
      R"(__global__ void k(const float* a, const float* b, float* c, int n) {
  c[(1ll << 40) + threadIdx.x] = 1;
})";
  for (int i = 0; i < 5; ++i) {
    const Outcome fault =
        evaluate("vector_add", broken + std::string(static_cast<std::size_t>(i), '\n'));
    EXPECT_EQ(fault.verdict, Verdict::kRuntimeFault) << fault.why;
    EXPECT_THAT(fault.why, HasSubstr("illegal address"));
    const Outcome right =
        evaluate("vector_add", good + std::string(static_cast<std::size_t>(i), '\n'));
    EXPECT_EQ(right.verdict, Verdict::kOk) << right.why;
  }
}

TEST_F(OnGpu, NvccAndNvrtcAgree) {
  const TaskBackend nvcc("nvcc", Table{{"cache", "off"}, {"sizes", "small"}});
  for (const char* id : {"vector_add", "matmul", "softmax_rows", "histogram"}) {
    const std::string naive = naive_of(all_tasks().at(id));
    const Outcome by_nvcc = nvcc.evaluate(all_tasks().at(id), naive, kTimed, 1);
    const Outcome by_nvrtc = evaluate(id, naive, kTimed);
    EXPECT_EQ(by_nvcc.verdict, Verdict::kOk) << id << ": " << by_nvcc.why;
    ASSERT_EQ(by_nvcc.records.size(), by_nvrtc.records.size());
    for (std::size_t k = 0; k < by_nvcc.records.size(); ++k) {
      EXPECT_EQ(by_nvcc.records[k].registers, by_nvrtc.records[k].registers) << id;
    }
  }
}

// ---- host code of candidates

class HostCodeOnGpu : public OnGpu {
 protected:
  static const TaskBackend& nvcc() {
    static const TaskBackend backend(
        "nvcc", Table{{"cache", "off"}, {"sizes", "small"}, {"run_timeout", 5.0}});
    return backend;
  }
  static Outcome evaluate_host(const std::string& task, const std::string& source,
                               std::uint32_t stages = kTimed) {
    return nvcc().evaluate(all_tasks().at(task), source, stages, 1, KRL_CONTRACT_HOST);
  }
  // Of vector_add: `before` and `after` stand around a launch that is right.
  static std::string adding(const std::string& before, const std::string& after = "",
                            const std::string& outside = "") {
    return outside +
           "\n__global__ void add(const float* a, const float* b, float* out, int n) {\n"
           "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  if (i < n) out[i] = a[i] + b[i];\n}\n"
           "void launch(const float* a, const float* b, float* out, int n) {\n" +
           before + "\nadd<<<(n + 255) / 256, 256>>>(a, b, out, n);\n" + after + "}\n";
  }
};

TEST_F(HostCodeOnGpu, WhatPeopleWriteIsRight) {
  for_each_at_once(host_sources(), [](const HostSource& source) {
    const Outcome outcome = evaluate_host(source.task, source.text, kChecked);
    EXPECT_EQ(outcome.verdict, Verdict::kOk) << source.name << ": " << outcome.why;
  });
}

TEST_F(HostCodeOnGpu, IsAsFastAsTheSameKernelThatIsLaunchedForIt) {
  const std::string kernel = naive_of(all_tasks().at("matmul"));
  const Outcome device = nvcc().evaluate(all_tasks().at("matmul"), kernel, kTimed, 1);
  ASSERT_EQ(device.verdict, Verdict::kOk) << device.why;
  for (const HostSource& source : host_sources()) {
    if (source.name != "plain_matmul") continue;
    const Outcome host = evaluate_host(source.task, source.text);
    ASSERT_EQ(host.verdict, Verdict::kOk) << source.name << ": " << host.why;
    ASSERT_FALSE(host.cases.empty());
    EXPECT_GT(host.cases.front().speedup_high, 0.7) << source.name;
    for (const auto& c : host.cases)
      EXPECT_FALSE(c.speedup_high <= 0.7) << c.label;  // NaN: not timed
  }
}

TEST_F(HostCodeOnGpu, FaultsAndEndsAreTheCandidatesOwn) {
  const struct {
    std::string source;
    Verdict verdict;
  } kBroken[] = {{adding("out += 1ll << 40;"), Verdict::kRuntimeFault},
                 {adding("exit(0);", "", "#include <cstdlib>"), Verdict::kRuntimeFault},
                 {adding("*(volatile int*)8 = 1;"), Verdict::kRuntimeFault},
                 {adding("for (volatile int i = 0;; ++i) {}"), Verdict::kTimeout},
                 {adding("", "add<<<1, 2048>>>(a, b, out, n);"), Verdict::kRuntimeFault},
                 {adding("n -= 1;"), Verdict::kWrongResult}};
  for (const auto& broken : kBroken) {
    const Outcome outcome = evaluate_host("vector_add", broken.source);
    EXPECT_EQ(outcome.verdict, broken.verdict) << broken.source << outcome.why;
    const Outcome right = evaluate_host("vector_add", adding(""));
    EXPECT_EQ(right.verdict, Verdict::kOk) << right.why;
  }
}

TEST_F(HostCodeOnGpu, EveryAttackGetsItsVerdict) {
  for (const auto& file :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/gpu/hostile")) {
    const HostileKernel attack = hostile_kernel_in(file.path());
    const Outcome outcome = evaluate_host(attack.task, attack.source);
    EXPECT_TRUE(attack.expects_on_gpu(outcome.verdict))
        << file.path().stem() << ": got " << name_of(outcome.verdict) << ": " << outcome.why;
    for (const auto& c : outcome.cases) {
      EXPECT_FALSE(c.speedup_low > attack.max_speedup_on_gpu)
          << file.path().stem() << ": " << c.speedup_low;
    }
  }
}

// A stream that does not wait for the default one, and that nobody waits for.
TEST_F(HostCodeOnGpu, WorkOnASideStreamIsNoSpeed) {
  const Outcome outcome =
      evaluate_host("vector_add",
                    R"(__global__ void add(const float* a, const float* b, float* out, int n) {
  const long long start = clock64();
  while (clock64() - start < 200000) {}
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)
    out[i] = a[i] + b[i];
}
void launch(const float* a, const float* b, float* out, int n) {
  static cudaStream_t side = [] {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    return s;
  }();
  add<<<64, 256, 0, side>>>(a, b, out, n);
})");
  for (const auto& c : outcome.cases) EXPECT_FALSE(c.speedup_low > 1) << c.speedup_low;
}

}  // namespace
}  // namespace krl::testing

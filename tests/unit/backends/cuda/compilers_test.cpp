// The real plugins `nvrtc` and `nvcc` with the real compilers, without a GPU: what holds for both.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include "plugins/backends/cuda/compile_settings.hpp"
#include "plugins/backends/cuda/compiled_module.hpp"
#include "plugins/backends/cuda/cubin.hpp"
#include "plugins/backends/cuda/resource_report.hpp"
#include "plugins/backends/evaluator/process/descriptor.hpp"
#include "plugins/backends/nvcc/nvcc_compiler.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::Values;

class CudaCompilers : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    try {
      find_nvrtc({}, KERNELRL_PYTHON_DEPS);
      find_nvcc({}, KERNELRL_PYTHON_DEPS);
    } catch (const Failure& failure) {
      GTEST_SKIP() << "skipped: " << failure.what();
    }
  }

  static const BackendInstance& backend() {
    static std::map<std::string, std::unique_ptr<BackendInstance>> instances;
    std::unique_ptr<BackendInstance>& instance = instances[GetParam()];
    if (instance == nullptr) {
      instance = std::make_unique<BackendInstance>(
          GetParam(),
          Table{{"execute", "off"}, {"arch", "sm_90"}, {"compile_timeout", 5.0}, {"cache", "off"}});
    }
    return *instance;
  }

  static Outcome evaluate(const std::string& source, const std::string& task = "vector_add") {
    return backend().evaluate(all_tasks().at(task), source);
  }

  // The compiler of the plugin, without the plugin around it.
  static CudaCompiler compiler_for(const std::string& arch) {
    const std::string path =
        KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + std::string(GetParam()) + ".krl.so";
    void* const self = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const InstalledFiles files(::dlsym(self, "krl_plugin_v1"), "the test");
    CompileSettings settings;
    settings.arch = arch;
    return GetParam() == std::string("nvcc") ? nvcc_compiler(settings, files)
                                             : nvrtc_compiler(settings, files);
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaCompilers, Values("nvrtc", "nvcc"),
                         [](const auto& info) { return std::string(info.param); });

constexpr const char* kAdd =
    R"(// @launch add<float, 4><<<ceil_div(n, 1024), 256, 2048>>>(a, b, out, n)
template <class T, int N>
__global__ void __launch_bounds__(256) add(const T* a, const T* b, T* out, int n) {
  __shared__ T tile[256];
  extern __shared__ T more[];
  for (int k = 0; k < N; ++k) {
    int i = (blockIdx.x * N + k) * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? a[i] : T(0);
    more[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) out[i] = tile[threadIdx.x] + b[i] + more[threadIdx.x ^ 1];
    __syncthreads();
  }
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST_P(CudaCompilers, SaysWhatAKernelUses) {
  const Outcome outcome = evaluate(kAdd);
  ASSERT_EQ(outcome.verdict, KRL_VERDICT_OK) << outcome.why;
  EXPECT_THAT(outcome.toolchain, AnyOf(StartsWith("NVRTC 1"), StartsWith("nvcc 1")));
  EXPECT_EQ(outcome.device, "sm_90, not executed");
  ASSERT_EQ(outcome.records.size(), 1u);
  const KernelRecord& kernel = outcome.records.front();
  EXPECT_EQ(kernel.name, "add<float, 4>");
  EXPECT_EQ(kernel.arch, "sm_90");
  EXPECT_GT(kernel.registers, 8);
  EXPECT_LT(kernel.registers, 64);
  EXPECT_EQ(kernel.spill_bytes, 0);
  EXPECT_EQ(kernel.stack_bytes, 0);
  EXPECT_EQ(kernel.shared_bytes, 1024 + 2048);
  EXPECT_EQ(kernel.max_threads, 256);
  EXPECT_EQ(kernel.blocks_per_sm, 8);
  EXPECT_EQ(kernel.occupancy, 1);
}

TEST_P(CudaCompilers, SeesRegistersThatSpill) {
  const char* source = R"(
__global__ void __launch_bounds__(1024, 2) add(const float* a, const float* b, float* out, int n) {
  float r[96];
  for (int i = 0; i < 96; ++i) r[i] = a[i * n];
  for (int k = 0; k < n; ++k) {
#pragma unroll
    for (int i = 0; i < 96; ++i) r[i] = r[(i + 7) % 96] * r[i] + b[k];
  }
  for (int i = 0; i < 96; ++i) out[i * n] = r[i];
}
)";
  const Outcome outcome = evaluate(source);
  ASSERT_EQ(outcome.verdict, KRL_VERDICT_OK) << outcome.why;
  EXPECT_LE(outcome.records.at(0).registers, 32) << "as two blocks of 1,024 threads leave";
  EXPECT_GT(outcome.records.at(0).spill_bytes, 100);
}

TEST_P(CudaCompilers, RefusesLaunchesThatCannotWork) {
  const auto why = [](const std::string& from, const std::string& to) {
    const Outcome outcome = evaluate(replaced(kAdd, from, to));
    return std::string(verdict_name(outcome.verdict)) + ": " + outcome.why;
  };
  EXPECT_EQ(why("256, 2048", "512"),
            "launch_error: line 1, column 12: a block of 512 threads, but add<float, 4> has "
            "__launch_bounds__(256)");
  EXPECT_EQ(why(", out, n)", ", out)"),
            "launch_error: line 1, column 12: add<float, 4> takes 4 arguments, not 3");
  EXPECT_EQ(why("(a, b, out, n)", "(a, b, n, out)"),
            "launch_error: line 1, column 12: add<float, 4> takes 4 bytes as its argument 4, which "
            "this is not");
  EXPECT_THAT(why("256, 2048", "256, 232448"),
              HasSubstr("does not fit a multiprocessor of sm_90: too much of its shared memory"));
  EXPECT_THAT(why("add<float, 4><<<", "nothing<<<"), HasSubstr("no kernel is called 'nothing'"));
}

TEST_P(CudaCompilers, GivesTheLineOfAnError) {
  const Outcome outcome = evaluate(replaced(kAdd, "out[i] =", "int u; outt[i] ="));
  EXPECT_EQ(outcome.verdict, KRL_VERDICT_COMPILE_ERROR);
  EXPECT_EQ(outcome.why, "line 11: identifier \"outt\" is undefined");
  EXPECT_THAT(outcome.diagnostics, Contains("11:0: identifier \"outt\" is undefined"));
}

// The layout of a CUBIN's attributes is not documented: here it is held against what ptxas says.
TEST_P(CudaCompilers, CompiledCodeAndReportAgree) {
  for (const char* arch : {"sm_80", "sm_90"}) {
    const CudaCompiler compiler = compiler_for(arch);
    int kernels = 0;
    for (const auto& [id, task] : all_tasks()) {
      const CompileOutput output = compiler.compile(naive_of(task), {}, {});
      ASSERT_EQ(output.end, CompileOutput::kCompiled) << id << ": " << output.log;
      const auto module = module_from_bytes(output.module);
      ASSERT_TRUE(module) << id;
      const auto report = read_resource_report(module->report);
      std::string why;
      const auto code = read_cubin(module->cubin, why);
      ASSERT_TRUE(code) << id << ": " << why;
      EXPECT_EQ(code->size(), report.size()) << id;
      for (const CubinKernel& kernel : *code) {
        ASSERT_EQ(report.count(kernel.name), 1u) << id << ": " << kernel.name;
        const KernelResources& resources = report.at(kernel.name);
        EXPECT_EQ(kernel.registers, resources.registers) << id << ": " << kernel.name;
        EXPECT_EQ(kernel.stack_bytes, resources.stack_bytes) << id << ": " << kernel.name;
        EXPECT_FALSE(kernel.parameters.empty()) << id << ": " << kernel.name;
        ++kernels;
      }
    }
    EXPECT_GE(kernels, 38);
  }
}

TEST_P(CudaCompilers, CompilesEveryNaiveKernel) {
  for (const auto& [id, task] : all_tasks()) {
    const Outcome outcome = evaluate(naive_of(task), id);
    EXPECT_EQ(outcome.verdict, KRL_VERDICT_OK) << id << ": " << outcome.why << "\n" << outcome.log;
    ASSERT_FALSE(outcome.records.empty()) << id;
    for (const KernelRecord& kernel : outcome.records) {
      EXPECT_GT(kernel.registers, 0) << id;
      EXPECT_GE(kernel.spill_bytes, 0) << id;
      EXPECT_GT(kernel.occupancy, 0) << id;
      EXPECT_LE(kernel.occupancy, 1) << id;
    }
  }
}

TEST_P(CudaCompilers, EndsHostileCompilesInTime) {
  for (const auto& file :
       std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/hostile/kernels")) {
    SCOPED_TRACE(file.path());
    const Outcome outcome = evaluate(read_file(file.path().string()));
    EXPECT_EQ(outcome.verdicts, 1);
    for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
      EXPECT_THAT(outcome.log, Not(HasSubstr(secret)));
    }
  }
}

TEST_P(CudaCompilers, CannotRunKernelsYet) {
  try {
    const BackendInstance instance(GetParam(), {{"arch", "sm_90"}});
    FAIL() << "started";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("execute = \"off\""));
  }
}

}  // namespace
}  // namespace krl::testing

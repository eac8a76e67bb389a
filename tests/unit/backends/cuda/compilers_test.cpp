// The real plugins `nvrtc` and `nvcc` with the real compilers, without a GPU: what holds for both.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/instruction_classes.hpp"
#include "plugins/backends/compiled/machine_code.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "plugins/backends/evaluator/compile/compile_settings.hpp"
#include "plugins/backends/nvcc/nvcc_compiler.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "plugins/backends/ptx/reader.hpp"
#include "plugins/files/file.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/until_available.hpp"
#include "tests/wait_while.hpp"

namespace krl::testing {
using namespace compiled;
using namespace evaluator;
using namespace nvcc;
using namespace nvrtc;
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::Values;

constexpr std::chrono::seconds kLimit{10};

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

  static const TaskBackend& backend() {
    static std::map<std::string, std::unique_ptr<TaskBackend>> instances;
    std::unique_ptr<TaskBackend>& instance = instances[GetParam()];
    if (instance == nullptr) {
      instance = std::make_unique<TaskBackend>(
          GetParam(),
          Table{{"execute", "off"}, {"arch", "sm_90"}, {"compile_timeout", 5.0}, {"cache", "off"}});
    }
    return *instance;
  }

  static Outcome evaluate(const std::string& source, const std::string& task = "vector_add") {
    return backend().evaluate(all_tasks().at(task), source);
  }

  // The compiler of the plugin, without the plugin around it.
  static CudaCompiler compiler_for(const std::string& arch, std::chrono::seconds limit = kLimit) {
    const std::string path =
        KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + std::string(GetParam()) + ".krl.so";
    void* const self = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const InstalledFiles files(::dlsym(self, "krl_plugin_v1"), "the test");
    CompileSettings settings;
    settings.arch = arch;
    settings.compile_limit = limit;
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
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  EXPECT_THAT(outcome.toolchain, AnyOf(StartsWith("NVRTC 1"), StartsWith("nvcc 1")));
  EXPECT_EQ(outcome.device, "sm_90, not executed");
  ASSERT_EQ(outcome.records.size(), 1u);
  const Kernel& kernel = outcome.records.front();
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
  ASSERT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  EXPECT_LE(outcome.records.at(0).registers, 32) << "as two blocks of 1,024 threads leave";
  EXPECT_GT(outcome.records.at(0).spill_bytes, 100);
}

TEST_P(CudaCompilers, RefusesLaunchesThatCannotWork) {
  const auto why = [](const std::string& from, const std::string& to) {
    const Outcome outcome = evaluate(replaced(kAdd, from, to));
    return std::string(name_of(outcome.verdict)) + ": " + outcome.why;
  };
  EXPECT_EQ(why("256, 2048", "512"),
            "launch_error: line 1, column 12: a block of 512 threads, but add<float, 4> has "
            "__launch_bounds__(256), in PTX .maxntid");
  EXPECT_EQ(why(", out, n)", ", out)"),
            "launch_error: line 1, column 12: add<float, 4> takes 4 arguments, not 3");
  EXPECT_EQ(why("(a, b, out, n)", "(a, b, n, out)"),
            "launch_error: line 1, column 12: argument 3 of add<float, 4> is a number, but its "
            "parameter is float*");
  EXPECT_THAT(why("256, 2048", "256, 232448"),
              HasSubstr("a block needs more shared memory than a multiprocessor of sm_90 has"));
  EXPECT_THAT(why("add<float, 4><<<", "nothing<<<"), HasSubstr("no kernel is called 'nothing'"));
}

TEST_P(CudaCompilers, GivesTheLineOfAnError) {
  const Outcome outcome = evaluate(replaced(kAdd, "out[i] =", "int u; outt[i] ="));
  EXPECT_EQ(outcome.verdict, Verdict::kCompileError);
  EXPECT_EQ(outcome.why, "line 11: identifier \"outt\" is undefined");
  EXPECT_THAT(outcome.diagnostics, Contains("11:0: identifier \"outt\" is undefined"));
}

TEST_P(CudaCompilers, SaysWhatTheAssemblerRefuses) {
  const std::string kernel =
      "__global__ void add(const float* a, const float* b, float* out, int n) {\n"
      "  __shared__ float tile[1 << 14];\n"
      "  int error;\n"  // of which there is a warning
      "  tile[threadIdx.x] = a[0];\n"
      "  __syncthreads();\n"
      "  out[0] = tile[n] + b[0];\n}\n";
  // Where no launch can be read, the compiler is told of no kernel.
  for (const char* launch : {"add<<<1, 256>>>(a, b, out, n)", "add<<<//1, 256>>>(a, b, out, n)"}) {
    const Outcome outcome = evaluate("// @launch " + std::string(launch) + "\n" + kernel);
    EXPECT_EQ(outcome.verdict, Verdict::kCompileError);
    EXPECT_THAT(outcome.why, HasSubstr("uses too much shared data")) << launch;
  }
}

// The layout of a CUBIN's attributes is not documented: here it is held against what ptxas says. It
// is the same ptxas for all compilers, and the slow ones need not ask it again.
TEST_P(CudaCompilers, CompiledCodeAndReportAgree) {
  const int wanted = GetParam() == std::string("nvcc") ? 5 : 38;
  for (const char* arch : {"sm_80", "sm_100"}) {
    const CudaCompiler compiler = compiler_for(arch);
    int kernels = 0;
    for (const auto& [id, task] : all_tasks()) {
      if (kernels >= wanted) break;
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
    EXPECT_GE(kernels, wanted);
  }
}

TEST_P(CudaCompilers, CodeHasVariablesIfLaunchesCanChangeThem) {
  const CudaCompiler compiler = compiler_for("sm_90");
  const auto answer_for = [&](const std::string& declared, const std::string& used) {
    const std::string source = declared +
                               "\nextern \"C\" __global__ void k(float* a) {\n"
                               "  __shared__ float s[32];\n  s[threadIdx.x] = a[0];\n"
                               "  __syncthreads();\n  a[threadIdx.x] = s[0] + " +
                               used + ";\n}\n";
    const CompileOutput output = compiler.compile(source, {"k"}, {});
    EXPECT_EQ(output.end, CompileOutput::kCompiled) << output.log;
    const auto module = module_from_bytes(output.module);
    return module && has_variables(module->cubin);
  };
  EXPECT_FALSE(answer_for("", "1"));
  EXPECT_FALSE(answer_for("__constant__ float c[2] = {1, 2};", "c[threadIdx.x % 2]"));
  EXPECT_TRUE(answer_for("__device__ int calls;", "calls++"));
  EXPECT_TRUE(answer_for("__device__ int calls = 7;", "calls++"));
}

// Of arrays that are indexed at run time, and of what recursion may take.
TEST_P(CudaCompilers, KnowTheLocalMemoryThatAThreadMayUse) {
  const CudaCompiler compiler = compiler_for("sm_90");
  const auto stack_of = [&](const std::string& body) {
    const std::string source =
        "__device__ __noinline__ float deep(float* a, int n) {\n"
        "  return n > 0 ? a[n] * deep(a, n - 1) + deep(a + 1, n - 2) : 1;\n}\n"
        "extern \"C\" __global__ void k(float* a, int n) {\n" +
        body + "\n}\n";
    const CompileOutput output = compiler.compile(source, {"k"}, {});
    EXPECT_EQ(output.end, CompileOutput::kCompiled) << output.log;
    const auto module = module_from_bytes(output.module);
    return module ? most_stack(module->cubin, module->ptx) : 0;
  };
  EXPECT_EQ(stack_of("a[n] = 1;"), 0u);
  EXPECT_GE(stack_of("float x[100]; x[n] = a[0]; x[n + 1] = a[1]; a[n] = x[(int)a[2]];"), 400u);
  EXPECT_GE(stack_of("a[n] = deep(a, n);"), 1024u);
}

// Calls `visit` with each line that a tool of NVIDIA's prints of a CUBIN.
void for_each_line(const std::string& tool, const std::string& cubin,
                   const std::function<void(const char*)>& visit) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("krl_cubin_" + std::to_string(::getpid()) + ".cubin");
  std::ofstream(file, std::ios::binary) << cubin;
  std::FILE* const answer =
      ::popen((KERNELRL_PYTHON_DEPS "/nvidia/cu13/bin/" + tool + " " + file.string()).c_str(), "r");
  for (char line[4096]; std::fgets(line, sizeof line, answer) != nullptr;) visit(line);
  EXPECT_EQ(::pclose(answer), 0);
  std::filesystem::remove(file);
}

// By mangled name, what NVIDIA's own reader of compiled code says of each kernel.
std::map<std::string, KernelResources> ask_cuobjdump(const std::string& cubin) {
  std::map<std::string, KernelResources> kernels;
  std::string name;
  for_each_line("cuobjdump --dump-resource-usage", cubin, [&](const char* line) {
    char function[2048];
    KernelResources resources;
    if (std::sscanf(line, " Function %2047[^:]:", function) == 1) name = function;
    if (std::sscanf(line, " REG:%d STACK:%d SHARED:%d", &resources.registers,
                    &resources.stack_bytes, &resources.shared_bytes) == 3) {
      kernels[name] = resources;
    }
  });
  return kernels;
}

// The values of all kernels by the names that nvdisasm gives instructions: "STG.E.64".
std::map<std::string, double> ask_nvdisasm(const std::string& cubin) {
  const std::pair<const char*, std::regex> kinds[] = {
      {"sass_shuffles", std::regex("SHFL\\b.*")},
      {"sass_votes", std::regex("(VOTEU?|MATCH|C?REDUX)\\b.*")},
      {"sass_barriers", std::regex("(BAR|UCGABAR_ARV|UCGABAR_WAIT)\\b.*")},
      {"sass_wide_accesses", std::regex("(LDG|STG)\\.(.*\\.)?(64|128)(\\..*)?")},
      {"sass_tensor_instructions", std::regex("[A-Z]+MMA\\b.*")},
      {"sass_atomics", std::regex("(ATOM[GS]?|RED[GS]?)\\b.*")},
      {"sass_local_accesses", std::regex("(LDL|STL)\\b.*")},
      {"sass_asynchronous_copies", std::regex("(LDGSTS|UBLKCP|UTMALDG|UTMASTG)\\b.*")}};
  std::map<std::string, double> counts;
  for (const auto& [name, kind] : kinds) counts[name] = 0;
  static const std::regex instruction(
      "\\s*/\\*[0-9a-f]{4,}\\*/\\s+(@!?U?P\\w+ +)?([A-Z][\\w.]*)[^]*");
  for_each_line("nvdisasm -c", cubin, [&, &kinds = kinds](const char* line) {
    std::cmatch found;
    if (!std::regex_match(line, found, instruction)) return;
    for (const auto& [name, kind] : kinds) counts[name] += std::regex_match(found.str(2), kind);
  });
  return counts;
}

TEST_P(CudaCompilers, CompiledCodeAgreesWithCuobjdump) {
  const std::string tool = KERNELRL_PYTHON_DEPS "/nvidia/cu13/bin/cuobjdump";
  if (!std::filesystem::exists(tool)) GTEST_SKIP() << "skipped: no " << tool;
  const CudaCompiler compiler = compiler_for("sm_90");
  const int wanted = GetParam() == std::string("nvcc") ? 5 : 38;
  int kernels = 0;
  for (const auto& [id, task] : all_tasks()) {
    if (kernels >= wanted) break;
    const CompileOutput output = compiler.compile(naive_of(task), {}, {});
    const auto module = module_from_bytes(output.module);
    ASSERT_TRUE(module) << id;
    const auto report = read_resource_report(module->report);
    std::string why;
    const auto code = read_cubin(module->cubin, why);
    ASSERT_TRUE(code) << id << ": " << why;
    const auto expected = ask_cuobjdump(module->cubin);
    EXPECT_EQ(code->size(), expected.size()) << id;
    for (const CubinKernel& kernel : *code) {
      SCOPED_TRACE(id + ": " + kernel.name);
      ASSERT_EQ(expected.count(kernel.name), 1u);
      const KernelResources& resources = expected.at(kernel.name);
      EXPECT_EQ(kernel.registers, resources.registers);
      EXPECT_EQ(kernel.stack_bytes, resources.stack_bytes);
      // cuobjdump adds what the system reserves in a block that has shared memory, from sm_90 on.
      const int reserved = resources.shared_bytes > 0 ? 1024 : 0;
      EXPECT_EQ(report.at(kernel.name).shared_bytes + reserved, resources.shared_bytes);
      ++kernels;
    }
  }
  EXPECT_GE(kernels, wanted);
}

// One of everything, as far as all architectures have it.
constexpr const char* kEverything = R"(
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
__device__ __noinline__ float total(float x) {
  for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
  return x;
}
__global__ void all(const float4* a, float* b, int n, int* c, half* h, double* d) {
  __shared__ __align__(32) half tile[1024];
  __shared__ int counters[64];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
  __pipeline_memcpy_async(tile + 8 * threadIdx.x, h + 8 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  wmma::load_matrix_sync(x, tile, 16);
  wmma::load_matrix_sync(y, tile + 256, 16);
  wmma::fill_fragment(z, 0.f);
  wmma::mma_sync(z, x, y, z);
  float local[64];
  for (int i = 0; i < 64; ++i) local[i] = b[i * n];
  float s = a[n].x + local[n % 64] + total(b[n]) + __shfl_sync(~0u, b[n], n % 32);
  if (__any_sync(__ballot_sync(~0u, s > 0), s > 1)) s += __match_any_sync(~0u, n);
  int* either = n > 5 ? c : counters;
  s += atomicAdd(either + n, 1) + atomicCAS(either + n, 1, 2) + atomicAdd(c + 1, 2);
  s += atomicAdd(b + 2, s) + atomicCAS(c + 3, 1, 2) + atomicCAS(&counters[n % 64], 4, 5);
  atomicMax(c + 4, 3);
  atomicAdd(&counters[n % 64], 1);
  atomicAdd(b + 5, s);
  atomicAdd(d, 1.0);
  __syncthreads_count(n);
  ((float2*)b)[n] = make_float2(s, z.x[0]);
  ((float4*)b)[n + 9] = a[n + 1];
  d[7] = s + __half2float(tile[n]) + counters[n];
}
)";

TEST_P(CudaCompilers, MachineInstructionsAreThoseOfNvdisasm) {
  const std::string tool = KERNELRL_PYTHON_DEPS "/nvidia/cu13/bin/nvdisasm";
  if (!std::filesystem::exists(tool)) GTEST_SKIP() << "skipped: no " << tool;
  std::vector<std::string> sources = {kEverything};
  for (const char* id : {"matmul", "softmax_rows", "histogram", "transpose"}) {
    sources.push_back(naive_of(all_tasks().at(id)));
  }
  std::map<std::string, double> total;
  std::vector<std::string> archs = {"sm_90"};
  if (GetParam() == std::string("nvrtc")) archs = {"sm_75", "sm_80", "sm_90", "sm_100"};
  for (const std::string& arch : archs) {
    const CudaCompiler compiler = compiler_for(arch);
    for (const std::string& source : sources) {
      if (arch == "sm_75" && source == kEverything) continue;  // it has not all of it
      const CompileOutput output = compiler.compile(source, {}, {});
      ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.log;
      const auto module = module_from_bytes(output.module);
      std::string why;
      const auto code = read_cubin(module->cubin, why);
      ASSERT_TRUE(code) << why;
      std::vector<std::string> kernels;
      for (const CubinKernel& kernel : *code) kernels.push_back(kernel.name);
      std::vector<krl::Value> values;
      add_machine_values(count_machine_instructions(module->cubin, kernels), &values);
      std::map<std::string, double> counted;
      for (const krl::Value& value : values) counted[value.name] = value.value;
      EXPECT_EQ(counted, ask_nvdisasm(module->cubin)) << arch << "\n" << source;
      for (const auto& [name, count] : counted) total[name] += count;
    }
  }
  for (const auto& [name, count] : total) EXPECT_GT(count, 0) << name << " was never met";
}

TEST_P(CudaCompilers, CompilesNaiveKernels) {
  const int step = GetParam() == std::string("nvcc") ? 2 : 1;
  int number = 0;
  for (const auto& [id, task] : all_tasks()) {
    if (number++ % step != 0) continue;
    const Outcome outcome = evaluate(naive_of(task), id);
    EXPECT_EQ(outcome.verdict, Verdict::kOk) << id << ": " << outcome.why << "\n" << outcome.log;
    ASSERT_FALSE(outcome.records.empty()) << id;
    for (const Kernel& kernel : outcome.records) {
      EXPECT_GT(kernel.registers, 0) << id;
      EXPECT_GE(kernel.spill_bytes, 0) << id;
      EXPECT_GT(kernel.occupancy, 0) << id;
      EXPECT_LE(kernel.occupancy, 1) << id;
    }
  }
}

TEST_P(CudaCompilers, CountsInstructionsOfLaunchedKernels) {
  const char* source = R"(
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;
__device__ __noinline__ float total(float x) {
  for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(~0u, x, k);
  return x;
}
__global__ void unused(float* out) { atomicAdd(out, __shfl_sync(~0u, *out, 3)); }
__global__ void add(const float* a, const float* b, float* out, int n) {
  __shared__ __align__(32) half tile[512];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
  __pipeline_memcpy_async(tile + 8 * threadIdx.x, a + 4 * threadIdx.x, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  cooperative_groups::this_thread_block().sync();
  wmma::load_matrix_sync(x, tile, 16);
  wmma::load_matrix_sync(y, tile + 256, 16);
  wmma::fill_fragment(z, 0.f);
  wmma::mma_sync(z, x, y, z);
  float4 v = ((const float4*)b)[threadIdx.x];
  float local[64];
  for (int i = 0; i < 64; ++i) local[i] = a[i];
  v.x = total(v.x + local[n % 64]);
  v.y = __ballot_sync(~0u, v.y > 0);
  ((float4*)out)[threadIdx.x] = v;
  atomicAdd(out + n, z.x[0]);
}
)";
  const CompileOutput output = compiler_for("sm_90").compile(source, {"add"}, {});
  ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why << "\n" << output.log;
  EXPECT_EQ(output.log, "") << "its own headers give no warnings";
  const auto module = module_from_bytes(output.module);
  const ptx::ReadResult code = ptx::read_module(module->ptx, "kernel.cu");
  ASSERT_FALSE(code.problem) << code.problem->text();
  const InstructionCounts counts = count_instructions(code.module, module->names);
  EXPECT_EQ(counts.shuffles, 5) << "not the one of 'unused'";
  EXPECT_EQ(counts.votes, 1);
  EXPECT_EQ(counts.barriers, 1);
  EXPECT_EQ(counts.vector_accesses, 2);
  EXPECT_EQ(counts.tensor_instructions, 1);
  EXPECT_EQ(counts.atomics, 1);
  EXPECT_GE(counts.local_accesses, 2);
  EXPECT_EQ(counts.asynchronous_copies, 1);
}

TEST_P(CudaCompilers, GivesTheCountsOfAnEvaluation) {
  const Outcome outcome = evaluate(kAdd);
  EXPECT_EQ(outcome.values.at("shuffles"), 0);
  EXPECT_GE(outcome.values.at("barriers"), 1);
  const auto info = backend().describe();
  EXPECT_TRUE(info.signals & KRL_SIGNAL_INSTRUCTIONS);
}

// A kernel with `statement` in its third line.
std::string vector_add_with(const std::string& statement) {
  return "// @launch add<<<ceil_div(n, 256), 256>>>(a, b, out, n)\n"
         "__device__ float twice(float x) { return 2 * x; }  __device__ unsigned long long last;\n"
         "__global__ void add(const float* a, const float* b, float* out, int n) { " +
         statement +
         "\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) out[i] = a[i] + "
         "b[i];\n}";
}

TEST_P(CudaCompilers, TakesInlinePtx) {
  const Outcome outcome = evaluate(vector_add_with(
      "int lane; asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane)); if (lane > 31) return;"));
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
}

TEST_P(CudaCompilers, RefusesWhatTheCompiledCodeMayNotContain) {
  const auto why = [&](const std::string& statement) {
    const Outcome outcome = evaluate(vector_add_with(statement));
    EXPECT_EQ(outcome.verdict, Verdict::kRejected) << statement;
    return outcome.why;
  };
  EXPECT_EQ(why("printf(\"%d\", n);"),
            "line 3: printf is not allowed: a kernel only writes its outputs");
  EXPECT_EQ(why("if (n < 0) free(malloc(n));"),
            "line 3: malloc and new are not allowed: memory comes from @scratch");
  EXPECT_EQ(why("float (*volatile f)(float) = twice; out[0] = f(1);"),
            "line 3: the address of a function: call functions by name");
  EXPECT_EQ(why("unsigned sm; asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(sm)); out[0] = sm;"),
            "line 3: %smid: results may not depend on where a kernel runs");
  EXPECT_EQ(
      why("last = clock64();"),
      "line 3: a clock's value in st.global.u64: clocks may only decide for how long a thread "
      "waits");
  EXPECT_EQ(why("asm volatile(\"discard.global.L2 [%0], 128;\" :: \"l\"(out));"),
            "line 3: discard.global.L2: may not discard the contents of memory");
}

TEST_P(CudaCompilers, EndsHostileCompilesInTime) {
  constexpr int kStep =
      4;  // every kernel is given to the cpu backend, which compiles as nvrtc does
  int number = 0;
  const std::set<std::filesystem::path> files(
      std::filesystem::directory_iterator(KERNELRL_SOURCE_DIR "/tests/hostile/kernels/compiler"),
      {});
  for (const std::filesystem::path& file : files) {
    if (number++ % kStep != 0) continue;
    SCOPED_TRACE(file);
    const std::string source = files::read_file_or_empty(file.string());
    const Outcome outcome = evaluate(source);
    EXPECT_EQ(outcome.verdicts, 1);
    for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
      if (source.find(secret) != std::string::npos) continue;  // quoted from the candidate
      EXPECT_THAT(outcome.log, Not(HasSubstr(secret)));
    }
  }
}

TEST_P(CudaCompilers, SaysHowToDoWithoutAGpu) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "skipped: a GPU";
  try {
    const TaskBackend instance(GetParam(), {{"arch", "sm_90"}});
    FAIL() << "started";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("execute = \"off\""));
  }
}

// 2^28 classes: no compiler gets to their end.
constexpr const char* kTemplateBomb = R"(
template <int N, int M> struct B {
  static const int v = B<N - 1, 2 * M>::v + B<N - 1, 2 * M + 1>::v;
};
template <int M> struct B<0, M> { static const int v = 1; };
__global__ void k(int* p) { *p = B<28, 0>::v; }
)";

// Past the static checks, which refuse some of these before a compiler sees them.
TEST_P(CudaCompilers, NothingOfTheMachineGetsIntoTheLog) {
  const CudaCompiler compiler = compiler_for("sm_90");
  for (const char* include :
       {"\"/etc/passwd\"", "\"/proc/self/environ\"", "\"/proc/self/cmdline\"",
        "\"/proc/self/maps\"", "\"../../../../../../etc/passwd\"", "<../../../../etc/passwd>",
        "\"/dev/stdin\"", "\"" KERNELRL_SOURCE_DIR "/README.md\"", "\"/etc\""}) {
    SCOPED_TRACE(include);
    const std::string source =
        std::string("#include ") + include + "\n__global__ void k(int* p) { *p = 1; }\n";
    const CompileOutput output = compiler.compile(source, {"k"}, {});
    for (const char* secret :
         {"root:", "PATH=", "libexec", "kernelrl-sandbox", KERNELRL_SOURCE_DIR}) {
      EXPECT_THAT(output.log, Not(HasSubstr(secret)));
    }
  }
}

TEST_P(CudaCompilers, EndsWhatWouldNotEnd) {
  const CudaCompiler compiler = compiler_for("sm_90", std::chrono::seconds(2));
  const std::pair<const char*, const char*> bombs[] = {
      {"templates", kTemplateBomb},
      {"constexpr",
       R"(__device__ constexpr unsigned f(unsigned n) {
  unsigned s = 0;
  for (unsigned i = 0; i < n; ++i)
    for (unsigned j = 0; j < n; ++j) s += i ^ j;
  return s;
}
__global__ void k(int* p) {
  constexpr unsigned x = f(1u << 30);
  *p = x;
})"},
      {"macros",
       R"(#define A(x) x x x x x x x x x x
#define B(x) A(A(A(x)))
#define C(x) B(B(B(x)))
__global__ void k(int* p) { C(*p += 1;) })"},
      {"array",
       "__device__ int big[1ull << 36] = {1};\n__global__ void k(int* p) { *p = big[*p]; }"},
      {"include", "#include \"kernel.cu\"\n__global__ void k(int* p) { *p = 1; }"},
      {"depth",
       R"(template <int N> __device__ int f() { return f<N + 1>() + 1; }
__global__ void k(int* p) { *p = f<0>(); })"},
  };
  for (const auto& [name, source] : bombs) {
    SCOPED_TRACE(name);
    const CompileOutput output =
        test::until_available([&] { return compiler.compile(source, {"k"}, {}); });
    EXPECT_NE(output.end, CompileOutput::kCompiled);
    if (name == std::string("templates")) {
      EXPECT_EQ(output.end, CompileOutput::kTimeout) << output.why;
    }
    EXPECT_FALSE(output.why.empty());
    EXPECT_LE(output.log.size(), kMaxLogBytes);
  }
}

// The text of each macro is twice that of the one before.
std::string macro_bomb() {
  std::string source = "#define X0 +1\n";
  for (int i = 1; i < 48; ++i) {
    const std::string before = " X" + std::to_string(i - 1);
    source += "#define X" + std::to_string(i) + before + before + "\n";
  }
  return source + "__global__ void k(int* p) { *p = 0 X47; }\n";
}

// The name of the type that has no member is one line of 2^14 times "S<…, …>".
constexpr const char* kLongTypeName = R"(
template <class A, class B> struct S {};
template <int N> struct T { typedef S<typename T<N - 1>::type, typename T<N - 1>::type> type; };
template <> struct T<0> { typedef int type; };
__global__ void k(int* p) { T<14>::type t; t.x = 1; }
)";

TEST_P(CudaCompilers, EndlessMacrosAreATimeout) {
  const CudaCompiler compiler = compiler_for("sm_90", std::chrono::seconds(2));
  const CompileOutput output =
      test::until_available([&] { return compiler.compile(macro_bomb(), {}, {}); });
  EXPECT_EQ(output.end, CompileOutput::kTimeout) << output.log;
}

TEST_P(CudaCompilers, AnErrorOfAnyLengthIsACompileError) {
  const CompileOutput output = compiler_for("sm_90").compile(kLongTypeName, {}, {});
  EXPECT_EQ(output.end, CompileOutput::kFailed);
  EXPECT_FALSE(output.why.empty());
}

struct Process {
  pid_t id = 0, parent = 0, group = 0;
  std::string name;  // "(cicc)"
};

std::vector<Process> processes() {
  std::vector<Process> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream stat(entry.path() / "stat");
    Process process;
    std::string state;
    stat >> process.id >> process.name >> state >> process.parent >> process.group;
    if (stat) found.push_back(process);
  }
  return found;
}

// Waits for the process of a compile of this one's that has the name; empty = the first of it.
Process wait_for(const std::string& name) {
  for (;;) {
    const auto all = processes();
    for (const Process& child : all) {
      if (child.parent != ::getpid()) continue;
      for (const Process& process : all) {
        const bool wanted = name.empty() ? process.id == child.id : process.name == name;
        if (process.group == child.id && wanted) return process;
      }
    }
  }
}

TEST_P(CudaCompilers, NothingIsLeftOfACompileThatIsKilled) {
  const test::ScratchFolder temporary;  // only for the compiles of this test
  ASSERT_EQ(::setenv("TMPDIR", temporary.path().c_str(), 1), 0);
  const CudaCompiler compiler = compiler_for("sm_90");
  const bool is_nvcc = GetParam() == std::string("nvcc");
  const std::string at_work = is_nvcc ? "(cicc)" : "(kernelrl-nvrtc)";
  const std::pair<std::string, bool> victims[] = {
      {"", false},
      {at_work, false},
      {at_work, true}};  // whom to wait for; kill it, or the launcher
  for (const auto& [name, itself] : victims) {
    SCOPED_TRACE(name + (itself ? " itself" : ""));
    auto compile =
        std::async(std::launch::async, [&] { compiler.compile(kTemplateBomb, {"k"}, {}); });
    const Process found = wait_for(name);
    ::kill(itself ? found.id : found.group, SIGKILL);
    EXPECT_THROW(compile.get(), Failure) << "a killed compile says nothing about the source";
    test::wait_while([&] { return ::kill(-found.group, 0) == 0; });
  }
  test::wait_while([&] { return !std::filesystem::is_empty(temporary.path()); });
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace krl::testing

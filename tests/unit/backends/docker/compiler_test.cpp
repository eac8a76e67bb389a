// nvcc in a container, as the docker backend uses it.
#include "plugins/backends/docker/docker_compiler.hpp"

#include <set>
#include <thread>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/compiled/cubin.hpp"
#include "plugins/backends/compiled/resource_report.hpp"
#include "tests/unit/backends/docker/compiler_fixture.hpp"
#include "tests/until_available.hpp"

namespace krl::docker {
using namespace compiled;
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class DockerCompilerTest : public docker::testing::CompilerFixture {
 protected:
  DockerCompilerSettings settings() const {
    DockerCompilerSettings settings;
    settings.wheels = KERNELRL_PYTHON_DEPS;
    settings.compile.arch = "sm_90";
    settings.container.socket = daemon_->socket();
    settings.container.image = docker::testing::kCompilerImage;
    settings.time_limit = docker::testing::kTestPatience;
    return settings;
  }
};

constexpr char kKernels[] = R"(#include <cuda_fp16.h>
template <class T, int N>
__global__ void __launch_bounds__(256) add(const T* a, T* out, int n) {
  __shared__ T tile[256];
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = tile[threadIdx.x ^ 1] * N;
}
__global__ void plain(float* p) { *p = 1; }
)";

TEST_F(DockerCompilerTest, GivesWhatCompiledKernelsAre) {
  const CudaCompiler compiler = docker_compiler(settings());
  EXPECT_THAT(compiler.name, ::testing::MatchesRegex("nvcc [0-9.]+ in Docker"));
  const CompileOutput output = compiler.compile(kKernels, {"plain", "add<float, 4>"}, {});
  ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why << output.log;
  const auto module = module_from_bytes(output.module);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->names, (std::vector<std::string>{"_Z5plainPf", "_Z3addIfLi4EEvPKT_PS0_i"}));
  EXPECT_THAT(module->ptx, HasSubstr(".visible .entry _Z5plainPf("));
  EXPECT_THAT(module->ptx, Not(HasSubstr("kernelrl_kernel_")));

  std::string why;
  const auto kernels = read_cubin(module->cubin, why);
  ASSERT_TRUE(kernels) << why;
  EXPECT_EQ(kernels->size(), 2u);
  const auto resources = read_resource_report(module->report);
  EXPECT_EQ(resources.at("_Z3addIfLi4EEvPKT_PS0_i").shared_bytes, 1024);
  EXPECT_EQ(resources.at("_Z3addIfLi4EEvPKT_PS0_i").barriers, 1);
  // Taking a kernel's address must not cost registers: a kernel whose address is taken has 24.
  EXPECT_LT(resources.at("_Z5plainPf").registers, 24);
}

TEST_F(DockerCompilerTest, AssemblesPtx) {
  const CudaCompiler compiler = docker_compiler(settings());
  const std::string head = ".version 8.0\n.target sm_80\n.address_size 64\n";
  const CompileOutput output = compiler.assemble(
      head + "// \xc2\xb5\n.visible .entry k(.param .u64 y)\n{ ret; }\n", {"k"}, {});
  ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why << output.log;
  const auto module = module_from_bytes(output.module);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->names, (std::vector<std::string>{"k"}));
  EXPECT_THAT(module->ptx, HasSubstr(".visible .entry k("));
  std::string why;
  const auto kernels = read_cubin(module->cubin, why);
  ASSERT_TRUE(kernels) << why;
  EXPECT_EQ(kernels->front().name, "k");

  const CompileOutput wrong =
      compiler.assemble(head + ".visible .entry k()\n{\n  add.u32 %r1, %r2;\n}\n", {"k"}, {});
  EXPECT_EQ(wrong.end, CompileOutput::kFailed);
  EXPECT_THAT(wrong.why, HasSubstr("line 6"));
}

TEST_F(DockerCompilerTest, SaysWhatDoesNotCompile) {
  const CudaCompiler compiler = docker_compiler(settings());
  const CompileOutput wrong = compiler.compile(R"(__global__ void k() {
  int x = y;
}
)",
                                               {"k"}, {});
  EXPECT_EQ(wrong.end, CompileOutput::kFailed);
  EXPECT_THAT(wrong.why, HasSubstr("line 2"));
  EXPECT_THAT(wrong.why, HasSubstr("identifier \"y\" is undefined"));
  EXPECT_THAT(wrong.log, Not(HasSubstr("/work")));

  const CompileOutput missing = compiler.compile("__global__ void k() {}\n", {"other"}, {});
  EXPECT_EQ(missing.end, CompileOutput::kFailed);
  EXPECT_THAT(missing.why, HasSubstr("identifier \"other\" is undefined"));

  const CompileOutput assembler = compiler.compile(
      "__global__ void k() { asm volatile(\"no such instruction;\"); }\n", {"k"}, {});
  EXPECT_EQ(assembler.end, CompileOutput::kFailed);
  EXPECT_THAT(assembler.log, HasSubstr("ptxas"));

  EXPECT_EQ(compiler.compile("__global__ void k() {}\n#if 0\n", {"k"}, {}).end,
            CompileOutput::kFailed);
}

TEST_F(DockerCompilerTest, LimitsTime) {
  DockerCompilerSettings tight = settings();
  tight.compile.compile_limit = std::chrono::milliseconds(2'000);
  std::string endless = "__global__ void k(float* o) {\n  float a = o[0];\n";
  for (int i = 0; i < 60'000; ++i) endless += "  a = a * 1.5f + o[(int)a];\n";
  const CudaCompiler compiler = docker_compiler(tight);
  const CompileOutput slow = test::until_available(
      [&] { return compiler.compile(endless + "  o[0] = a;\n}\n", {"k"}, {}); });
  EXPECT_EQ(slow.end, CompileOutput::kTimeout) << slow.why;
}

// On a slow machine, the compiler takes several seconds to fill its memory.
TEST_F(DockerCompilerTest, LimitsMemory) {
  DockerCompilerSettings tight = settings();
  tight.compile.compile_limit = std::chrono::minutes(1);
  tight.compile.memory_bytes = std::uint64_t{2} << 30;
  const CudaCompiler compiler = docker_compiler(tight);
  const CompileOutput large = compiler.compile(
      R"(__device__ int x[1 << 29] = {1, 2, 3};
__global__ void k(int* o) { o[0] = x[o[1]]; }
)",
      {"k"}, {});
  EXPECT_EQ(large.end, CompileOutput::kOutOfResources) << large.why;
  EXPECT_EQ(compiler.compile("__global__ void k() {}\n", {"k"}, {}).end, CompileOutput::kCompiled);
}

TEST_F(DockerCompilerTest, SeesNothingOfThisMachine) {
  const CompileOutput output =
      docker_compiler(settings())
          .compile("#include \"" __FILE__ "\"\n__global__ void k() {}\n", {"k"}, {});
  EXPECT_EQ(output.end, CompileOutput::kFailed);
  EXPECT_THAT(output.log, HasSubstr("No such file or directory"));
}

TEST_F(DockerCompilerTest, GivesTheSameInEveryPlaceAtTheSameTime) {
  DockerCompilerSettings two = settings();
  two.container.commands_at_once = 2;
  const CudaCompiler compiler = docker_compiler(two);
  std::vector<CompileOutput> outputs(4);
  {
    std::vector<std::jthread> threads;
    for (CompileOutput& output : outputs) {
      threads.emplace_back([&] { output = compiler.compile(kKernels, {"plain"}, {}); });
    }
  }
  std::set<std::string> cubins, ptxs;
  for (const CompileOutput& output : outputs) {
    const auto module = module_from_bytes(output.module);
    ASSERT_TRUE(module) << output.why;
    cubins.insert(module->cubin);
    ptxs.insert(module->ptx);
  }
  EXPECT_EQ(cubins.size(), 1u);
  EXPECT_EQ(ptxs.size(), 1u);
  EXPECT_THAT(*ptxs.begin(), HasSubstr("\"kernel.cu\""));
}

TEST_F(DockerCompilerTest, WithoutAToolkitSaysSo) {
  DockerCompilerSettings nowhere = settings();
  nowhere.compile.cuda = "/nowhere";
  try {
    docker_compiler(nowhere);
    ADD_FAILURE() << "no failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_FAILED_PRECONDITION);
    EXPECT_THAT(failure.what(), HasSubstr("/nowhere"));
  }
}

}  // namespace
}  // namespace krl::docker

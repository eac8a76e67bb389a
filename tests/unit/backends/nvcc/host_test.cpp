// Host code of candidates through the real plugin and the real nvcc, without a GPU: what compiles,
// and what is said of what does not.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kernelrl/host_call.hpp>
#include <memory>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/cuda/host/host_checks.hpp"
#include "plugins/backends/cuda/host/host_source.hpp"
#include "plugins/backends/nvcc/nvcc_compiler.hpp"
#include "plugins/backends/nvcc/nvcc_toolkit.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/unit/backends/nvcc/host_sources.hpp"
#include "tests/unit/backends/nvcc/needs_nvcc.hpp"

namespace krl::testing {
using namespace compiled;
using namespace cuda;
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TaskDefinition definition_of(const std::string& task) {
  return *parse_task_definition(all_tasks().at(task).definition_json);
}

TEST(HostSource, KnowsItsForm) {
  EXPECT_EQ(host_form(scan_cuda_source("void launch(float* x) {}")), HostForm::kLaunch);
  EXPECT_EQ(
      host_form(scan_cuda_source("// #include <torch/extension.h>\nvoid launch(float* x) {}")),
      HostForm::kLaunch);
  EXPECT_EQ(host_form(scan_cuda_source("#include <torch/extension.h>\n")),
            HostForm::kTorchFunction);
  EXPECT_EQ(host_form(scan_cuda_source("#include \"ATen/ATen.h\"\n")), HostForm::kTorchFunction);
  EXPECT_EQ(host_form(scan_cuda_source("#include <torch/extension.h>\nPYBIND11_MODULE(a, m) {}")),
            HostForm::kTorchModule);
}

TEST(HostSource, SaysWhatALauncherLooksLike) {
  EXPECT_EQ(launcher_signature(definition_of("matmul")),
            "launch(float* a, float* b, float* c, int m, int n, int k)");
  EXPECT_EQ(launcher_signature(definition_of("axpy_inplace")),
            "launch(float* x, float* y, float alpha, int n)");
  EXPECT_EQ(launcher_signature(definition_of("histogram")),
            "launch(int* keys, int* counts, int n)");
}

TEST(HostChecks, RefusesWhatNoSourceNeeds) {
  const auto problem = [](const char* source, const std::vector<std::string>& forbidden = {}) {
    const auto scanned = scan_source(source);
    if (!scanned) return scanned.error().text();
    const auto found = check_host_source(*scanned, forbidden);
    return found ? found->text() : "none";
  };
  EXPECT_EQ(problem("#include <cublas_v2.h>\nint kernel() { return 1; }"), "none");
  EXPECT_EQ(problem("#define H \"/etc/passwd\"\n#include H"),
            "line 2, column 2: #include of a macro: write the header's name");
  EXPECT_EQ(problem("// \\ \n#include \"/etc/passwd\""),
            "line 1, column 4: a blank between a backslash and the end of the line is not allowed");
  EXPECT_EQ(problem("#include \"/etc/passwd\""),
            "line 1, column 2: #include of an absolute path or of '..' is not allowed");
  EXPECT_THAT(problem("\n#include <../../secret>"), HasSubstr("line 2"));
  EXPECT_THAT(problem("void kernelrl_host_call();"), HasSubstr("a name of the harness"));
  EXPECT_THAT(problem("#include <cublas_v2.h>", {"cublas"}), HasSubstr("forbids 'cublas'"));
  EXPECT_THAT(problem("cublasSgemm_v2(h);", {"cublasSgemm_v2"}), HasSubstr("forbids"));
  EXPECT_EQ(problem("// cublasSgemm_v2\n", {"cublasSgemm_v2"}), "none");
}

TEST(HostChecks, NoLibraryIsLoadedUnlessThePlanAllowsIt) {
  const char* const loads = "void* opened = dlopen(\"libcublas.so.13\", 2);";
  const auto problem = check_host_source(scan_cuda_source(loads), {});
  ASSERT_TRUE(problem);
  EXPECT_THAT(problem->text(), HasSubstr("column 16: 'dlopen' is not allowed"));
  EXPECT_THAT(problem->text(), HasSubstr("allow_libraries"));
  EXPECT_FALSE(check_host_source(scan_cuda_source(loads), {}, true));
  EXPECT_TRUE(check_host_source(scan_cuda_source("popen(\"ls\", \"r\");"), {}, true));
  EXPECT_FALSE(
      check_host_source(scan_cuda_source("// dlopen\n#include <dlfcn.h>\nint dlopened;"), {}));
}

class NvccHost : public NeedsNvcc {
 protected:
  static Outcome evaluate(const std::string& task, const std::string& source) {
    static const TaskBackend backend(
        "nvcc",
        Table{{"execute", "off"}, {"arch", "sm_90"}, {"cache", "off"}, {"compile_timeout", 120}});
    return backend.evaluate(all_tasks().at(task), source, TaskBackend::kAllStages, 1,
                            KRL_CONTRACT_HOST);
  }

  // The compiler of the plugin, without the plugin around it.
  static CudaCompiler compiler() {
    const std::string path = KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/nvcc.krl.so";
    void* const self = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    const InstalledFiles files(::dlsym(self, "krl_plugin_v1"), "the test");
    CompileSettings settings;
    settings.arch = "sm_90";
    return nvcc_compiler(settings, files);
  }

  // What a call for the task matmul says of its failure.
  static std::string failure_of(void (*function)(const kernelrl_host::Call*)) {
    const kernelrl_host::Tensor square{nullptr, {4, 4}, 2, 0};
    const kernelrl_host::Tensor tensors[] = {square, square, square};
    const int output = 2;
    const long long axes[] = {4, 4, 4};
    std::string failure;
    kernelrl_host::Call call{};
    call.tensors = tensors;
    call.n_tensors = 3;
    call.n_inputs = 2;
    call.outputs = &output;
    call.n_outputs = 1;
    call.axes = axes;
    call.n_axes = 3;
    call.harness = &failure;
    call.allocate = [](void*, unsigned long long) -> void* { return &call_memory; };
    call.release = [](void*, void*) {};
    call.give = [](void*, int, const kernelrl_host::Tensor*) {};
    call.fail = [](void* self, const char* text) { *static_cast<std::string*>(self) = text; };
    function(&call);
    return failure;
  }
  static inline char call_memory = 0;
};

TEST(HostChecks, SayWhatTheLinkerSays) {
  const auto error_in = [](const std::string& log) {
    std::vector<Diagnostic> diagnostics;
    name_what_the_linker_refused(log + "\ncollect2: error: ld returned 1 exit status\n",
                                 &diagnostics);
    return diagnostics.empty() ? "" : diagnostics.front().text;
  };
  EXPECT_EQ(error_in("/usr/bin/ld: cannot find -lcudart_static: No such file or directory"),
            "ld: cannot find -lcudart_static: No such file or directory");
  EXPECT_THAT(error_in("/usr/bin/ld: kernel.o: in function `f':\nx: undefined reference to `g'"),
              HasSubstr("g is not in the libraries"));
  EXPECT_EQ(error_in("nothing of the linker's"), "");
}

TEST_F(NvccHost, CompilesWhatPeopleWrite) {
  const std::vector<HostSource> sources = host_sources();
  EXPECT_GE(sources.size(), 16u);
  for (const HostSource& source : sources) {
    const Outcome outcome = evaluate(source.task, source.text);
    EXPECT_EQ(outcome.verdict, Verdict::kOk) << source.name << ": " << outcome.why << "\n"
                                             << outcome.log;
    EXPECT_EQ(outcome.log, "") << source.name;
    ASSERT_FALSE(outcome.records.empty()) << source.name;
    EXPECT_GT(outcome.records.front().registers, 0) << source.name;
    EXPECT_GE(outcome.records.front().spill_bytes, 0) << source.name;
    EXPECT_THAT(outcome.values, Contains(::testing::Key("shuffles"))) << source.name;
  }
}

TEST_F(NvccHost, SaysWhatASignatureShouldBe) {
  for (const char* launcher :
       {"void launch(const float* a, const float* b, float* out, float n) {}",
        "void launch(const float* a, const float* b, float* out) {}",
        "void launch(const int* a, const float* b, float* out, int n) {}",
        "void launch(const float* a, const float* b, float* out, int n, int more) {}",
        "void lunch(const float* a, const float* b, float* out, int n) {}"}) {
    const Outcome outcome = evaluate("vector_add", launcher);
    EXPECT_EQ(outcome.verdict, Verdict::kCompileError) << launcher;
    EXPECT_THAT(outcome.why,
                HasSubstr("there must be a function launch(float* a, float* b, float* out, int n)"))
        << launcher;
  }
}

TEST_F(NvccHost, ErrorsHaveTheLineOfTheSource) {
  const Outcome plain = evaluate("vector_add",
                                 R"(__global__ void k(float* x) {
  x[0] = missing;
}
void launch(float* a, float* b, float* out, int n) {}
)");
  EXPECT_EQ(plain.why, "line 2: identifier \"missing\" is undefined");
  const Outcome torch = evaluate("vector_add",
                                 R"(#include <torch/extension.h>
torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  return misspelt;
}
)");
  EXPECT_EQ(torch.why, "line 3: identifier \"misspelt\" is undefined");
}

TEST_F(NvccHost, NamesWhatTheShimOfTorchLacks) {
  const auto why = [](const std::string& statement, const std::string& include = "") {
    const Outcome outcome =
        evaluate("vector_add", "#include <torch/extension.h>\n" + include +
                                   "\ntorch::Tensor forward(torch::Tensor a, torch::Tensor b) {\n" +
                                   statement + "\n}\n");
    EXPECT_EQ(outcome.verdict, Verdict::kCompileError) << statement;
    return outcome.why;
  };
  EXPECT_EQ(why("return torch::matmul(a, b);"),
            "line 4: not in kernelrl's torch shim: torch::matmul");
  EXPECT_EQ(why("return a.softmax(-1);"),
            "line 4: not in kernelrl's torch shim: at::Tensor::softmax");
  EXPECT_EQ(why("return a;", "#include <ATen/native/cuda/Loops.cuh>"),
            "line 2: not in kernelrl's torch shim: ATen/native/cuda/Loops.cuh");
}

TEST_F(NvccHost, LinksNoLibraries) {
  const Outcome outcome = evaluate(
      "vector_add",
      "extern \"C\" int cublasCreate_v2(void**);\n"
      "void launch(float* a, float* b, float* out, int n) { cublasCreate_v2(nullptr); }\n");
  EXPECT_EQ(outcome.verdict, Verdict::kCompileError);
  EXPECT_THAT(outcome.why,
              HasSubstr("cublasCreate_v2 is not in the libraries linked with host code"));
}

// The library as a runner loads it, up to the first call of CUDA's: here is no driver.
TEST_F(NvccHost, WhatItMakesCanBeLoadedAndCalled) {
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) {
    GTEST_SKIP() << "skipped: there is a driver, and no GPU memory behind these arguments";
  }
  for (const HostSource& source : host_sources()) {
    if (source.name != "plain_matmul" && source.name != "matmul_tiled") continue;
    const std::string whole =
        with_host_call(source.text, scan_cuda_source(source.text), definition_of("matmul"));
    const CompileOutput output = compiler().compile_library(whole, {});
    ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why << output.log;
    const auto module = module_from_bytes(output.module);
    ASSERT_TRUE(module);
    const MemoryFile file = MemoryFile::with("krl-library", module->library);
    const std::string path = "/proc/self/fd/" + std::to_string(file.descriptor());
    void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const auto call = reinterpret_cast<void (*)(const kernelrl_host::Call*)>(
        ::dlsym(library, "kernelrl_host_call"));
    ASSERT_NE(call, nullptr);
    EXPECT_THAT(failure_of(call), HasSubstr("driver")) << source.name;
  }
}

TEST_F(NvccHost, HostileSourcesEndAndTellNothing) {
  const std::string launcher = "void launch(float* a, float* b, float* out, int n) {}\n";
  for (const std::string& bomb : {"#include \"kernel.cu\"\n" + launcher,
                                  "template <int N> struct B { B<N + 1> b; }; B<0> b;\n" + launcher,
                                  launcher + "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
                                  launcher + "asm(\".incbin \\\"/proc/self/environ\\\"\");\n"}) {
    const Outcome outcome = evaluate("vector_add", bomb);
    EXPECT_THAT(outcome.verdict, AnyOf(Verdict::kCompileError, Verdict::kTimeout,
                                       Verdict::kResourceLimit, Verdict::kOk))
        << bomb;
    EXPECT_THAT(outcome.log, Not(HasSubstr("root:")));
  }
}

TEST_F(NvccHost, OtherCompilersRefuseItByName) {
  const TaskBackend nvrtc("nvrtc", Table{{"execute", "off"}, {"arch", "sm_90"}, {"cache", "off"}});
  const Outcome outcome = nvrtc.evaluate(all_tasks().at("relu"), "void launch() {}",
                                         TaskBackend::kAllStages, 1, KRL_CONTRACT_HOST);
  EXPECT_EQ(outcome.verdict, Verdict::kRejected);
  EXPECT_THAT(outcome.why, HasSubstr("unsupported on nvrtc"));
}

}  // namespace
}  // namespace krl::testing

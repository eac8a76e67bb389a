// What is NVRTC's own; what holds for every compiler of CUDA is in ../cuda/compilers_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/evaluator/compile/message_places.hpp"
#include "plugins/backends/nvrtc/compile_servers.hpp"
#include "plugins/backends/nvrtc/needed_language.hpp"
#include "plugins/backends/nvrtc/nvrtc_compiler.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/wait_while.hpp"

namespace krl::testing {
using namespace compiled;
using namespace nvrtc;
namespace {

using ::testing::HasSubstr;

constexpr const char* kKernel = "__global__ void k(int* p) { *p = 1; }\n";
// Compiles until its limit.
constexpr const char* kBomb =
    R"(template <int N, int M> struct B {
  static const int v = B<N - 1, 2 * M>::v + B<N - 1, 2 * M + 1>::v;
};
template <int M> struct B<0, M> { static const int v = 1; };
__global__ void k(int* p) { *p = B<28, 0>::v; }
)";

// The libraries of PyPI's wheel are in no place where the system would look for them.
TEST(Nvrtc, WorksFromTheWheel) {
  const std::string wheel = KERNELRL_PYTHON_DEPS "/nvidia/cu13";
  if (!std::filesystem::exists(wheel + "/lib/libnvrtc.so.13")) GTEST_SKIP() << "skipped: no wheel";
  const TaskBackend backend(
      "nvrtc", {{"execute", "off"}, {"arch", "sm_90"}, {"cuda", wheel}, {"cache", "off"}});
  const Outcome outcome =
      backend.evaluate(all_tasks().at("vector_add"), naive_of(all_tasks().at("vector_add")));
  EXPECT_EQ(outcome.verdict, Verdict::kOk) << outcome.why;
  EXPECT_EQ(outcome.toolchain, "NVRTC 13.0");
}

TEST(Nvrtc, SaysWhereItLooked) {
  try {
    find_nvrtc("/no/such/folder", KERNELRL_PYTHON_DEPS);
    FAIL() << "found";
  } catch (const Failure& failure) {
    EXPECT_STREQ(
        failure.what(),
        "no NVRTC in /no/such/folder: call scripts/setup.sh, or install the CUDA toolkit, or "
        "set 'cuda'");
  }
}

TEST(Nvrtc, LeavesOutWhatASourceDoesNotNeed) {
  EXPECT_TRUE(nvrtc::is_minimal("__global__ void k() {}"));
  EXPECT_TRUE(nvrtc::is_minimal("#include <cuda_fp16.h>\n# include\t\"math.h\"\n"));
  for (const char* source :
       {"#include <cooperative_groups.h>", "#include <cuda_fp16.h>\n#include <cuda/barrier>",
        "#define H <mma.h>\n#include H", "#include", "#include <math.h", "#include \"",
        "include <>", "#if __has_include(<math.h>)"}) {
    EXPECT_FALSE(nvrtc::is_minimal(source)) << source;
  }
}

TEST(Nvrtc, PrecompilesWhatASourceBeginsWith) {
  const std::string groups = "#include <cooperative_groups.h>\n";
  const std::string both = groups + "#include <cooperative_groups/reduce.h>\n";
  EXPECT_EQ(nvrtc::preamble_of(groups + "__global__ void k();"), groups);
  EXPECT_EQ(nvrtc::preamble_of("\n// of\n  #include <math.h>\r\n" + both + "int x;"), both);
  EXPECT_EQ(nvrtc::preamble_of("#include <cooperative_groups/reduce.h>\n" + groups), both);
  EXPECT_EQ(nvrtc::preamble_of("#include \"cooperative_groups.h\""), groups);
  for (const std::string source : {"", "\n", "#include", "#include <cooperative_groups.h"}) {
    EXPECT_EQ(nvrtc::preamble_of(source), "") << source;
  }
  // Something before it could change what it means.
  for (const std::string before : {"#define T 1\n", "int x;\n", "/* */ ", "#if 0\n"}) {
    EXPECT_EQ(nvrtc::preamble_of(before + groups), "") << before;
  }
}

TEST(Nvrtc, NamesTheLinesOfDirectives) {
  const std::string rest = "  #pragma nv_mangled_name k<1>\n";
  EXPECT_EQ(with_lines_of_launches("__nv_name_map(2): error: which \"k\"?\n" + rest + "other\n",
                                   "\n// @launch k2<<<1, 1>>>()\n //@launch  k<1><<<1, 1>>>()\n"),
            "kernel.cu(3): error: which \"k\"?\n" + rest + "other\n");
  EXPECT_EQ(with_lines_of_launches("__nv_name_map(2): error: a\n" + rest, ""),
            "kernel.cu(0): error: a\n" + rest);
}

TEST(Nvrtc, NamesTheLinesOfInlinePtx) {
  const std::string ptx =
      ".loc 1 7 3\nmov;\n.loc 2 9 1, function_name a, inlined_at 1 8 5\nadd;\n.loc 3 1 1\nsub;\n"
      ".file 2 \"cuda_fp16.h\"\n.file 1 \"kernel.cu\"\n";
  const auto placed = [&](int line, const std::string& severity) {
    return with_lines_of_ptx("ptxas application ptx input, line " + std::to_string(line) + "; " +
                                 severity + " : No such thing\n",
                             ptx);
  };
  EXPECT_EQ(placed(2, "error  "), "kernel.cu(7): error: No such thing\n");
  EXPECT_EQ(placed(4, "fatal  "), "kernel.cu(8): error: No such thing\n") << "inlined";
  EXPECT_EQ(placed(2, "warning"), "kernel.cu(7): warning: No such thing\n");
  for (const int line : {0, 6, 4000000}) EXPECT_EQ(placed(line, "error  ").substr(0, 6), "ptxas ");
  const std::string summary = "ptxas fatal   : Ptx assembly aborted due to errors\n";
  EXPECT_EQ(with_lines_of_ptx(summary, ptx), summary);
  EXPECT_FALSE(names_lines_of_ptx(summary));
}

// The servers alone, without a plugin around them.
class NvrtcServers : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_ = find_nvrtc({}, KERNELRL_PYTHON_DEPS);
    } catch (const Failure& failure) {
      GTEST_SKIP() << "skipped: " << failure.what();
    }
  }

  CompileServerOptions options() const {
    CompileServerOptions options;
    options.launcher = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-sandbox";
    options.program = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-nvrtc";
    options.library = nvrtc_.library.string();
    options.options = {"--gpu-architecture=sm_75"};
    options.time_limit = std::chrono::seconds(2);
    options.rules.cpu_seconds = 2;
    options.rules.readable = {"/usr/lib", "/usr/lib64",       "/lib",
                              "/lib64",   "/etc/ld.so.cache", nvrtc_.library.parent_path()};
    return options;
  }

  // Our children, which the launcher has become.
  static std::vector<pid_t> servers() {
    std::vector<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::ifstream stat(entry.path() / "stat");
      pid_t id = 0, parent = 0;
      std::string name, state;
      stat >> id >> name >> state >> parent;
      if (stat && parent == ::getpid() && name == "(kernelrl-nvrtc)") found.push_back(id);
    }
    return found;
  }

  // In its current folder, with their permissions.
  static std::string files_of(pid_t process) {
    std::string files;
    const std::string folder = "/proc/" + std::to_string(process) + "/cwd/";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      std::ostringstream permissions;
      permissions << std::oct << static_cast<unsigned>(entry.status().permissions());
      files += entry.path().filename().string() + " " + permissions.str() + " ";
    }
    return files;
  }

  NvrtcLibrary nvrtc_;
};

TEST_F(NvrtcServers, OneServesManyCompiles) {
  CompileServers compiles(options());
  EXPECT_TRUE(servers().empty()) << "none before it is needed";
  for (int i = 0; i < 3; ++i) {
    const CompileOutput output =
        compiles.compile("template <int N> __global__ void k(int* p) { *p = N; }", {"k<3>"}, {});
    ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why;
    const auto module = module_from_bytes(output.module);
    ASSERT_TRUE(module);
    EXPECT_THAT(module->ptx, HasSubstr(".entry " + module->names.at(0)));
    EXPECT_FALSE(module->cubin.empty());
    EXPECT_EQ(output.log, "");
  }
  EXPECT_EQ(servers().size(), 1u);
}

// What the short way leaves out changes nothing of what is compiled.
TEST_F(NvrtcServers, TheShortWayGivesTheSameCode) {
  CompileServers compiles(options());
  const std::string kernel =
      std::string("__global__ void k(float* p) { p[threadIdx.x] = __expf(p[1]) / sinf(p[2]); }");
  const auto ptx = [&](const std::string& source) {
    const auto module = module_from_bytes(compiles.compile(source, {}, {}).module);
    return module ? module->ptx : "";
  };
  const std::string minimal = ptx(kernel), whole = ptx(kernel + "\n// include <>\n");
  EXPECT_THAT(minimal, HasSubstr(".entry"));
  EXPECT_EQ(minimal, whole);
}

// From the third compile on, the headers are compiled already.
TEST_F(NvrtcServers, PrecompiledHeadersGiveTheSameCodeAndLines) {
  if (nvrtc_.headers.empty()) GTEST_SKIP() << "skipped: no headers";
  CompileServerOptions with_headers = options();
  with_headers.time_limit = std::chrono::seconds(20);
  with_headers.rules.cpu_seconds = 20;
  with_headers.rules.readable = nvrtc_files(nvrtc_);
  with_headers.options = nvrtc_options({"sm_75", {}, {}}, nvrtc_);
  CompileServers compiles(with_headers);
  const std::string kernel =
      R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* p) {
  cg::this_thread_block().sync();
  p[threadIdx.x] = 1;
}
)";
  std::vector<std::string> ptx;
  for (int i = 0; i < 4; ++i) {
    const CompileOutput output = compiles.compile(kernel, {"k"}, {});
    ASSERT_EQ(output.end, CompileOutput::kCompiled) << output.why;
    EXPECT_EQ(output.log, "");
    ptx.push_back(module_from_bytes(output.module)->ptx);
  }
  EXPECT_THAT(ptx[0], HasSubstr("kernel.cu"));
  EXPECT_EQ(ptx[2], ptx[0]);
  EXPECT_EQ(ptx[3], ptx[0]);
  ASSERT_EQ(servers().size(), 1u);
  EXPECT_EQ(files_of(servers().front()), "preamble.pch 444 ");
  // With any capability, that file could be opened for writing all the same.
  std::ifstream file("/proc/" + std::to_string(servers().front()) + "/status");
  const std::string status{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(status, HasSubstr("CapEff:\t0000000000000000\n"));
  EXPECT_THAT(status, HasSubstr("CapPrm:\t0000000000000000\n"));
  const CompileOutput wrong = compiles.compile(kernel + "int x = y;\n", {"k"}, {});
  EXPECT_EQ(wrong.end, CompileOutput::kFailed);
  EXPECT_THAT(wrong.log, HasSubstr("kernel.cu(7): error"));
  EXPECT_EQ(compiles.compile(kKernel, {"k"}, {}).end, CompileOutput::kCompiled);
  EXPECT_EQ(servers().size(), 2u) << "others do not carry those headers along";
}

TEST_F(NvrtcServers, GivesPtxAloneForAVirtualArchitecture) {
  CompileServerOptions ptx_only = options();
  ptx_only.options = {"--gpu-architecture=compute_75"};
  const CompileOutput output = CompileServers(ptx_only).compile(kKernel, {"k"}, {});
  const auto module = module_from_bytes(output.module);
  ASSERT_TRUE(module) << output.why;
  EXPECT_THAT(module->ptx, HasSubstr(".target sm_75"));
  EXPECT_TRUE(module->cubin.empty());
}

TEST_F(NvrtcServers, NothingOfACompileReachesTheNext) {
  CompileServers compiles(options());
  const std::string loud = "#define FIRST 1\n#warning \"a long word of the first\"\n" +
                           std::string(kKernel) + "int x = y;";
  EXPECT_EQ(compiles.compile(loud, {"k"}, {}).end, CompileOutput::kFailed);
  const CompileOutput output = compiles.compile(
      R"(#ifdef FIRST
#error seen
#endif
__global__ void k(int* p) { *p = 2; })",
      {"k"}, {});
  EXPECT_EQ(output.end, CompileOutput::kCompiled) << output.why;
  EXPECT_EQ(output.log, "");
  EXPECT_EQ(servers().size(), 1u);
}

TEST_F(NvrtcServers, OneThatCrashesOrDoesNotEndHarmsNoOther) {
  CompileServers compiles(options());
  const char* crash =
      "__device__ int big[1ull << 36] = {1};\n__global__ void k(int* p) { *p = big[*p]; }";
  const CompileOutput crashed = compiles.compile(crash, {"k"}, {});
  EXPECT_NE(crashed.end, CompileOutput::kCompiled);
  EXPECT_FALSE(crashed.why.empty());
  EXPECT_EQ(compiles.compile(kBomb, {"k"}, {}).end, CompileOutput::kTimeout);
  EXPECT_EQ(compiles.compile(kKernel, {"k"}, {}).end, CompileOutput::kCompiled);
}

TEST_F(NvrtcServers, AsManyAsCompilesAtATime) {
  CompileServerOptions patient = options();
  patient.time_limit = std::chrono::minutes(1);
  patient.rules.cpu_seconds = 60;
  CompileServers compiles(patient);
  std::atomic<bool> enough{false};
  std::vector<std::future<void>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::async(std::launch::async, [&] {
      EXPECT_THROW(compiles.compile(kBomb, {"k"}, [&] { return enough.load(); }), Failure);
    }));
  }
  test::wait_while([&] { return servers().size() < 4; });
  enough = true;
  for (auto& one : all) one.get();
}

TEST_F(NvrtcServers, AKilledServerIsReplaced) {
  CompileServers compiles(options());
  EXPECT_EQ(compiles.compile(kKernel, {"k"}, {}).end, CompileOutput::kCompiled);
  const pid_t first = servers().at(0);
  ::kill(first, SIGKILL);
  EXPECT_EQ(compiles.compile(kKernel, {"k"}, {}).end, CompileOutput::kCompiled);
  EXPECT_NE(servers().at(0), first);
}

TEST_F(NvrtcServers, ACancelledCompileLeavesNothing) {
  CompileServers compiles(options());
  try {
    compiles.compile(kBomb, {"k"}, [] { return true; });
    FAIL() << "not cancelled";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_CANCELLED);
  }
  EXPECT_TRUE(servers().empty());
  EXPECT_EQ(compiles.compile(kKernel, {"k"}, {}).end, CompileOutput::kCompiled);
}

// One line that is longer than all that is kept of a log (a type's name of 100,000 letters).
TEST_F(NvrtcServers, AnErrorOfAnyLengthIsACompileError) {
  const std::string name(100'000, 'x');
  const std::string source =
      "struct " + name + " {};\n__global__ void k(int* p) { *p = " + name + "(); }\n";
  const CompileOutput output = CompileServers(options()).compile(source, {"k"}, {});
  EXPECT_EQ(output.end, CompileOutput::kFailed);
  EXPECT_THAT(output.why, HasSubstr("line 2: "));
  EXPECT_LE(output.log.size(), kMaxLogBytes);
}

TEST_F(NvrtcServers, SaysWhatIsWrongWithTheLibrary) {
  CompileServerOptions wrong = options();
  wrong.library = "/no/such/libnvrtc.so";
  try {
    CompileServers(wrong).compile(kKernel, {"k"}, {});
    FAIL() << "compiled";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("/no/such/libnvrtc.so"));
  }
}

}  // namespace
}  // namespace krl::testing

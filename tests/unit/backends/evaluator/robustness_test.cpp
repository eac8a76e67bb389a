// What the `cpu` backend does when things around it break, and what it leaves behind.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "plugins/backends/evaluator/check/inputs.hpp"
#include "plugins/backends/evaluator/evaluation_record.hpp"
#include "plugins/backends/evaluator/oracle/oracle_client.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace evaluator;
namespace {

namespace fs = std::filesystem;

const TaskText& vector_add() { return all_tasks().at("vector_add"); }

std::size_t open_descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Processes whose parent this one is, those that wait to be reaped included.
std::size_t children() {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (std::isdigit(static_cast<unsigned char>(entry.path().filename().string().front())) == 0) {
      continue;
    }
    std::ifstream file(entry.path() / "stat");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t after_name = text.rfind(')');  // "pid (name) state parent …"
    if (after_name == std::string::npos) continue;
    std::istringstream fields(text.substr(after_name + 1));
    std::string state;
    pid_t parent = 0;
    fields >> state >> parent;
    count += parent == ::getpid() ? 1 : 0;
  }
  return count;
}

OracleOptions oracle_options() {
  const std::string workers = KERNELRL_BINARY_DIR "/libexec/kernelrl/";
  return {workers + "kernelrl-sandbox",
          workers + "kernelrl-oracle",
          {"/usr", "/lib", "/lib64", "/etc/ld.so.cache", KERNELRL_PYTHON_DEPS, "/proc", "/sys"}};
}

TEST(OracleTest, IsStartedAgainAfterItDied) {
  OracleClient oracle(oracle_options());
  const PreparedTask task = prepare_task(vector_add().definition_json);
  CaseStore store(oracle, 0);  // keeps nothing
  const auto first = store.get(task, {0, 5});
  const pid_t before = oracle.process_id();
  ASSERT_GT(before, 0);
  ::kill(before, SIGKILL);
  const auto second = store.get(task, {0, 5});
  EXPECT_NE(oracle.process_id(), before);
  EXPECT_EQ(first->expected[0].reals, second->expected[0].reals);
  EXPECT_EQ(first->expected[0].reals.size(), 1003u);
}

TEST(OracleTest, SaysWhyThereIsNoAnswer) {
  PreparedTask task = prepare_task(vector_add().definition_json);
  task.definition.reference = "def run(a, b):\n    while True:\n        b = a + b\n    return b\n";
  const auto why_none = [&](const OracleOptions& options) -> std::string {
    OracleClient oracle(options);
    CaseStore store(oracle, 0);
    try {
      store.get(task, {0, 5});
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_UNAVAILABLE);
      return failure.what();
    }
    return "an answer";
  };
  OracleOptions options = oracle_options();
  options.request_limit = std::chrono::milliseconds(50);
  EXPECT_EQ(
      why_none(options).rfind(
          "the reference, n=1003: the oracle (" + options.program + ") took more than 200 ms: ", 0),
      0u)
      << why_none(options);
  options.program = "/usr/bin/false";
  EXPECT_NE(why_none(options).find("ended with code 1"), std::string::npos) << why_none(options);
}

TEST(OracleTest, SaysWhereAReferenceIsWrong) {
  OracleClient oracle(oracle_options());
  CaseStore store(oracle, 0);
  const auto message = [&](const std::string& reference) -> std::string {
    PreparedTask task = prepare_task(vector_add().definition_json);
    task.definition.reference = reference;
    task.definition.origin = {"t.toml", {{"reference", {10, 1}}}};
    try {
      store.get(task, {0, 5});
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
      return failure.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("def run(a, b):\n    return torch.no_such_op(a)\n").rfind("t.toml:11:12:", 0),
            0u)
      << message("def run(a, b):\n    return torch.no_such_op(a)\n");
  EXPECT_NE(message("def run(a, b):\n    return torch.sum(a)\n").find("shape"), std::string::npos);
  EXPECT_NE(message("def other(a):\n    return a\n").find("run"), std::string::npos);
}

TEST(CpuBackendTest, TellsTheSameTwiceFromDiskAndFresh) {
  const fs::path folder = fs::temp_directory_path() / ("krl_eval_" + std::to_string(::getpid()));
  fs::remove_all(folder);
  const std::string source = naive_of(vector_add());
  const Table options{{"cache", folder.string()}};
  const Outcome fresh = CpuInstance(options).evaluate(vector_add(), source);
  const Outcome kept = CpuInstance(options).evaluate(vector_add(), source);
  const Outcome anew = CpuInstance(Table{{"cache", "off"}}).evaluate(vector_add(), source);
  EXPECT_EQ(fresh.verdict, Verdict::kOk) << fresh.why;
  EXPECT_TRUE(fresh == kept);
  EXPECT_TRUE(fresh == anew);
  for (const char* value : {"shuffles", "vector_accesses", "barriers", "atomics",
                            "sectors_per_request", "dram_bytes", "bandwidth_fraction"}) {
    EXPECT_TRUE(fresh.values.count(value)) << value;
  }
  EXPECT_NEAR(fresh.values.at("sectors_per_request"), 4, 0.2);
  fs::remove_all(folder);
}

TEST(CpuBackendTest, GivesLinesOfErrors) {
  const CpuInstance backend(Table{{"cache", "off"}});
  const Outcome broken = backend.evaluate(vector_add(),
                                          R"(// @launch k<<<1, 32>>>(a, b, out, n)
__global__ void k(const float* a, const float* b, float* out, int n) {
  out[0] = missing;
}
)");
  EXPECT_EQ(broken.verdict, Verdict::kCompileError);
  ASSERT_FALSE(broken.diagnostics.empty());
  EXPECT_EQ(broken.diagnostics[0].rfind("3:0: ", 0), 0u) << broken.diagnostics[0];
  const Outcome outside = backend.evaluate(vector_add(),
                                           R"(// @launch k<<<1, 32>>>(a, b, out, n)
__global__ void k(const float* a, const float* b, float* out, int n) {

  out[n] = a[0];
}
)");
  EXPECT_EQ(outside.verdict, Verdict::kRuntimeFault);
  EXPECT_NE(outside.why.find("line 4"), std::string::npos) << outside.why;
}

TEST(CpuBackendTest, LeavesNothingBehind) {
  std::vector<std::string> sources = {
      naive_of(vector_add()), "asm", "// @launch k<<<1, 1>>>()\n__global__ void k() {",
      "// @launch k<<<1, 1>>>()\n__global__ void k() { __trap(); }",
      "// @launch k<<<1, 1>>>()\n__global__ void k() { volatile int x = 1; while (x) { } }"};
  const Table options{{"cache", "off"}, {"work_limit", 3000000}};
  std::optional<CpuInstance> backend;
  const std::string comment = "\n// ";
  const auto round = [&](int number) {
    for (const std::string& source : sources) {
      backend->evaluate(vector_add(), source + comment + std::to_string(number));
    }
  };
  backend.emplace(options);
  round(0);
  backend.reset();
  const std::size_t before = open_descriptors();
  EXPECT_EQ(children(), 0u);
  backend.emplace(options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) round(1 + 10 * t + i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(children(), 2u) << "the oracle and a compile server, or nothing was counted";
  EXPECT_LE(children(), 5u) << "more than the oracle and a server for each thread";
  backend.reset();
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(children(), 0u);
}

}  // namespace
}  // namespace krl::testing

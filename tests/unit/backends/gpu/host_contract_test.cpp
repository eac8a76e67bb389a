// Candidates with host code of their own on a simulated GPU: everything but CUDA itself is real,
// the sandbox of their process included.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/gpu_pool.hpp"
#include "plugins/backends/cuda/gpu/host_calls.hpp"
#include "plugins/backends/cuda/gpu/host_runner.hpp"
#include "plugins/backends/cuda/gpu/host_timing.hpp"
#include "plugins/files/file.hpp"
#include "tests/unit/backends/gpu/host_candidate.hpp"

namespace krl::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kRight[] = "for (int i = 0; i < n; ++i) y[i] = 2 * x[i];";

GpuPool pool_with(const std::vector<std::string>& libraries) {
  GpuWorkers workers = simulated_workers();
  workers.sandbox = std::string(kWorkers) + "kernelrl-sandbox";
  workers.run_limit = std::chrono::seconds(5);
  workers.libraries = libraries;
  return GpuPool(find_gpus(workers.runner, {0}), workers);
}

GpuPool& sandboxed_pool() {
  static GpuPool pool = pool_with({});
  return pool;
}

EvaluationRecord evaluated(const GpuCandidate& candidate, const GpuCandidate* baseline = nullptr) {
  EvaluationRecord record;
  sandboxed_pool().with_gpu({}, [&](Gpu& gpu) {
    const std::vector<PlannedRun> planned = runs();
    HostTiming timing(gpu, candidate.task, {baseline}, planned);
    if (baseline != nullptr) timing.time_baselines();
    const RunnerChoice runner(gpu, RunnerKind::kHost);
    check_on_gpu(gpu, candidate, planned, &record);
    if (baseline == nullptr || record.verdict != Verdict::kOk) return;
    timing.time(candidate, TimingSettings(), &record);
  });
  return record;
}

EvaluationRecord checked(const std::string& text) { return evaluated(HostCandidate(text)); }

EvaluationRecord timed(const std::string& text, const std::string& kernel = "good") {
  const Candidate good(kernel);
  const GpuCandidate baseline = good;
  return evaluated(HostCandidate(text), &baseline);
}

// After anything that a candidate did.
void expect_next_is_right() {
  const EvaluationRecord record = checked(kRight);
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(HostContract, PassesALauncherThatIsRight) {
  const EvaluationRecord record = checked(kRight);
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
  EXPECT_EQ(record.cases.size(), 3u);
}

TEST(HostContract, PassesAStreamAndAnyWidthOfIntegers) {
  for (const char* parameters :
       {"float* x, float* y, long n, cudaStream_t s", "const float* x, float* y, unsigned n",
        "const float* __restrict__ x, float* __restrict__ y, size_t n"}) {
    const EvaluationRecord record =
        checked("int launch(" + std::string(parameters) + ") {" + kRight + " return 0; }");
    EXPECT_EQ(record.verdict, Verdict::kOk) << parameters << ": " << record.why;
  }
}

TEST(HostContract, SeesWhatIsWrong) {
  EXPECT_EQ(checked("for (int i = 0; i + 1 < n; ++i) y[i] = 2 * x[i];").verdict,
            Verdict::kWrongResult);
  const EvaluationRecord outside = checked(std::string(kRight) + " y[n] = 1;");
  EXPECT_EQ(outside.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(outside.why, HasSubstr("past the end of y"));
  expect_next_is_right();
}

TEST(HostContract, TimesALauncher) {
  const EvaluationRecord record = timed(kRight);
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  EXPECT_GE(record.cases[0].samples_ns.size(), 8u);
}

// ---- the form of a torch extension

std::string extension(const std::string& forward, const std::string& name = "forward") {
  return R"(#include <torch/extension.h>
extern "C" cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t) {
  __builtin_memset(at, value, bytes);
  return cudaSuccess;
}
)" + forward +
         "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"" + name +
         "\", &forward, \"doc\"); }\n";
}

constexpr char kForward[] = R"(torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda() && x.is_contiguous() && x.dim() == 1, "x");
  auto spare = torch::zeros({x.size(0), 2}, x.options());
  auto y = torch::empty_like(x);
  for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = 2 * x.data_ptr<float>()[i];
  return y;
})";

TEST(HostContract, FetchesWhatForwardReturns) {
  const EvaluationRecord record = timed(extension(kForward));
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(HostContract, ContiguousCopiesWhatIsTransposed) {
  const EvaluationRecord record = checked(extension(R"(torch::Tensor forward(torch::Tensor x) {
  const int64_t n = x.numel(), rows = n % 10 == 0 ? 10 : n % 3 == 0 ? 3 : 7, columns = n / rows;
  auto turned = torch::empty({columns, rows}, x.options());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      turned.data_ptr<float>()[j * rows + i] = 2 * x.data_ptr<float>()[i * columns + j];
    }
  }
  auto y = turned.t().contiguous();
  TORCH_CHECK(y.is_contiguous() && y.data_ptr() != turned.data_ptr());
  return y.reshape({n});
})"));
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(HostContract, ForwardMayTakeItsOutput) {
  const EvaluationRecord record =
      checked(extension("void forward(const torch::Tensor& x, torch::Tensor y) { float* to = "
                        "y.data_ptr<float>(); for (int64_t i = 0; i < x.numel(); ++i) to[i] = 2 * "
                        "x.data_ptr<float>()[i]; }"));
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(HostContract, ATensorThatNobodyFilledIsNoOldResult) {
  const EvaluationRecord record = checked(extension(
      "int calls = 0; torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); "
      "if (++calls % 2) for (int64_t i = 0; i < x.numel(); ++i) y.data_ptr<float>()[i] = 2 * "
      "x.data_ptr<float>()[i]; return y; }"));
  EXPECT_THAT(record.verdict, AnyOf(Verdict::kWrongResult, Verdict::kNondeterministic));
}

TEST(HostContract, SaysWhatForwardDidWrong) {
  const auto why = [](const std::string& source) {
    const EvaluationRecord record = checked(source);
    EXPECT_EQ(record.verdict, Verdict::kRuntimeFault) << record.why;
    return record.why;
  };
  EXPECT_THAT(why(extension("torch::Tensor forward(torch::Tensor x) { return x.view({1, -1}); }")),
              HasSubstr("output 1 is float32 [1, 1000], not float32 [1000]"));
  EXPECT_THAT(why(extension("torch::Tensor forward(torch::Tensor x) { return torch::empty({1000}, "
                            "x.options().dtype(torch::kHalf)); }")),
              HasSubstr("float16"));
  EXPECT_THAT(why(extension("torch::Tensor forward(torch::Tensor x) { TORCH_CHECK(x.dim() == 2, "
                            "\"x has \", x.dim(), \" axes\"); return x; }")),
              HasSubstr("x has 1 axes"));
  EXPECT_THAT(why(extension("torch::Tensor forward(torch::Tensor x, torch::Tensor w, float s) { "
                            "return x; }")),
              HasSubstr("forward takes 2 tensors and 1 numbers; the task has 1 inputs and 0"));
  EXPECT_THAT(why(extension(kForward, "backward")), HasSubstr("defines no function 'forward'"));
  EXPECT_THAT(
      why(extension("torch::Tensor forward(torch::Tensor x) { return x.to(torch::kHalf); }")),
      HasSubstr("not in kernelrl's torch shim: conversion of a Float tensor to Half"));
}

// ---- what host code can do that device code cannot

TEST(HostContract, AProcessThatEndsIsTheCandidatesFault) {
  const EvaluationRecord ends = checked("__builtin_exit(0);");
  EXPECT_EQ(ends.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(ends.why, HasSubstr("ended with code 0"));
  const EvaluationRecord crashes = checked("*(volatile int*)8 = 1;");
  EXPECT_EQ(crashes.verdict, Verdict::kRuntimeFault);
  EXPECT_THAT(crashes.why, HasSubstr("signal 11"));
  expect_next_is_right();
}

TEST(HostContract, EndsAHostLoop) {
  const EvaluationRecord record = checked("volatile int more = 1; while (more) {}");
  EXPECT_EQ(record.verdict, Verdict::kTimeout) << record.why;
  expect_next_is_right();
}

// Each tries what it must not, and is right only if that failed.
TEST(HostContract, TheSandboxHolds) {
  const std::string folder = std::filesystem::temp_directory_path();
  const auto forbidden = [](const std::string& attempt) {
    return "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n"
           "#include <sys/prctl.h>\n#include <sys/ptrace.h>\n#include <sys/socket.h>\n#include "
           "<unistd.h>\n"
           "void launch(const float* x, float* y, int n) { if (" +
           attempt + ") return; " + kRight + "}";
  };
  const std::vector<std::string> attempts = {
      "fork() >= 0",
      "system(\"true\") == 0",
      "vfork() >= 0",
      "execl(\"/bin/true\", \"true\", nullptr) == 0",
      "open(\"/etc/passwd\", O_RDONLY) >= 0",
      "open(\"" + folder + "/krl-escape\", O_CREAT | O_WRONLY, 0600) >= 0",
      "[] { char path[64]; snprintf(path, sizeof path, \"/proc/%d/environ\", getppid()); "
      "return open(path, O_RDONLY) >= 0; }()",
      "socket(AF_INET, SOCK_STREAM, 0) >= 0",
      "kill(getppid(), 0) == 0",
      "prctl(PR_SET_PDEATHSIG, 0) == 0",
      "ptrace(PTRACE_ATTACH, getppid(), 0, 0) == 0"};
  for (const std::string& attempt : attempts) {
    const EvaluationRecord record = checked(forbidden(attempt));
    EXPECT_EQ(record.verdict, Verdict::kOk) << attempt << ": " << record.why;
  }
  EXPECT_FALSE(std::filesystem::exists(folder + "/krl-escape"));
}

// Its process sees the files of its own libraries, and no folder of libraries.
TEST(HostContract, NoOtherLibraryCanBeLoaded) {
  const auto loads = [](const std::string& library) {
    return "#include <dlfcn.h>\nvoid launch(const float* x, float* y, int n) { if (dlopen(\"" +
           library + "\", RTLD_NOW) == nullptr) return; " + kRight + "}";
  };
  const std::string other = KERNELRL_SIMULATED_FOLDER "/candidates.so";
  ASSERT_TRUE(std::filesystem::exists(other));
  EXPECT_EQ(checked(loads(other)).verdict, Verdict::kWrongResult);
  EvaluationRecord allowed;
  pool_with({other}).with_gpu({}, [&](Gpu& gpu) {
    const RunnerChoice runner(gpu, RunnerKind::kHost);
    check_on_gpu(gpu, HostCandidate(loads(other)), runs(), &allowed);
  });
  EXPECT_EQ(allowed.verdict, Verdict::kOk) << allowed.why;
  EXPECT_EQ(checked(loads("libseccomp.so.2")).verdict, Verdict::kWrongResult);
  const EvaluationRecord own = checked(loads("libm.so.6"));
  EXPECT_EQ(own.verdict, Verdict::kOk) << own.why;
}

TEST(HostContract, LibrariesAreFoundByTheirNames) {
  const std::vector<std::string> environment = {"LD_LIBRARY_PATH=/none:" KERNELRL_SIMULATED_FOLDER};
  EXPECT_THAT(find_libraries("cuda, m", environment),
              ::testing::IsSupersetOf({std::string(KERNELRL_SIMULATED_FOLDER "/libcuda.so.1")}));
  EXPECT_TRUE(find_libraries("", environment).empty());
  EXPECT_THROW(find_libraries("cublas_of_nobody", environment), Failure);
}

// As the driver has to when it starts.
TEST(HostContract, ThreadsMayBeNamed) {
  const EvaluationRecord record = checked(
      "#include <stdio.h>\n#include <unistd.h>\nvoid launch(const float* x, float* y, int n) "
      "{ char path[64]; snprintf(path, sizeof path, \"/proc/self/task/%d/comm\", gettid());"
      " FILE* name = fopen(path, \"wb\"); if (name == nullptr) return; fclose(name);" +
      std::string(kRight) + "}");
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

TEST(HostContract, FlagsWhatIsWrittenIntoTheAnswers) {
  const std::string answers = "for (int i = 3; i < 64; ++i) write(i, ";
  for (const char* forged : {"\"\\1\\0\\0\\0\\xf6\", 5);", "\"\\377\\377\\377\\377\\0\", 5);"}) {
    const EvaluationRecord record =
        checked("#include <unistd.h>\nvoid launch(const float* x, float* y, int n) {" + answers +
                forged + kRight + "}");
    EXPECT_EQ(record.verdict, Verdict::kFlagged) << record.why;
  }
  expect_next_is_right();
}

TEST(HostContract, KnowsAnAnswerByItsTicketAndForm) {
  using nlohmann::json;
  const auto kind = [](const json& answer) {
    const auto result = host_answer(7, answer);
    return result ? -1 : static_cast<int>(result.error().kind);
  };
  const auto answer = [](const json& ticket, const json& content) -> json {
    return {{"ticket", ticket}, {"answer", content}};
  };
  EXPECT_EQ(kind(answer(7, nullptr)), -1);
  for (const json& forged :
       {answer(8, nullptr), answer(nullptr, nullptr), answer(7, json::array({1.0})), answer(7, 3),
        json({{"answer", nullptr}}), json({{"ticket", 7}}), answer(7, {{"trouble", 3}}),
        json(nullptr), json::array({1, 2})}) {
    EXPECT_EQ(kind(forged), RunnerFailure::kForged) << forged;
  }
  const auto numbers = [&](const json& content) {
    return static_cast<bool>(host_answer(7, answer(7, content), 2));
  };
  EXPECT_TRUE(numbers({1.5, 2}));
  for (const json& forged : {json(nullptr), json::array({1.0}), json({1, "2"}), json(7)}) {
    EXPECT_FALSE(numbers(forged)) << forged;
  }
  const auto died = host_answer(7, std::nullopt);
  ASSERT_FALSE(died);
  EXPECT_EQ(died.error().kind, RunnerFailure::kDied);
}

TEST(HostCalls, TakeWhatTheyTakeBeyondThoseThatDoNothing) {
  EXPECT_DOUBLE_EQ(ns_of_call({6e6, 1e6}, {1e6, 2e6}, 1000), 5000);
  EXPECT_DOUBLE_EQ(ns_of_call({6e6, 4e6}, {1e6, 2e6}, 1000), 7000) << "work that was put off";
  EXPECT_DOUBLE_EQ(ns_of_call({1e6, 1e6}, {2e6, 1e6}, 1000), 1) << "none is free";
}

// What it takes the GPU to turn to the candidate and to the checker is in doubt, and counts beyond.
TEST(HostCalls, TurningTheGpuIsNotTheirsUnlessItTakesLong) {
  const CallTimes least{1e6, 1e6, 1e6, 0};
  const CallTimes quick{6e6, 1e6, 1.2e6, 1e5}, woken_late{6e6, 1e6, 1.2e6, 3e6},
      fetched_late{6e6, 1e6, 4e6, 1e5};
  EXPECT_DOUBLE_EQ(ns_of_call(quick, least, 1000), 5000);
  EXPECT_DOUBLE_EQ(ns_of_call(woken_late, least, 1000), 7500);
  EXPECT_DOUBLE_EQ(ns_of_call(fetched_late, least, 1000), 7500);
  EXPECT_DOUBLE_EQ(unseen_ns(quick, least), 3e5);
  EXPECT_DOUBLE_EQ(unseen_ns(woken_late, least), 7e5);
  EXPECT_GT(doubt_of(5e3, 1000, 5e5), doubt_of(5e3, 1000, 1e5));
}

TEST(HostCalls, AreSoManyThatOurClockIsInDoubtByFivePercentAtMost) {
  constexpr double kLeastUnseen = 1e5;
  constexpr std::uint64_t kArena = std::uint64_t{4} << 30;
  for (const double ns : {5e3, 2e4, 1e6}) {
    const std::uint32_t calls = calls_of_batch(ns, 1 << 16, kArena);
    EXPECT_GE(calls * ns, 2e6);
    EXPECT_LE(doubt_of(ns, calls, kLeastUnseen), 0.05);
  }
  EXPECT_EQ(calls_of_batch(1e9, 1 << 16, kArena), 1u);
  EXPECT_GT(doubt_of(5e3, calls_of_batch(5e3, kArena / 8, kArena), kLeastUnseen), 0.5)
      << "no room: it says so";
}

// A thread stands for a stream of its own.
// Where its memory belongs to the next case, it writes outside of that one's buffers.
TEST(HostContract, SeesWorkThatGoesOnAfterTheCall) {
  const EvaluationRecord record = checked(
      "#include <thread>\nvoid launch(const float* x, float* y, int n) {" + std::string(kRight) +
      "static volatile bool runs; runs = false;"
      "std::thread([=] { runs = true; for (int k = 0; k < 100'000'000; ++k) "
      "*(volatile float*)y = k; }).detach(); while (!runs) {} }");
  EXPECT_THAT(record.verdict, AnyOf(Verdict::kFlagged, Verdict::kWrongResult,
                                    Verdict::kNondeterministic, Verdict::kRuntimeFault))
      << record.why;
  expect_next_is_right();
}

// Makes every function of the driver that could say how long something took say "at once".
TEST(HostContract, APatchedClockGainsNothing) {
  const EvaluationRecord record = timed(
      "#include <dlfcn.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n"
      "void launch(const float* x, float* y, int n) {"
      "char* code = (char*)dlsym(RTLD_DEFAULT, \"cuEventElapsedTime_v2\");"
      "void* page = (void*)((unsigned long)code & ~4095ul);"
      "mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);"
      "memcpy(code, \"\\x31\\xc0\\xc7\\x07\\x6f\\x12\\x83\\x3a\\xc3\", 9);"
      "usleep(3000);" +
      std::string(kRight) + "}");
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  EXPECT_GT(record.cases[0].time_ns, 3e6);
}

// It answers in the place of the harness, and works on.
TEST(HostContract, WorkThatIsPutOffCounts) {
  const EvaluationRecord record = timed(
      "#include <thread>\n#include <unistd.h>\nvoid launch(const float* x, float* y, int n) {"
      "std::thread([=] { usleep(20000); " +
      std::string(kRight) + "}).detach(); }");
  EXPECT_THAT(record.verdict, AnyOf(Verdict::kFlagged, Verdict::kWrongResult,
                                    Verdict::kNondeterministic, Verdict::kRuntimeFault))
      << record.why;
  expect_next_is_right();
}

// When the checker comes to know what is right, the work is done.
TEST(HostContract, OutputsAreFetchedBeforeTheyAreJudged) {
  const EvaluationRecord record = timed(
      "#include <thread>\n#include <unistd.h>\nvoid launch(const float* x, float* y, int n) {"
      "static int calls = 0; if (++calls > 12) std::thread([=] { usleep(3000); " +
      std::string(kRight) + "}).detach(); else {" + kRight + "} }");
  EXPECT_THAT(record.verdict, AnyOf(Verdict::kFlagged, Verdict::kWrongResult,
                                    Verdict::kNondeterministic, Verdict::kRuntimeFault))
      << record.why;
  expect_next_is_right();
}

TEST(HostContract, BaselinesAreTimedWhenNoCandidateLives) {
  const EvaluationRecord record = timed(
      "#include <sys/prctl.h>\nvoid launch(const float* x, float* y, int n) {"
      "prctl(PR_SET_NAME, \"krl-company\");" +
          std::string(kRight) + "}",
      "slower_in_company");
  ASSERT_EQ(record.verdict, Verdict::kOk) << record.why;
  for (const int c : {0, 1}) {
    for (const double ns : record.cases[c].baseline_samples_ns) EXPECT_LT(ns, 2e8);
  }
}

// A thread that never sleeps has the processor for most of the time unless it is stopped.
TEST(HostContract, BetweenItsCallsNothingOfItRuns) {
  const EvaluationRecord record = checked(R"(#include <time.h>
#include <thread>
static double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}
void launch(const float* x, float* y, int n) {
  static int calls = 0;
  static double began, used;
  if (calls++ == 0) {
    std::thread([] { for (volatile int i = 0;; ++i) {} }).detach();
    began = seconds(CLOCK_MONOTONIC);
    used = seconds(CLOCK_PROCESS_CPUTIME_ID);
  }
  const double busy = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
  if (calls > 4 && busy > 0.7 * (seconds(CLOCK_MONOTONIC) - began)) return;
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
})");
  EXPECT_EQ(record.verdict, Verdict::kOk) << record.why;
}

// As it is where a kernel that was enqueued late keeps its process's GPU busy.
TEST(HostContract, WorkThatGoesOnForASecondIsFlagged) {
  const EvaluationRecord record = checked(
      "#include <signal.h>\n#include <unistd.h>\n"
      "void launch(const float* x, float* y, int n) {"
      "signal(SIGCONT, [](int) { for (int i = 0; i < 30; ++i) usleep(50000); });" +
      std::string(kRight) + "}");
  EXPECT_EQ(record.verdict, Verdict::kFlagged) << record.why;
  EXPECT_THAT(record.why, HasSubstr("ms after its calls"));
  expect_next_is_right();
}

TEST(HostContract, AnswersThatAreKeptAreWrongForOtherInputs) {
  const EvaluationRecord record = timed(
      R"(#include <vector>
void launch(const float* x, float* y, int n) {
  static std::vector<float> kept;
  static int calls = 0;
  if (++calls <= 8 || (int)kept.size() != n) {
    kept.resize(n);
    for (int i = 0; i < n; ++i) kept[i] = 2 * x[i];
  }
  for (int i = 0; i < n; ++i) y[i] = kept[i];
})");
  EXPECT_THAT(record.verdict, AnyOf(Verdict::kFlagged, Verdict::kWrongResult)) << record.why;
}

TEST(HostContract, ACandidateThatKillsItselfIsTriedAgain) {
  EXPECT_THROW(checked(R"(#include <signal.h>
#include <sys/resource.h>
void launch(const float* x, float* y, int n) {
  rlimit none{0, 0};
  setrlimit(RLIMIT_CPU, &none);
  for (volatile int k = 0;; ++k) {}
})"),
               RunnerKilled);
  expect_next_is_right();
}

// ---- nothing survives us

// Of a process: its parent, and its name; nothing if it is gone or waits to be forgotten.
struct ProcessState {
  pid_t parent = 0;
  std::string name;
};

std::optional<ProcessState> state_of(pid_t process) {
  std::istringstream text(files::read_file_or_empty("/proc/" + std::to_string(process) + "/stat"));
  ProcessState state;
  std::string word;
  std::getline(std::getline(text, word, '('), state.name, ')');
  char letter = 'Z';
  text >> letter >> state.parent;
  return letter == 'Z' ? std::nullopt : std::optional(state);
}

std::map<pid_t, std::string> children_of(pid_t parent) {
  std::map<pid_t, std::string> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    const auto state = process > 0 ? state_of(process) : std::nullopt;
    if (state && state->parent == parent) children[process] = state->name;
  }
  return children;
}

// It no longer sees that its input has ended, and never returns.
constexpr char kClings[] =
    R"(#include <sys/prctl.h>
#include <unistd.h>
void launch(const float*, float*, int) {
  close(0);
  prctl(PR_SET_NAME, "clings");
  for (;;) usleep(1000);
})";

[[noreturn]] void run_what_clings(const gpu::Load& load, const gpu::Calls& calls) {
  GpuWorkers workers = simulated_workers();
  workers.sandbox = std::string(kWorkers) + "kernelrl-sandbox";
  workers.run_limit = std::chrono::hours(1);
  Gpu gpu(find_gpus(workers.runner, {0}).front(), workers);
  gpu.choose_runner(RunnerKind::kHost);
  const bool ran = gpu.ask_runner("load", load) && gpu.ask_runner("call", calls);
  ::_exit(ran ? 0 : 1);
}

TEST(HostContract, NoProcessSurvivesAKilledHost) {
  const HostCandidate candidate(kClings);
  const GpuCandidate borrowed = candidate;
  const gpu::Calls calls{borrowed.buffers(0).program.host, {0}};
  const pid_t host = ::fork();
  ASSERT_GE(host, 0);
  if (host == 0) run_what_clings(borrowed.load(), calls);
  const auto clings = [](const auto& child) { return child.second == "clings"; };
  std::map<pid_t, std::string> children;
  while (std::none_of(children.begin(), children.end(), clings)) {
    ASSERT_TRUE(state_of(host)) << "it ended";
    children = children_of(host);
  }
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  for (const auto& [child, name] : children) {
    while (state_of(child)) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace
}  // namespace krl::testing

// Every kernel of hostile_kernels.hpp against the real `cpu` plugin, in one process, and what the
// judge leaves behind after each pass over them: nothing.
//
//   kernels_test --gtest_filter=*Hostile* --gtest_repeat=100 --gtest_shuffle
//                                              a hundred passes, each in another order
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/hostile/hostile_kernels.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"
#include "tests/until_available.hpp"

namespace krl::testing {
namespace {

namespace fs = std::filesystem;

// Compile servers that start later: sources that begin with cooperative groups' headers have their
// own, one for each preamble and judge.
constexpr std::size_t kMoreServers = 4, kDescriptorsOfServer = 6;
constexpr std::size_t kMostGrowth = std::size_t{16} << 20;  // of resident memory, over all passes

// What is to keep a compiler busy has little time for it; a right kernel has enough on any machine.
const CpuInstance& judge_of(const std::string& kernel) {
  static const CpuInstance brief(Table{{"cache", "off"}, {"compile_timeout", 3.0}}),
      patient(Table{{"cache", "off"}, {"compile_timeout", 60.0}});
  return kernel.starts_with("compiler/") ? brief : patient;
}

// A folder for temporary files that nobody else has.
const fs::path& temporary_files() {
  static const fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "hostile-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    ::setenv("TMPDIR", name.c_str(), 1);
    return fs::path(name);
  }();
  return folder;
}

std::size_t entries(const fs::path& folder) {
  const fs::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// Processes whose parent is this one, which is made the parent of every process whose own is gone.
std::size_t children() {
  std::ifstream all("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  return static_cast<std::size_t>(
      std::distance(std::istream_iterator<pid_t>(all), std::istream_iterator<pid_t>()));
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

// What a process of the judge may leave behind.
struct Left {
  std::size_t descriptors, processes, files, bytes;

  static Left now() {
    return {entries("/proc/self/fd"), children(), entries(temporary_files()), resident_bytes()};
  }
};

// Compares what there is after a pass with what there was after the first evaluation of all, which
// starts what stays: the oracle, the compile servers; memory with that after the first pass.
class LeavesNothing {
 public:
  void begin_pass() {
    temporary_files();
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    const TaskText& task = all_tasks().at("vector_add");
    for (const char* folder : {"compiler/", "right/"})
      ASSERT_EQ(judge_of(folder).evaluate(task, naive_of(task)).verdict, Verdict::kOk);
    if (first_.descriptors == 0) first_ = Left::now();
  }

  void end_pass() {
    const Left now = Left::now();
    EXPECT_LE(now.descriptors, first_.descriptors + kMoreServers * kDescriptorsOfServer);
    EXPECT_LE(now.processes, first_.processes + kMoreServers);
    EXPECT_LE(now.files, first_.files);
    if (bytes_of_a_pass_ == 0) bytes_of_a_pass_ = now.bytes;
    EXPECT_LE(now.bytes, bytes_of_a_pass_ + kMostGrowth);
    std::printf("left: %zu descriptors, %zu processes, %zu files, %zu MiB (at first: %zu MiB)\n",
                now.descriptors, now.processes, now.files, now.bytes >> 20, first_.bytes >> 20);
  }

 private:
  Left first_{};
  std::size_t bytes_of_a_pass_ = 0;  // of the first: what is kept of every task is in them
};

class Hostile : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() { leaves_nothing().begin_pass(); }
  static void TearDownTestSuite() { leaves_nothing().end_pass(); }

 private:
  static LeavesNothing& leaves_nothing() {
    static LeavesNothing of_all_passes;
    return of_all_passes;
  }
};

TEST_P(Hostile, GetsItsVerdict) {
  const HostileKernel kernel = hostile_kernel(GetParam());
  ASSERT_NE(kernel.task, "") << "its first line";
  const Outcome outcome = test::until_available(
      [&] { return judge_of(GetParam()).evaluate(all_tasks().at(kernel.task), kernel.source); });
  EXPECT_TRUE(kernel.expects(outcome.verdict))
      << "expected " << kernel.expected << ", got " << name_of(outcome.verdict) << ": "
      << outcome.why << "\n"
      << outcome.log;
  EXPECT_EQ(outcome.verdicts, 1);
  EXPECT_EQ(outcome.why.empty(), outcome.verdict == Verdict::kOk);
  for (const auto& record : outcome.cases) {
    EXPECT_FALSE(record.speedup > kernel.max_speedup) << record.speedup;  // NaN: not timed
    EXPECT_FALSE(record.speedup < kernel.min_speedup) << record.speedup;
  }
  if (GetParam().starts_with("right/") && outcome.verdict == Verdict::kRejected) {
    EXPECT_NE(outcome.why.find("line "), std::string::npos) << "says where: " << outcome.why;
  }
  for (const char* secret : {KERNELRL_SOURCE_DIR, "/proc", "root:"}) {
    if (kernel.source.find(secret) != std::string::npos) continue;  // quoted from the candidate
    EXPECT_EQ(outcome.log.find(secret), std::string::npos) << outcome.log;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Hostile, ::testing::ValuesIn(hostile_kernel_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace krl::testing

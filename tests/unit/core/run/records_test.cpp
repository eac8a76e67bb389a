// Samples, best kernels and the log: what a run leaves for people to read.
#include <gtest/gtest.h>

#include "core/base/log.hpp"
#include "core/run/best.hpp"
#include "core/run/run_files.hpp"
#include "tests/scratch_folder.hpp"
#include "tests/unit/core/base/faulty_file_system.hpp"
#include "tests/unit/core/run/timed_evaluation.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;

TEST(SampleFiles, WritesAFileAnIteration) {
  const test::ScratchFolder folder;
  auto samples = SampleWriter::open(folder.path(), 0);
  for (int iteration = 1; iteration <= 3; ++iteration)
    ASSERT_TRUE(samples->write(iteration, {"{\"a\":1}", "{}"}));
  EXPECT_EQ(read_file(folder / "iteration_000002.jsonl"), "{\"a\":1}\n{}\n");
  ASSERT_TRUE(samples->write(3, {"[]"}));
  EXPECT_EQ(read_file(folder / "iteration_000003.jsonl"), "[]\n");
  ASSERT_TRUE(SampleWriter::open(folder.path(), 2));
  EXPECT_FALSE(fs::exists(folder / "iteration_000003.jsonl")) << "a resumed run does it again";
  EXPECT_TRUE(fs::exists(folder / "iteration_000002.jsonl"));
}

TEST(SampleFiles, SaysHowManyTheLimitLeavesOut) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(SampleWriter::open(folder.path(), 0, real_file_system(), 9)
                  ->write(1, {"[1]", "[2]", "[3]", "[4]"}));
  EXPECT_EQ(read_file(folder / "iteration_000001.jsonl"), "[1]\n[2]\n{\"left_out\":2}\n");
}

TEST(SampleFiles, WritesNoFileForNone) {
  const test::ScratchFolder folder;
  ASSERT_TRUE(SampleWriter::open(folder.path(), 0)->write(1, {}));
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(BestKernels, AreReplacedOnlyByFasterOnes) {
  const test::ScratchFolder folder;
  {
    auto best = *BestKernels::open(folder.path());
    EXPECT_EQ(best.offer({"softmax", 3, "first", test::timed_evaluation(1.5)}), true);
    EXPECT_EQ(best.offer({"softmax", 4, "as fast", test::timed_evaluation(1.5)}), false);
    EXPECT_EQ(best.offer({"softmax", 5, "slower", test::timed_evaluation(1.2)}), false);
    EXPECT_FALSE(best.offer({"softmax", 5, "odd", Evaluation()}));
  }
  EXPECT_EQ(read_file(folder / "softmax.cu"), "first");
  auto best = *BestKernels::open(folder.path());
  EXPECT_EQ(best.speedups().at("softmax"), 1.5);
  EXPECT_EQ(best.offer({"softmax", 6, "faster", test::timed_evaluation(2.0)}), true);
  EXPECT_EQ(read_file(folder / "softmax.cu"), "faster");
  EXPECT_NE(read_file(folder / "softmax.json")->find("\"speedup\": 2.0"), std::string::npos);
}

TEST(BestKernels, LeaveNoFileInAnotherLanguage) {
  const test::ScratchFolder folder;
  const std::string triton = "import triton\n";
  auto best = *BestKernels::open(folder.path());
  ASSERT_TRUE(best.offer({"t", 1, "cuda", test::timed_evaluation(1.0)}));
  ASSERT_TRUE(best.offer({"t", 2, triton, test::timed_evaluation(2.0)}));
  EXPECT_EQ(read_file(folder / "t.py"), triton);
  EXPECT_FALSE(fs::exists(folder / "t.cu"));
}

TEST(BestKernels, OfIterationsThatAreLostStayButDecideNothing) {
  const test::ScratchFolder folder;
  auto best = *BestKernels::open(folder.path());
  ASSERT_TRUE(best.offer({"t", 3, "fast", test::timed_evaluation(3.0)}));
  best.return_to({{"t", 1.0}});
  EXPECT_EQ(best.offer({"t", 2, "slower", test::timed_evaluation(2.0)}), true);
  EXPECT_EQ(best.speedups().at("t"), 2.0);
  EXPECT_EQ(read_file(folder / "t.cu"), "fast");
  EXPECT_EQ(best.offer({"t", 4, "faster", test::timed_evaluation(4.0)}), true);
  EXPECT_EQ(read_file(folder / "t.cu"), "faster");
  ASSERT_TRUE(best.clear());
  EXPECT_FALSE(fs::exists(folder / "t.cu"));
  EXPECT_TRUE(BestKernels::open(folder.path())->speedups().empty());
}

TEST(BestKernels, HaveOneSourceAndOneEvaluationWhereverTheWritingStops) {
  bool completed = false;
  for (int operation = 1; !completed; ++operation) {
    const test::ScratchFolder folder;
    ASSERT_TRUE(
        BestKernels::open(folder.path())->offer({"t", 1, "old", test::timed_evaluation(1.0)}));
    test::FaultyFileSystem files;
    files.stop_at(operation);
    auto best = BestKernels::open(folder.path(), files);
    completed = best && best->offer({"t", 2, "new", test::timed_evaluation(2.0)});
    const auto after = BestKernels::open(folder.path());
    ASSERT_TRUE(after);
    EXPECT_EQ(read_file(folder / "t.cu"), after->speedups().at("t") == 2.0 ? "new" : "old")
        << operation;
    ASSERT_LT(operation, 100);
  }
}

TEST(BestKernels, GiveEveryTaskAFileOfItsOwn) {
  EXPECT_EQ(file_name_of_task("softmax_rows-2.1"), "softmax_rows-2.1");
  EXPECT_EQ(file_name_of_task("../a/b"), "%2E.%2Fa%2Fb");
  EXPECT_EQ(file_name_of_task(".hidden"), "%2Ehidden");
  const std::string x = file_name_of_task(std::string(500, 'x') + "1"),
                    y = file_name_of_task(std::string(500, 'x') + "2");
  EXPECT_NE(x, y);
  EXPECT_LT(x.size(), 200u);
}

TEST(RunLog, WritesToItsFileFromItsLevelUp) {
  const test::ScratchFolder folder;
  log(Severity::kError, "before the start");
  ASSERT_TRUE(start_log(folder / "logs.log"));
  log(Severity::kDebug, "detail");
  log(Severity::kWarning, "odd {} text");
  stop_log();
  log(Severity::kError, "after the end");
  const std::string text = *read_file(folder / "logs.log");
  EXPECT_NE(text.find("warning odd {} text\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_FALSE(start_log("/proc/nowhere/logs.log"));
}

}  // namespace
}  // namespace krl::core

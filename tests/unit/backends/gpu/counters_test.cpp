// Hardware counters without a GPU: CUPTI's own host half, which knows every chip, and the profiler
// on a simulated driver and a simulated CUPTI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/backends/cuda/gpu/counters.hpp"
#include "plugins/backends/cuda/worker/counters/metric_plan.hpp"
#include "tests/unit/backends/gpu/simulated_gpu.hpp"

namespace krl::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// ---- which metrics

struct Answer {
  int exit_code;
  std::string text;
};

// What the profiler says of a chip. Its own process, as CUPTI opens its host half in a way that
// AddressSanitizer does not survive.
Answer metrics_of(const std::string& chip) {
  const MemoryFile output = MemoryFile::create("krl-metrics");
  Command command;
  command.arguments = {std::string(kWorkers) + "kernelrl-gpu-profiler", "--metrics", chip};
  command.descriptors = {{output.descriptor(), 1}, {output.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(std::chrono::seconds(60));
  return {ending.exit_code, output.read(1 << 20)};
}

class ChipMetrics : public ::testing::TestWithParam<const char*> {};

TEST_P(ChipMetrics, AreAllThereAndTakeFourPasses) {
  const Answer answer = metrics_of(GetParam());
  EXPECT_EQ(answer.exit_code, 0) << answer.text;
  for (const gpu::Metric& metric : gpu::kMetrics) {
    EXPECT_THAT(answer.text, HasSubstr(std::string(metric.name) + " "));
  }
  EXPECT_THAT(answer.text, HasSubstr("\n4 passes\n"));
}
INSTANTIATE_TEST_SUITE_P(Counters, ChipMetrics, ::testing::Values("GH100", "GA100", "AD102"));

TEST(Counters, NameTheChipThatIsNotKnown) {
  const Answer answer = metrics_of("XX999");
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_THAT(answer.text, HasSubstr("the chip XX999"));
}

TEST(Counters, LeaveOutWhatIsAShareOfNothing) {
  const gpu::Metric *requests = nullptr, *hits = nullptr;
  for (const gpu::Metric& metric : gpu::kMetrics) {
    if (metric.name == "global_load_requests") requests = &metric;
    if (metric.name == "l1_hit_rate") hits = &metric;
  }
  const auto counters = gpu::counters_of({requests, hits}, {0, std::nan("")});
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].name, "global_load_requests");
}

// ---- the profiler

Counters counters_with(const std::string& cupti) {
  const GpuWorkers workers = simulated_workers();
  ProfilerStart start;
  start.program = std::string(kWorkers) + "kernelrl-gpu-profiler";
  start.environment = {"LD_LIBRARY_PATH=" KERNELRL_SIMULATED_FOLDER,
                       "CUDA_HOME=" KERNELRL_SIMULATED_FOLDER, "SIMULATED_CUPTI=" + cupti};
  start.setup = {0, workers.trusted_code, workers.arena_bytes, {}};
  start.bandwidth = 1e12;
  return Counters(start);
}

EvaluationRecord passed() {
  EvaluationRecord record;
  record.cases = {{}, {}, {}};
  record.cases[0].time_ns = 2;
  return record;
}

double value_of(const EvaluationRecord& record, std::int32_t case_index, std::string_view name) {
  for (const krl::Value& value : record.values) {
    if (value.case_index == case_index && value.name == name) return value.value;
  }
  return kUnknown;
}

TEST(Counters, AreValuesOfEachCaseThatIsNoHoldout) {
  Counters counters = counters_with("");
  ASSERT_EQ(counters.problem(), "");
  EvaluationRecord record = passed();
  counters.add(Candidate("good"), runs(), &record);
  for (const std::int32_t c : {0, 1}) {
    EXPECT_DOUBLE_EQ(value_of(record, c, "achieved_occupancy"), 0.25);
    EXPECT_DOUBLE_EQ(value_of(record, c, "sectors_per_request"), 4.5);
    EXPECT_DOUBLE_EQ(value_of(record, c, "warp_efficiency"), 0.75);
    EXPECT_DOUBLE_EQ(value_of(record, c, "dram_bytes"), 1024);
  }
  EXPECT_DOUBLE_EQ(value_of(record, 0, "bandwidth_fraction"), 0.512);  // 1024 B in 2 ns
  EXPECT_DOUBLE_EQ(value_of(record, 0, "dram_utilisation"), 0.512);
  EXPECT_TRUE(std::isnan(value_of(record, 1, "bandwidth_fraction")));  // it was not timed
  EXPECT_TRUE(std::isnan(value_of(record, 2, "dram_bytes")));
  EXPECT_TRUE(std::isnan(value_of(record, 0, "tensor_pipe")));  // the simulated chip lacks it
  EXPECT_TRUE(record.repeatable);
}

TEST(Counters, ComeFromANewProfilerAfterAFault) {
  Counters counters = counters_with("");
  EvaluationRecord faulty = passed(), good = passed();
  counters.add(Candidate("faults"), runs(), &faulty);
  EXPECT_EQ(faulty.verdict, Verdict::kOk);
  EXPECT_THAT(faulty.values, IsEmpty());
  EXPECT_FALSE(faulty.repeatable);
  ASSERT_EQ(faulty.diagnostics.size(), 1u);
  EXPECT_THAT(faulty.diagnostics[0].text, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  counters.add(Candidate("good"), runs(), &good);
  EXPECT_THAT(good.values, Not(IsEmpty()));
  EXPECT_TRUE(good.repeatable);
}

TEST(Counters, SayHowToBePermittedWhenTheyAreRefused) {
  Counters counters = counters_with("refuses");
  EXPECT_THAT(counters.problem(), HasSubstr("cuptiRangeProfilerEnable"));
  EXPECT_THAT(counters.problem(), HasSubstr("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"));
  EXPECT_THAT(counters.problem(), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EvaluationRecord record = passed();
  counters.add(Candidate("good"), runs(), &record);
  EXPECT_EQ(record.verdict, Verdict::kOk);
  EXPECT_THAT(record.values, IsEmpty());
  EXPECT_TRUE(record.repeatable);
}

TEST(Counters, AreNotThereWithoutAProfiler) {
  Counters off{ProfilerStart()};
  EXPECT_EQ(off.problem(), "counters are off");
  ProfilerStart start;
  start.program = "/nonexistent/kernelrl-gpu-profiler";
  Counters missing(start);
  EXPECT_THAT(missing.problem(), Not(IsEmpty()));
}

}  // namespace
}  // namespace krl::testing

// Nsight Compute's ncu as the reader of counters: what it writes, measured on an H200
// (ncu_h200.csv: the first launch of five naive kernels), and how it is talked to, with programs in
// its place that replay that around a real runner on the simulated driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "plugins/backends/cuda/gpu/correctness.hpp"
#include "plugins/backends/cuda/gpu/counters.hpp"
#include "plugins/backends/cuda/gpu/ncu/ncu_metrics.hpp"
#include "plugins/backends/cuda/gpu/ncu/ncu_profiler.hpp"
#include "plugins/backends/cuda/gpu/ncu/ncu_search.hpp"
#include "plugins/files/file.hpp"
#include "tests/unit/backends/gpu/simulated_gpu.hpp"

namespace krl::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kMeasured = KERNELRL_SOURCE_DIR "/tests/unit/backends/gpu/ncu_h200.csv";

NcuReport measured() { return read_ncu_report(files::read_file_or_empty(kMeasured)); }

double value_of(const std::vector<gpu::Counter>& counters, std::string_view name) {
  for (const gpu::Counter& counter : counters) {
    if (counter.name == name) return counter.value;
  }
  return kUnknown;
}

// ---- what it writes

TEST(NcuReport, HasTheLaunchesOfAnH200) {
  const NcuReport report = measured();
  EXPECT_EQ(report.errors, "");
  ASSERT_EQ(report.launches.size(), 5u);
  EXPECT_EQ(report.launches[0].kernel, "kern(const float *, const float *, float *, int)");
  EXPECT_EQ(report.launches[0].metrics.size(), 17u);
  EXPECT_EQ(report.launches[0].metrics.at("smsp__thread_inst_executed.sum"), 20228);
  EXPECT_EQ(report.launches[0].metrics.at("lts__t_sector_hit_rate.pct"), 143.93);
  EXPECT_EQ(report.launches[4].metrics.at("gpu__time_duration.sum"), 74496);
}

TEST(NcuReport, LeavesOutWhatIsNoValue) {
  const NcuReport report = read_ncu_report(
      "\"ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\r\n"
      "\"0\",\"k<\"\"a,b\"\">(int)\",\"gone\",\"\",\"n/a\"\r\n"
      "\"0\",\"k\",\"infinite\",\"\",\"inf\"\r\n"
      "\"0\",\"k\",\"words\",\"\",\"12 apples\"\r\n"
      "\"0\",\"k\",\"cut off\r\n"
      "\"0\",\"k\",\"there\",\"byte\",\"1,234,567.5\"\r\n");
  ASSERT_EQ(report.launches.size(), 1u);
  EXPECT_EQ(report.launches[0].kernel, "k<\"a,b\">(int)");
  EXPECT_EQ(report.launches[0].metrics, (std::map<std::string, double>{{"there", 1234567.5}}));
}

TEST(NcuReport, IsEmptyForAnyOtherText) {
  for (const std::string& text :
       {std::string(), std::string("\""), std::string("\"ID\"\n\"0\"\n"), std::string(100, '\0'),
        std::string("\"ID\",\"Kernel Name\"\n\"0\",\"k\"\n"), std::string(1000, '"')}) {
    EXPECT_THAT(read_ncu_report(text).launches, IsEmpty());
  }
  EXPECT_EQ(read_ncu_report("==PROF== a\n==ERROR== b\n==WARNING== c\n==ERROR== d").errors, "b; d");
}

// The same file, cut off anywhere, or with any byte another.
TEST(NcuReport, IsReadWhateverHappenedToIt) {
  const std::string text = files::read_file_or_empty(kMeasured);
  for (std::size_t at = 0; at < text.size(); at += 31) {
    EXPECT_LE(read_ncu_report(std::string_view(text).substr(0, at)).launches.size(), 5u);
    std::string changed = text;
    changed[at] = at % 2 == 0 ? '"' : ',';
    EXPECT_LE(read_ncu_report(changed).launches.size(), 100u);
  }
}

// ---- what evaluations have of it

TEST(NcuMetrics, GiveTheCountersThatCuptiGave) {
  const std::vector<gpu::Counter> counters = counters_of_launches({measured().launches[0]});
  EXPECT_EQ(value_of(counters, "global_load_requests"), 64);
  EXPECT_EQ(value_of(counters, "global_load_sectors"), 252);
  EXPECT_EQ(value_of(counters, "global_store_requests"), 32);
  EXPECT_EQ(value_of(counters, "global_store_sectors"), 126);
  EXPECT_EQ(value_of(counters, "instructions"), 640);
  EXPECT_EQ(value_of(counters, "thread_instructions"), 20228);
  EXPECT_DOUBLE_EQ(value_of(counters, "sectors_per_request"), 3.9375);
  EXPECT_NEAR(value_of(counters, "warp_efficiency"), 0.987695, 1e-6);
  EXPECT_NEAR(value_of(counters, "achieved_occupancy"), 0.0621, 1e-9);
}

TEST(NcuMetrics, WeighTheRatesOfSeveralLaunches) {
  NcuLaunch first{"a", {}}, second{"b", {}};
  first.metrics = {{"sm__warps_active.avg.pct_of_peak_sustained_active", 10},
                   {"sm__cycles_active.sum", 300},
                   {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 80},
                   {"gpu__time_duration.sum", 1000},
                   {"l1tex__t_sectors.sum", 0},  // and so it has no hit rate
                   {"smsp__inst_executed.sum", 5}};
  second.metrics = {{"sm__warps_active.avg.pct_of_peak_sustained_active", 50},
                    {"sm__cycles_active.sum", 100},
                    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", 20},
                    {"gpu__time_duration.sum", 3000},
                    {"l1tex__t_sectors.sum", 8},
                    {"l1tex__t_sector_hit_rate.pct", 25},
                    {"smsp__inst_executed.sum", 7}};
  const std::vector<gpu::Counter> counters = counters_of_launches({first, second});
  EXPECT_DOUBLE_EQ(value_of(counters, "achieved_occupancy"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(counters, "dram_throughput"), 0.35);
  EXPECT_DOUBLE_EQ(value_of(counters, "l1_hit_rate"), 0.25);
  EXPECT_DOUBLE_EQ(value_of(counters, "instructions"), 12);
  EXPECT_TRUE(std::isnan(value_of(counters, "dram_bytes")));
}

TEST(NcuMetrics, NameTheThreeLargestStalls) {
  const auto metric = [](const std::string& reason) {
    return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
  };
  NcuLaunch launch{"k", {}};
  launch.metrics = {{metric("selected"), 1}, {metric("long_scoreboard"), 5},
                    {metric("wait"), 2},     {metric("barrier"), 1.5},
                    {metric("drain"), 0.5},  {metric("membar"), 0}};
  const std::vector<gpu::Counter> counters = counters_of_launches({launch});
  EXPECT_DOUBLE_EQ(value_of(counters, "stall_long_scoreboard"), 0.5);
  EXPECT_DOUBLE_EQ(value_of(counters, "stall_wait"), 0.2);
  EXPECT_DOUBLE_EQ(value_of(counters, "stall_barrier"), 0.15);
  for (const char* other : {"stall_drain", "stall_membar", "stall_selected"}) {
    EXPECT_TRUE(std::isnan(value_of(counters, other))) << other;
  }
}

// CUPTI's host half knows the metrics of every chip by the names that ncu has.
TEST(NcuMetrics, AreThoseOfTheChip) {
  const MemoryFile output = MemoryFile::create("krl-metrics");
  Command command;
  command.arguments = {std::string(kWorkers) + "kernelrl-gpu-profiler", "--lacks", "GH100"};
  for (const std::string& metric : ncu_metrics()) command.arguments.push_back(metric);
  command.arguments.emplace_back("no__such_metric.sum");
  command.descriptors = {{output.descriptor(), 1}, {output.descriptor(), 2}};
  const Ending ending = Subprocess(command).wait(std::chrono::seconds(60));
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(output.read(1 << 20), "no__such_metric.sum\n");
}

// ---- how it is talked to

// A program in ncu's place: `script` may use $log, $runner and $kernels.
class NcuConversation : public ::testing::Test {
 protected:
  // As ncu does it: the runner has its streams, the table comes when that has ended.
  static constexpr char kReplays[] =
      "\"$runner\" || exit\n"
      "rows='^==|^\"ID\"|^\"[01]\"'\n"
      "case $kernels in *krl_fill*) rows='^==|^\"ID\"|^\"0\"';; esac\n"
      "grep -E \"$rows\" $measured > \"$log\"\n";

  std::string stand_in(const std::string& script) {
    const fs::path program = folder_.path() / "ncu";
    std::ofstream(program) << "#!/bin/bash\nmeasured=" << kMeasured << "\n"
                           << "while (($# > 1)); do case $1 in\n"
                              "  --log-file) log=$2; shift 2;;\n"
                              "  --kernel-name) kernels=$2; shift 2;;\n"
                              "  *) shift;;\n"
                              "esac; done\n"
                              "runner=$1\n"
                           << script;
    fs::permissions(program, fs::perms::owner_all);
    return program.string();
  }

  NcuStart start_of(const std::string& script) {
    const GpuWorkers workers = simulated_workers();
    return {stand_in(script),
            workers.runner,
            workers.environment,
            {0, workers.trusted_code, workers.arena_bytes, {}},
            workers.run_limit};
  }

  static std::vector<gpu::Run> counted_runs(const GpuCandidate& candidate) {
    std::vector<gpu::Run> counted;
    for (const PlannedRun& run : runs()) {
      if (run.counted)
        counted.push_back({candidate.buffers(run.case_index).program, 0, drawn_inputs(run)});
    }
    return counted;
  }

  // What it says of a candidate; "" = it has its counters.
  static std::string complaint(NcuStart start, const std::string& kernel = "good") {
    const Candidate candidate(kernel);
    const GpuCandidate borrowed = candidate;
    const auto counters =
        NcuProfiler(std::move(start)).profile(borrowed.load(), counted_runs(borrowed));
    return counters ? "" : counters.error();
  }

  TemporaryFolder folder_{"kernelrl-ncu-test"};
};

TEST_F(NcuConversation, GivesTheCountersOfEachRun) {
  NcuProfiler profiler(start_of(kReplays));
  ASSERT_EQ(profiler.problem(), "");
  const Candidate candidate("good");
  const GpuCandidate borrowed = candidate;
  const auto counters = profiler.profile(borrowed.load(), counted_runs(borrowed));
  ASSERT_TRUE(counters) << counters.error();
  ASSERT_EQ(counters->size(), 2u);
  EXPECT_EQ(value_of((*counters)[0], "instructions"), 640);
  EXPECT_EQ(value_of((*counters)[1], "instructions"), 1102);
}

TEST_F(NcuConversation, IsAboutTheCandidatesKernelsAlone) {
  const std::string script =
      std::string("echo \"$kernels\" > ") + folder_.path().string() + "/kernels\n" + kReplays;
  EXPECT_EQ(complaint(start_of(script)), "");
  EXPECT_EQ(files::read_file_or_empty((folder_.path() / "kernels").string()), "regex:^(good)$\n");
}

TEST_F(NcuConversation, SaysWhatWentWrong) {
  EXPECT_THAT(complaint(start_of("\"$runner\"; exit 3")), HasSubstr("ended with code 3"));
  EXPECT_THAT(complaint(start_of("echo no room >&2; exit 1")), HasSubstr("no room"));
  EXPECT_THAT(complaint(start_of("\"$runner\"; echo garbage > \"$log\"")),
              HasSubstr("profiled 0 launches, not 2"));
  EXPECT_THAT(complaint(start_of("\"$runner\"; cp $measured \"$log\"")),
              HasSubstr("profiled 5 launches, not 2"));
  EXPECT_THAT(complaint(start_of("\"$runner\"")), HasSubstr("profiled 0 launches"));
  EXPECT_THAT(complaint(start_of("kill -KILL $$")), HasSubstr("signal 9"));
  EXPECT_THAT(complaint(start_of(kReplays), "faults"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  NcuStart missing = start_of(kReplays);
  missing.program = "/nonexistent/ncu";
  EXPECT_THAT(complaint(missing), HasSubstr("/nonexistent/ncu"));
}

TEST_F(NcuConversation, EndsWithTheLimitOfTime) {
  NcuStart start = start_of(kReplays);
  start.run_limit = std::chrono::milliseconds(20);
  EXPECT_THAT(complaint(start, "hangs"), HasSubstr("hangs"));
}

TEST_F(NcuConversation, SaysHowToBePermitted) {
  NcuProfiler profiler(start_of(
      "\"$runner\"\n"
      "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
      "Performance Counters on the target device 0.' > \"$log\"\nexit 1\n"));
  EXPECT_THAT(profiler.problem(), HasSubstr("ERR_NVGPUCTRPERM"));
  EXPECT_THAT(profiler.problem(), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_F(NcuConversation, LeavesNoFiles) {
  const std::string script =
      "touch $TMPDIR/lock $HOME/settings; echo $TMPDIR > " + folder_.path().string() + "/where\n";
  EXPECT_EQ(complaint(start_of(script + kReplays)), "");
  std::string where = files::read_file_or_empty((folder_.path() / "where").string());
  where.pop_back();
  EXPECT_THAT(where, HasSubstr("kernelrl-ncu-"));
  EXPECT_FALSE(fs::exists(where));
}

TEST_F(NcuConversation, AddsToAnEvaluation) {
  const NcuStart ncu = start_of(kReplays);
  ProfilerStart start;
  start.program = ncu.program;
  start.runner = ncu.runner;
  start.environment = ncu.environment;
  start.setup = ncu.setup;
  start.bandwidth = 1e12;
  Counters counters(start);
  ASSERT_EQ(counters.problem(), "");
  EvaluationRecord record;
  record.cases = {{}, {}, {}};
  record.cases[1].time_ns = 10;
  counters.add(Candidate("good"), runs(), &record);
  const auto value = [&](std::int32_t case_index, std::string_view name) {
    for (const krl::Value& v : record.values) {
      if (v.case_index == case_index && v.name == name) return v.value;
    }
    return kUnknown;
  };
  EXPECT_EQ(value(0, "dram_bytes"), 11008);
  EXPECT_EQ(value(1, "dram_bytes"), 6144);
  EXPECT_DOUBLE_EQ(value(1, "bandwidth_fraction"), 0.6144);
  EXPECT_TRUE(std::isnan(value(2, "dram_bytes")));
  EXPECT_TRUE(record.repeatable);
  counters.add(Candidate("faults"), runs(), &record);
  EXPECT_FALSE(record.repeatable);
  ASSERT_EQ(record.diagnostics.size(), 1u);
  EXPECT_THAT(record.diagnostics[0].text, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

// ---- where it is

TEST_F(NcuConversation, FindsTheFirstProgramOfThatName) {
  const std::string program = stand_in("");
  fs::create_directories(folder_.path() / "a" / "ncu");  // a folder is none
  EXPECT_EQ(find_ncu({folder_.path() / "a", folder_.path()}), program);
  fs::permissions(program, fs::perms::owner_read);
  try {
    find_ncu({folder_.path() / "a", folder_.path()});
    ADD_FAILURE() << "it cannot be started";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("no program ncu in"));
    EXPECT_THAT(failure.what(), HasSubstr("install NVIDIA Nsight Compute"));
    EXPECT_THAT(failure.what(), HasSubstr("\"auto\""));
  }
}

}  // namespace
}  // namespace krl::testing

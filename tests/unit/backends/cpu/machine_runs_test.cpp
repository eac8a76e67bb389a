#include "plugins/backends/cpu/plugin/machine_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/backends/cpu/plugin/result_checks.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace cpu;
using namespace evaluator;
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kSource =
    "// @launch k<<<1, 32>>>(a, b, out, n)\n"
    "__global__ void k(const float* a, const float* b, float* out, int n) {}\n";

// Two runs of vector_add's first case, by a machine that does what it is told.
class ForgingMachine : public ::testing::Test {
 protected:
  ForgingMachine() : task_(prepare_task(all_tasks().at("vector_add").definition_json)) {
    schedule_ = *read_schedule(scan_cuda_source(kSource), task_.definition,
                               std::span(task_.cases).first(1), {});
    const ResolvedCase& first = task_.cases.front();
    for (const RunOrder order : {RunOrder::kForward, RunOrder::kReversed}) {
      auto data = std::make_shared<CaseData>();
      for (const TensorDefinition& input : task_.definition.inputs) {
        data->inputs.emplace_back(static_cast<std::size_t>(first.find(input.name)->bytes()));
      }
      planned_.push_back({{0, 1, Distribution::kAsGiven, order, false}, data});
    }
    options_.launcher = KERNELRL_BINARY_DIR "/libexec/kernelrl/kernelrl-sandbox";
    options_.program = KERNELRL_BINARY_DIR "/tests/forging_machine";
    options_.time_limit = std::chrono::seconds(2);
  }

  // Empty: there is a result.
  std::string outcome(const std::string& what) {
    runs_.emplace(task_, schedule_, planned_, 1);
    if (runs_->execute(options_, {what, {"_Z1kPKfS0_Pfi"}}, {})) return "";
    return std::string(name_of(runs_->verdict())) + ": " + runs_->why();
  }
  std::string reported(const json& report) { return outcome("report " + report.dump()); }

  static json launch() {
    return {{"counters", cpu::Counters{}},
            {"grid", {1, 1, 1}},
            {"block", {32, 1, 1}},
            {"kernel", 0},
            {"shared_bytes", 0}};
  }
  static json right() {
    return {{"kernels", json::array()},
            {"runs", {{launch()}, {launch()}}},
            {"encounters", json::array()},
            {"unwritten", json::array()},
            {"unset", json::array()},
            {"work", 1},
            {"printed", ""}};
  }
  static json fault(std::uint32_t run, std::uint32_t launch, const std::string& message = "m") {
    return {{"kind", "trap"},     {"message", message}, {"line", 1},
            {"run", run},         {"launch", launch},   {"kernel", "_Z1kPKfS0_Pfi"},
            {"block", {0, 0, 0}}, {"thread", {0, 0, 0}}};
  }

  const PreparedTask task_;
  LaunchSchedule schedule_;
  std::vector<MachineRun> planned_;
  MachineOptions options_;
  std::optional<MachineRuns> runs_;
};

constexpr const char* kTwice = "runtime_fault: the process that runs kernels failed twice: ";

TEST_F(ForgingMachine, IsBelievedIfItSaysAllOfIt) {
  EXPECT_EQ(reported(right()), "");
  json stopped = right();
  stopped["runs"].erase(1);
  stopped["fault"] = fault(1, 0, "in _Z1kPKfS0_Pfi");
  EXPECT_EQ(reported(stopped), "");
  EXPECT_EQ(runs_->result().fault->message, "in k");
  EXPECT_EQ(runs_->result().fault->kernel, "k");
}

TEST_F(ForgingMachine, WarpsMeetInRunsThatEnded) {
  const auto met = [](std::uint32_t run, const std::string& place) -> json {
    return {{"run", run}, {"line", 3}, {"place", place}};
  };
  json report = right();
  report["encounters"] = {met(0, std::string(3000, 'x')), met(1, "_Z1kPKfS0_Pfi")};
  EXPECT_EQ(reported(report), "");
  EXPECT_LT(runs_->result().encounters[0].place.size(), 1010u);
  EXPECT_EQ(runs_->result().encounters[1].place, "k");
  report["encounters"] = json::array({met(2, "out[0]")});
  EXPECT_THAT(reported(report), HasSubstr("warps met in a run that did not end"));
  report["encounters"] = json::array_t(17, met(1, "out[0]"));
  EXPECT_THAT(reported(report), HasSubstr("more encounters than runs may have"));
}

TEST_F(ForgingMachine, OutputsThatWereNotWrittenAreOfTheJob) {
  const auto unwritten = [](std::uint32_t run, std::uint32_t buffer, std::uint64_t first,
                            std::uint64_t count) {
    json report = right();
    report["unwritten"] = {{{"run", run}, {"buffer", buffer}, {"first", first}, {"count", count}}};
    return report;
  };
  const auto& buffers = planned_[0].data->inputs;
  const auto output = static_cast<std::uint32_t>(buffers.size());
  EXPECT_EQ(reported(unwritten(1, output, 0, 1)), "");
  for (const json& wrong : {unwritten(2, output, 0, 1), unwritten(0, 0, 0, 1),
                            unwritten(0, 9, 0, 1), unwritten(0, output, 0, 1 << 30),
                            unwritten(0, output, 1 << 30, 1), unwritten(0, output, 0, 0)}) {
    EXPECT_THAT(reported(wrong), HasSubstr("elements that the outputs of no run have"));
  }
}

TEST_F(ForgingMachine, RunsThatAreMissingAreNotPassed) {
  json none = right();
  none["runs"] = json::array();
  EXPECT_EQ(reported(none), std::string(kTwice) + "its report: runs are missing, without a reason");
  json empty = right();
  empty["runs"][1] = json::array();
  EXPECT_THAT(reported(empty), HasSubstr("a run differs from the plan in its launches"));
  json more = right();
  more["runs"].push_back(json::array({launch()}));
  EXPECT_THAT(reported(more), HasSubstr("more runs than were planned"));
  json other = right();
  other["runs"][0][0]["grid"] = {2, 1, 1};
  EXPECT_THAT(reported(other), HasSubstr("a launch differs from the plan"));
}

TEST_F(ForgingMachine, NoIndexIsUsedThatThereIsNot) {
  for (const auto& [run, launch] : {std::pair(7u, 0u), {0u, 0u}, {2u, 0u}, {1u, 9u}, {~0u, ~0u}}) {
    json stopped = right();
    stopped["runs"].erase(1);
    stopped["fault"] = fault(run, launch);
    EXPECT_THAT(reported(stopped), HasSubstr("it ended in a")) << run << " " << launch;
    stopped.erase("fault");
    stopped["launch_error"] = {
        {"run", run}, {"launch", launch}, {"argument", 1 << 30}, {"message", "m"}};
    EXPECT_THAT(reported(stopped), HasSubstr("it ended in a")) << run << " " << launch;
  }
}

TEST_F(ForgingMachine, NonsenseIsTheCandidates) {
  json types = right();
  types["runs"] = "many";
  EXPECT_THAT(reported(types), HasSubstr("its report: [json.exception"));
  json negative = right();
  negative["work"] = "x";
  EXPECT_THAT(reported(negative), HasSubstr(kTwice));
  EXPECT_THAT(outcome("report {"), HasSubstr("not JSON"));
  EXPECT_THAT(outcome("nothing"), HasSubstr("not JSON"));
  EXPECT_THAT(outcome("report " + std::string(100'000, '[')), HasSubstr("not JSON"));
}

TEST_F(ForgingMachine, AnEndIsTheCandidatesToo) {
  EXPECT_EQ(outcome("exit 3"), std::string(kTwice) + "it ended with code 3");
  EXPECT_THAT(outcome("exit 2"), HasSubstr(kTwice));
  EXPECT_THAT(outcome("abort"), HasSubstr("it was killed by signal 6"));
  EXPECT_EQ(outcome("loop"), "timeout: the kernel ran for more than 2 s");
}

TEST_F(ForgingMachine, WhatOthersEndIsTriedAgain) {
  EXPECT_THROW(outcome("exit 113"), Failure) << "the sandbox did not start it";
}

TEST_F(ForgingMachine, SleepingCostsSeconds) {
  options_.time_limit = std::chrono::minutes(10);
  EXPECT_EQ(outcome("sleep"), "timeout: the process that runs kernels was idle and was killed");
}

TEST_F(ForgingMachine, TheArenaStays) {
  EXPECT_THAT(outcome("shrink"), HasSubstr("not JSON"));
  EXPECT_EQ(runs_->tensor(1, 0).back(), std::byte{0}) << "still there";
}

TEST_F(ForgingMachine, LongMessagesAreCut) {
  json stopped = right();
  stopped["runs"].erase(1);
  stopped["fault"] = fault(1, 0, std::string(1 << 20, 'x'));
  EXPECT_EQ(reported(stopped), "");
  EXPECT_LT(runs_->result().fault->message.size(), 2000u);
}

}  // namespace
}  // namespace krl::testing

#include "core/episode/feedback.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Feedback, ShowsTheFirstErrorsWithTheirLinesOnce) {
  Evaluation e;
  e.verdict = Verdict::kCompileError;
  e.why = "2 errors";
  for (int i = 0; i < 3; ++i)
    e.diagnostics.push_back({KRL_SEVERITY_ERROR, 2, 3, "", "'z' was not declared"});
  e.diagnostics.push_back({KRL_SEVERITY_WARNING, 1, 1, "", "never shown"});
  const Candidate c{"first line\n  y = z;\n", "", Format::kExact};
  EXPECT_EQ(describe_result(c, e),
            "compile_error: 2 errors\nline 2:3: 'z' was not declared\n    y = z;");
  EXPECT_EQ(describe_briefly(e), "line 2: 'z' was not declared");
}

TEST(Feedback, ShowsTheFailedCase) {
  Evaluation e;
  e.verdict = Verdict::kWrongResult;
  e.cases.resize(2);
  e.cases[1].label = "n=3";
  e.cases[1].verdict = Verdict::kWrongResult;
  e.cases[1].detail = "y[2] is 0, expected 1";
  e.cases[1].max_abs_error = 1;
  EXPECT_EQ(describe_result({}, e),
            "wrong_result\ncase n=3: y[2] is 0, expected 1; largest error 1");
}

TEST(Feedback, AdvisesAboutWhatIsWorst) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  e.cases.resize(1);
  e.cases[0].label = "n=3";
  e.cases[0].time_ns = 2500;
  e.cases[0].estimated = true;
  e.cases[0].speedup = e.cases[0].speedup_low = e.cases[0].speedup_high = 1.25;
  e.values = {{0, "sectors_per_request", "", 32}, {0, "shuffles", "", 5}};
  EXPECT_EQ(
      describe_result({}, e),
      "ok\ncase n=3: 2.5 us (estimated), 1.25 times the baseline\n32.0 sectors per global request\n"
      "Advice: accesses are not coalesced; let neighbouring threads read neighbouring addresses.");
  EXPECT_EQ(describe_briefly(e), "1.25 times the baseline");
  EXPECT_EQ(describe_strategies(e), "warp shuffles");
}

TEST(Feedback, SaysHowAKernelWithoutADirectiveWasLaunched) {
  Evaluation e;
  e.verdict = Verdict::kWrongResult;
  const auto says = [&](const char* source) {
    return describe_result({source, "", Format::kExact}, e).find("it has no // @launch") !=
           std::string::npos;
  };
  EXPECT_TRUE(says("__global__ void k() {}"));
  EXPECT_FALSE(says("// @launch k<<<1, 1>>>()\n__global__ void k() {}"));
  e.verdict = Verdict::kRejected;
  EXPECT_FALSE(says("__global__ void k() {}")) << "it was not launched";
}

TEST(Feedback, JudgesCoalescingByTheWidthOfTheAccess) {
  const auto advice = [](std::vector<Value> values) {
    Evaluation e;
    e.verdict = Verdict::kOk;
    e.values = std::move(values);
    return describe_result({}, e);
  };
  using ::testing::HasSubstr, ::testing::Not;
  constexpr const char* kAdvice = "not coalesced";
  const Value float4{0, "sectors_per_request", "", 16};
  EXPECT_THAT(advice({float4, {0, "coalescing", "", 1}}), Not(HasSubstr(kAdvice)));
  EXPECT_THAT(advice({float4, {0, "coalescing", "", 0.4}}), HasSubstr(kAdvice));
  EXPECT_THAT(advice({{0, "sectors_per_request", "", 20}}), HasSubstr(kAdvice));
  EXPECT_THAT(advice({{0, "sectors_per_request", "", 20}, {0, "vector_accesses", "", 2}}),
              Not(HasSubstr(kAdvice)))
      << "a GPU's counters do not know the width";
  EXPECT_THAT(advice({{0, "sectors_per_request", "", 8}}), Not(HasSubstr(kAdvice))) << "doubles";
}

TEST(Feedback, SaysOfEachCaseWhatThereIsToGain) {
  Evaluation e;
  e.verdict = Verdict::kOk;
  e.cases.resize(2);
  for (std::size_t i : {0, 1}) {
    e.cases[i].label = fmt::format("n={}", i);
    e.cases[i].time_ns = 1000;
    e.cases[i].speedup = e.cases[i].speedup_low = e.cases[i].speedup_high = 3;
  }
  e.values = {{-1, "roofline", "", 0.9},
              {0, "roofline", "", 0.25},
              {0, "reference_speedup", "", 1.5},
              {1, "roofline", "", 0.5}};
  EXPECT_EQ(
      describe_result({}, e),
      "ok\ncase n=0: 1.0 us, 3.00 times the baseline, 1.50 times PyTorch, 0.25 of the roofline\n"
      "case n=1: 1.0 us, 3.00 times the baseline, 0.50 of the roofline");
  e.values = {{0, "roofline", "", 0.25}, {0, "vector_accesses", "", 0}};
  EXPECT_EQ(
      describe_prospects(e),
      ", 0.25 of the roofline. Advice: try wider loads (float4), or more work for each thread.");
}

TEST(Feedback, IsShortWhateverTheEvaluationSays) {
  Evaluation e;
  e.verdict = Verdict::kWrongResult;
  e.why = std::string(100'000, 'w');
  e.cases.resize(1);
  e.cases[0].verdict = Verdict::kWrongResult;
  for (int i = 0; i < 50'000; ++i) e.cases[0].detail += "é";
  EXPECT_LE(describe_result({}, e).size(), 1210U);
  EXPECT_LE(describe_briefly(e).size(), 210U);
}

}  // namespace
}  // namespace krl::core

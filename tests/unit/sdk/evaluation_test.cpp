// An evaluation as a value, at the boundary and as JSON.
#include <gtest/gtest.h>
#include <kernelrl/evaluation.hpp>
#include <kernelrl/evaluation_json.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace krl {
namespace {

Case timed(double median, double low) {
  Case c;
  c.label = "n=1024";
  c.speedup = median, c.speedup_low = low;
  return c;
}

Case checked(Verdict verdict, CaseKind kind = CaseKind::kShown) {
  Case c;
  c.verdict = verdict, c.kind = kind;
  return c;
}

Evaluation example() {
  Evaluation e;
  e.verdict = Verdict::kWrongResult;
  e.contract = Contract::kHost;
  e.why = "n=7: y[0] is 1";
  e.backend = "cpu";
  e.diagnostics = {{KRL_SEVERITY_WARNING, 3, 4, "-Wunused", "unused variable"}};
  e.kernels.emplace_back().shared_bytes = 128;
  e.cases = {timed(9, 2), checked(Verdict::kWrongResult, CaseKind::kFresh)};
  e.cases[0].samples_ns = {1.5, 2.5};
  e.cases[1].max_abs_error = INFINITY;
  e.values = {{0, "dram_bytes", "B", 4}, {1, "dram_bytes", "B", kUnknown}};
  return e;
}

// The size of a struct that has the fields, in their order, and nothing else.
template <class T>
std::size_t size_of_fields() {
  std::size_t end = 0, alignment = 1;
  T::each_field([&](const char*, auto member, auto) {
    using Member = std::remove_reference_t<decltype(std::declval<T&>().*member)>;
    end = (end + alignof(Member) - 1) / alignof(Member) * alignof(Member) + sizeof(Member);
    alignment = std::max(alignment, alignof(Member));
  });
  return (end + alignment - 1) / alignment * alignment;
}

template <class T, class C>
std::size_t size_at_boundary() {
  std::size_t size = sizeof(C::struct_size);
  T::each_field(
      [&](const char*, auto, auto member) { size += sizeof(std::declval<C&>().*member); });
  return size;
}

TEST(Evaluation, ListsEveryMember) {
  EXPECT_EQ(size_of_fields<Diagnostic>(), sizeof(Diagnostic));
  EXPECT_EQ(size_of_fields<Kernel>(), sizeof(Kernel));
  EXPECT_EQ(size_of_fields<Case>(), sizeof(Case));
  EXPECT_EQ(size_of_fields<Value>(), sizeof(Value));
}

TEST(Evaluation, ListsEveryMemberOfTheBoundary) {
  EXPECT_EQ((size_at_boundary<Diagnostic, krl_diagnostic>()), sizeof(krl_diagnostic));
  EXPECT_EQ((size_at_boundary<Kernel, krl_kernel>()) + sizeof(krl_kernel::flags),
            sizeof(krl_kernel));
  EXPECT_EQ((size_at_boundary<Case, krl_case>()), sizeof(krl_case));
  EXPECT_EQ((size_at_boundary<Value, krl_value>()), sizeof(krl_value));
}

TEST(Evaluation, CrossesTheBoundary) {
  Evaluation there = example();
  const EvaluationView view(there);
  const Evaluation back = from_c(*view.c());
  there.contract = Contract::kDevice;  // the host's alone
  EXPECT_EQ(to_json_text(back), to_json_text(there));
}

TEST(Evaluation, ReadsNothingBeyondTheEndOfAnOlderStruct) {
  krl_case older = to_c(timed(3, 2));
  older.struct_size = offsetof(krl_case, speedup_low);
  const Case c = from_c(older);
  EXPECT_EQ(c.label, "n=1024");
  EXPECT_EQ(c.speedup, 3);
  EXPECT_TRUE(std::isnan(c.speedup_low));
  EXPECT_EQ(c.detail, "");
}

TEST(Evaluation, SurvivesJson) {
  const std::string text = to_json_text(example());
  const auto back = parse_evaluation(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(to_json_text(*back), text);
  EXPECT_TRUE(std::isnan(back->kernels[0].occupancy));
  EXPECT_TRUE(std::isinf(back->cases[1].max_abs_error));
  EXPECT_EQ(back->cases[1].kind, CaseKind::kFresh);
  EXPECT_EQ(back->contract, Contract::kHost);
  EXPECT_EQ(back->diagnostics, example().diagnostics);
}

TEST(Evaluation, TextsThatAreNotUtf8BecomeJson) {
  Evaluation e = example();
  e.why = "\xff";
  EXPECT_EQ(parse_evaluation(to_json_text(e))->why, "\xef\xbf\xbd");
}

TEST(Evaluation, RefusesWhatIsNotAnEvaluation) {
  EXPECT_FALSE(parse_evaluation("nonsense"));
  EXPECT_FALSE(parse_evaluation(R"({"verdict": "fine"})"));
  EXPECT_FALSE(parse_evaluation(R"({"cases": [{"verdict": 4}]})"));
}

TEST(Evaluation, NamesGoBothWays) {
  for (std::uint32_t v = 0; v <= KRL_VERDICT_INFRA_ERROR; ++v) {
    const auto verdict = static_cast<Verdict>(v);
    EXPECT_EQ(named<Verdict>(name_of(verdict)), verdict);
  }
  EXPECT_FALSE(named<Verdict>("fine"));
  EXPECT_EQ(name_of(static_cast<Verdict>(4711)), "unknown");
  EXPECT_EQ(name_of(CaseKind::kHoldout), "holdout");
}

TEST(Evaluation, PassRateLeavesHoldoutsAside) {
  Evaluation e;
  EXPECT_EQ(e.pass_rate(), 0);
  e.cases = {checked(Verdict::kOk), checked(Verdict::kWrongResult),
             checked(Verdict::kWrongResult, CaseKind::kHoldout)};
  EXPECT_EQ(e.pass_rate(), 0.5);
}

TEST(Evaluation, PassRateCountsFreshShapes) {
  Evaluation e;
  e.cases = {checked(Verdict::kOk), checked(Verdict::kWrongResult, CaseKind::kFresh)};
  EXPECT_EQ(e.pass_rate(), 0.5);
}

TEST(Evaluation, SpeedupIsTheGeometricMeanOfTheLowerEnds) {
  Evaluation e;
  EXPECT_TRUE(std::isnan(e.speedup()));
  e.cases = {timed(9, 2), timed(9, 8), checked(Verdict::kOk)};
  EXPECT_DOUBLE_EQ(e.speedup(), 4);
  e.cases[1].kind = CaseKind::kHoldout;
  EXPECT_DOUBLE_EQ(e.speedup(), 2);
}

TEST(Evaluation, CompiledFollowsTheVerdict) {
  Evaluation e;
  for (const auto& [verdict, compiled] :
       {std::pair(Verdict::kOk, true), std::pair(Verdict::kLaunchError, true),
        std::pair(Verdict::kCompileError, false), std::pair(Verdict::kRejected, false),
        std::pair(Verdict::kFormatError, false), std::pair(Verdict::kInfraError, false)}) {
    e.verdict = verdict;
    EXPECT_EQ(e.compiled(), compiled) << name_of(verdict);
  }
}

TEST(Evaluation, FiguresOfTheNeediestKernel) {
  Evaluation e;
  EXPECT_EQ(e.max_registers(), -1);
  EXPECT_TRUE(std::isnan(e.min_occupancy()));
  e.kernels.resize(3);
  e.kernels[0].registers = 32, e.kernels[0].shared_bytes = 1024, e.kernels[0].occupancy = 0.75;
  e.kernels[1].registers = 64, e.kernels[1].shared_bytes = 512;
  EXPECT_EQ(e.max_registers(), 64);
  EXPECT_EQ(e.max_shared_bytes(), 1024);
  EXPECT_EQ(e.max_spill_bytes(), -1);
  EXPECT_EQ(e.min_occupancy(), 0.75);
}

TEST(Evaluation, ValuesAreFoundByNameAndAveragedOverCases) {
  Evaluation e;
  e.values = {{0, "shuffles", "", 4}, {1, "shuffles", "", 8}, {-1, "barriers", "", 3}};
  EXPECT_EQ(e.value("shuffles"), 6);
  EXPECT_EQ(e.value("barriers"), 3);
  EXPECT_EQ(e.value("atomics"), std::nullopt);
}

}  // namespace
}  // namespace krl

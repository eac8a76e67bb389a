// The checks of a task on `cpu`: what is refused, and at which line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "plugins/backends/evaluator/check/case_data.hpp"
#include "tests/unit/backends/altered_tasks.hpp"
#include "tests/unit/backends/evaluator/cpu_fixture.hpp"

namespace krl::testing {
using namespace evaluator;
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// y = a + b for n = 1003 and 16387.
nlohmann::json definition() {
  return with_origin(nlohmann::json::parse(all_tasks().at("vector_add").definition_json));
}

nlohmann::json with(const std::string& key, nlohmann::json value) {
  return testing::with(definition(), key, std::move(value));
}

nlohmann::json returning(const std::string& text) {
  return testing::returning(definition(), "a, b", text);
}

nlohmann::json returning_two(const std::string& text, const std::string& dtype) {
  return testing::returning_two(definition(), "a, b", text, dtype);
}

template <class Call>
std::string refusal_by(const Call& call) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), KRL_INVALID_ARGUMENT);
    return failure.what();
  }
  return "";
}

// Empty: the task is accepted.
std::string refusal(const nlohmann::json& task, const Table& options = {{"cache", "off"}}) {
  const CpuInstance backend(options);
  return refusal_by([&] { backend.prepare({task["id"], task.dump()}); });
}

// ---- the naive kernel

TEST(PreparedTaskTest, RefusesANaiveKernelThatIsWrong) {
  EXPECT_THAT(refusal(with("naive", R"(// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] - b[i];
}
)")),
              StartsWith("t.toml:20:1: the naive kernel fails: wrong_result: n=1003: out: "));
}

TEST(PreparedTaskTest, RefusesANaiveKernelThatIsRightAtTheCasesOnly) {
  EXPECT_THAT(refusal(with("naive", R"(// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool known = n == 1003 || n == 16387 || n == 4099;
  if (i < n) out[i] = known ? a[i] + b[i] : a[i];
}
)")),
              AllOf(StartsWith("t.toml:20:1: the naive kernel fails: wrong_result: n="),
                    ContainsRegex(" \\(fresh\\): (inputs [^:]*: )?out: ")));
}

// ---- the reference

TEST(PreparedTaskTest, RefusesAReferenceThatFailsAtAFreshShape) {
  nlohmann::json task = returning("a + b");
  task["reference"] = R"(def run(a, b):
    assert a.size(0) <= 16387, "too long"
    return a + b
)";
  EXPECT_THAT(refusal(task), AllOf(StartsWith("t.toml:11:"), HasSubstr(": the reference, n="),
                                   HasSubstr("too long")));
}

TEST(PreparedTaskTest, RefusesAReferenceThatIsNotFiniteAnywhereAtASize) {
  const auto only_at = [](const std::string& size) {
    return returning("a + b if a.size(0) != " + size + " else (a + b) * float('nan')");
  };
  for (const std::string size : {"1003", "4099", "1"}) {  // shown, hold-out, fresh
    EXPECT_THAT(refusal(only_at(size)), StartsWith("t.toml:10:1: the reference, n=" + size +
                                                   ": the output 'out' is not finite anywhere: "));
  }
  EXPECT_THAT(refusal(returning_two("a + b, (a - a) / 0.0", "float32")),
              StartsWith("t.toml:10:1: the reference, n=1003: the output 'z' is not finite"));
}

// Of some elements, of all where there are few, or of inputs that are multiplied by 100.
TEST(PreparedTaskTest, AcceptsReferencesThatAreNotFiniteInPlaces) {
  for (const char* reference : {"torch.where(a > 0, b, torch.full_like(b, -float('inf')))",
                                "torch.sqrt(a) + b", "torch.where(a.abs() > 30, b / 0.0, a + b)"}) {
    EXPECT_EQ(refusal(returning(reference)), "") << reference;
  }
}

TEST(PreparedTaskTest, KnowsTheNamesOfWholeTypesAndRefusesThoseOfFloatingOnes) {
  EXPECT_EQ(refusal(returning("a + (b * 4).to(torch.int32).to(a.dtype) / 4.0 * 0.0 + b")), "");
  EXPECT_THAT(
      refusal(returning("(a + b).to(torch.float32)")),
      AllOf(StartsWith("t.toml:1"), HasSubstr("torch.float32 in the reference: use the type")));
}

TEST(PreparedTaskTest, RefusesReferencesThatDrawNumbers) {
  for (const char* reference :
       {"a + torch.rand_like(b)", "a + b * torch.bernoulli(torch.full_like(b, 0.5))",
        "torch.dropout(a + b, 0.5, True)", "(a + b).uniform_()",
        "a + b if a.size(0) > 0 else a + torch.randn_like(b)"}) {
    EXPECT_THAT(refusal(returning(reference)), HasSubstr("the reference draws random numbers"))
        << reference;
  }
  EXPECT_EQ(refusal(returning("torch.dropout(a + b, 0.5, False)")), "");
}

// ---- trivial outputs

// Values times 100 would refuse zeros: those as given have to.
TEST(PreparedTaskTest, RefusesAToleranceThatZerosPass) {
  for (const nlohmann::json& tolerance :
       {nlohmann::json{{"rtol", 0}, {"atol", 20}}, nlohmann::json{{"rtol", 1.5}, {"atol", 0}}}) {
    EXPECT_THAT(
        refusal(with("tolerance", tolerance)),
        StartsWith("t.toml:30:13: at n=1003, an output 'out' that is all zero is within the "
                   "tolerance: "));
  }
}

TEST(PreparedTaskTest, RefusesAToleranceThatZerosPassAtOneSize) {
  const auto small_where = [](const std::string& condition) {
    return returning("(a + b) * (1e-7 if " + condition + " else 1.0)");
  };
  EXPECT_THAT(refusal(small_where("a.size(0) == 4099")), StartsWith("t.toml:30:13: at n=4099, "));
  EXPECT_THAT(refusal(small_where("a.size(0) > 16387")), StartsWith("t.toml:30:13: at n="));
  nlohmann::json by_default = small_where("a.size(0) == 4099");
  by_default.erase("tolerance");
  by_default["origin"]["positions"].erase("tolerance");
  EXPECT_THAT(refusal(by_default), StartsWith("t.toml:10:1: at n=4099, "));
}

TEST(PreparedTaskTest, RefusesAnOutputThatZerosPassBesideAnother) {
  EXPECT_THAT(refusal(returning_two("a + b, 1e-7 * a", "float32")),
              StartsWith("t.toml:30:13: at n=1003, an output 'z' that is all zero is within"));
  for (const char* dtype : {"int32", "float32"}) {
    const std::string zeros = dtype == std::string("int32") ? "(0 * a).int()" : "0 * a";
    EXPECT_THAT(refusal(returning_two("a + b, " + zeros, dtype)),
                StartsWith("t.toml:30:13: an output 'z' that is all zero passes all checks; "));
  }
}

// Of few elements, and of a size at which there is nothing to compute.
TEST(PreparedTaskTest, AcceptsOutputsThatAreZeroAtTimes) {
  EXPECT_EQ(refusal(returning("torch.relu(a) * (b > 0)")), "");
  EXPECT_EQ(refusal(returning("a - a.mean()")), "");
  EXPECT_EQ(refusal(returning_two("a + b, (a > 1).int()", "int32")), "");
  EXPECT_EQ(refusal(returning_two("a + b, a > 1", "bool")), "");
}

// ---- memory

// At once: not after it has filled gigabytes.
TEST(PreparedTaskTest, RefusesCasesThatTakeTooMuch) {
  const nlohmann::json large = {{{"n", 2147483647}}};
  const struct {
    const char *key, *place, *most;
  } kLists[] = {
      {"cases", "50:14", "2048"}, {"real", "60:14", "8192"}, {"holdout", "70:14", "2048"}};
  for (const auto& [key, place, most] : kLists) {
    nlohmann::json task = with(key, large);
    task.erase("ranges");
    EXPECT_EQ(refusal_by([&] { prepare_task(task.dump(), Sizes::kReal); }),
              "t.toml:" + std::string(place) + ": the case n=2147483647 has tensors of more than " +
                  most + " MiB; make it smaller");
  }
}

TEST(PreparedTaskTest, RefusesCasesWhoseRunsTakeTooMuchTogether) {
  nlohmann::json task = with("cases", {{{"n", 1003}}, {{"n", 90'000'000}}});
  task.erase("ranges");
  EXPECT_THAT(refusal(task), AllOf(StartsWith("t.toml:50:28: the cases of an evaluation take "),
                                   HasSubstr("; make this one, the largest, smaller")));
}

// Before anything is filled with them.
TEST(PreparedTaskTest, RefusesRangesWhosePoolTakesTooMuch) {
  EXPECT_THAT(
      refusal(with("cases", {{{"n", 20'000'000}}}), {{"cache", "off"}, {"runs_per_case", 1}}),
      StartsWith("t.toml:40:13: the pool of shapes that the ranges give and the cases take "));
}

}  // namespace
}  // namespace krl::testing

#include <gtest/gtest.h>

#include <algorithm>

#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

// What becomes of a source by the changes of a kind.
std::vector<std::string> results_of(const std::string& source, std::string_view kind) {
  std::vector<std::string> results;
  for (const Change& change : changes_of(CodeText(source))) {
    if (change.kind == kind) results.push_back(changed(source, change));
  }
  return results;
}

bool gives(const std::string& source, std::string_view kind, const std::string& result) {
  const auto results = results_of(source, kind);
  return std::find(results.begin(), results.end(), result) != results.end();
}

TEST(Changes, ShiftBounds) {
  EXPECT_TRUE(gives("if (i < n) f();", "bound_off_by_one", "if (i <= n) f();"));
  EXPECT_TRUE(gives("if (i < n) f();", "bound_short", "if (i + 1 < n) f();"));
  EXPECT_TRUE(gives("if (i < n) f();", "comparison_flipped", "if (i >= n) f();"));
}

TEST(Changes, DecideConditions) {
  EXPECT_TRUE(gives("if (i < n) f();", "guard_dropped", "if (true) f();"));
  EXPECT_TRUE(gives("if (i < n) f();", "branch_dropped", "if (false) f();"));
  EXPECT_TRUE(gives("if (a && g(b, c) && d) f();", "condition_dropped", "if (a  && d) f();"));
  EXPECT_TRUE(gives("if (a && g(b, c)) f();", "condition_dropped", "if (a ) f();"));
  EXPECT_TRUE(gives("x = c ? f(a) : b;", "choice_swapped", "x = c ? b : f(a);"));
}

TEST(Changes, DropTermsAndFactors) {
  EXPECT_TRUE(gives("y = expf(x[j] - m);", "term_dropped", "y = expf(x[j] );"));
  EXPECT_TRUE(gives("i = blockIdx.x * 256 + t;", "factor_dropped", "i =  256 + t;"));
  EXPECT_TRUE(gives("i = blockIdx.x * 256 + t;", "operator_swapped", "i = blockIdx.x * 256 - t;"));
  EXPECT_TRUE(gives("i = t & 31;", "mask_dropped", "i = t ;"));
}

TEST(Changes, ChangeNumbers) {
  EXPECT_TRUE(gives("n = 32u;", "constant_minus_one", "n = 31u;"));
  EXPECT_TRUE(gives("n = 0xff;", "constant_plus_one", "n = 256;"));
  EXPECT_TRUE(gives("y = rsqrtf(v + 1e-5f);", "epsilon_dropped", "y = rsqrtf(v + 0.0f);"));
  EXPECT_TRUE(
      gives("y = rsqrtf(v + 1e-5f);", "epsilon_scaled", "y = rsqrtf(v + (1e-5f * 100.0f));"));
  EXPECT_TRUE(gives("float m = -INFINITY;", "start_value", "float m = -0.0f;"));
  EXPECT_TRUE(gives("float s = 0.0f;", "start_value", "float s = 1e-3f;"));
}

TEST(Changes, LeaveOutInitialValues) {
  EXPECT_TRUE(gives("{ float s = 0.0f; }", "initial_value_dropped", "{ float s ; }"));
  EXPECT_TRUE(gives("{ float s[4] = {}; }", "initial_value_dropped", "{ float s[4] ; }"));
  EXPECT_TRUE(gives("{ x; sum[t] = 0; }", "statement_dropped", "{ x; ; }"));
}

TEST(Changes, DropMoveAndWeakenBarriers) {
  const std::string source = "{ a = 1; __syncthreads(); b = a; }";
  EXPECT_TRUE(gives(source, "barrier_dropped", "{ a = 1; ; b = a; }"));
  EXPECT_TRUE(gives(source, "barrier_moved", "{ a = 1; b = a; __syncthreads(); }"));
  EXPECT_TRUE(gives(source, "barrier_moved", "{ __syncthreads(); a = 1; b = a; }"));
  EXPECT_TRUE(gives(source, "barrier_weakened", "{ a = 1; __syncwarp(); b = a; }"));
  EXPECT_TRUE(gives("{ f(); __threadfence(); }", "fence_dropped", "{ f(); ; }"));
  EXPECT_TRUE(
      gives("{ f(); __threadfence(); }", "fence_weakened", "{ f(); __threadfence_block(); }"));
}

TEST(Changes, NarrowTypes) {
  EXPECT_TRUE(gives("{ int i = 0; }", "integer_to_16_bits", "{ short i = 0; }"));
  EXPECT_TRUE(gives("{ size_t i = 0; }", "integer_to_32_bits", "{ int i = 0; }"));
  EXPECT_TRUE(gives("{ double s = 0; }", "double_to_float", "{ float s = 0; }"));
  EXPECT_TRUE(gives("{ float s = a + b; }", "float_to_10_bits",
                    "{ float s = __uint_as_float(__float_as_uint(a + b) & 0xffffe000u); }"));
  EXPECT_TRUE(results_of("void k(int n) {}", "integer_to_16_bits").empty());
}

TEST(Changes, EndLoopsEarly) {
  const std::string source = "for (int i = 0; i < n; i++) { f(i); }";
  EXPECT_TRUE(gives(source, "loop_step", "for (int i = 0; i < n; i += 2) { f(i); }"));
  EXPECT_TRUE(gives(source, "loop_ends_early", "for (int i = 0; i < n; i++) { f(i); break; }"));
  EXPECT_TRUE(gives(source, "loop_capped", "for (int i = 0; i < n && i < 256; i++) { f(i); }"));
  EXPECT_TRUE(gives(source, "loop_begins_late", "for (int i = 1 + 0; i < n; i++) { f(i); }"));
}

TEST(Changes, SwapNamesThatFit) {
  const std::string head = "__global__ void k(const float* a, const float* b, int rows, int cols) ";
  EXPECT_TRUE(gives(head + "{ f(rows); }", "size_swapped", head + "{ f(cols); }"));
  EXPECT_TRUE(gives(head + "{ f(a); }", "input_swapped", head + "{ f(b); }"));
  EXPECT_TRUE(gives("{ i = threadIdx.x; }", "axis_swapped", "{ i = threadIdx.y; }"));
  EXPECT_TRUE(gives("{ y = x[i]; }", "index_shifted", "{ y = x[(i) + 1]; }"));
}

TEST(Changes, ReplaceCalls) {
  EXPECT_TRUE(gives("m = fmaxf(m, v[0]);", "minimum_for_maximum", "m = fminf(m, v[0]);"));
  EXPECT_TRUE(gives("m = fmaxf(m, v[0]);", "call_dropped", "m = (v[0]);"));
  EXPECT_TRUE(gives("{ ; atomicAdd(&s[i], x); }", "atomicity_dropped", "{ ; *(&s[i]) += x; }"));
}

TEST(Changes, ShortenLaunches) {
  const std::string source = "// @launch k<<<ceil_div(n, 256), 256>>>(x)\nvoid k();";
  EXPECT_TRUE(
      gives(source, "last_tile_dropped", "// @launch k<<<((n) / ( 256)), 256>>>(x)\nvoid k();"));
  EXPECT_TRUE(
      gives(source, "launch_size", "// @launch k<<<ceil_div(n, 256), 128>>>(x)\nvoid k();"));
  EXPECT_TRUE(results_of(source, "launch_dropped").empty());
}

TEST(Changes, AreAllDifferentAndNoneChangesNothing) {
  const std::string source = "{ for (int i = 0; i < 4 && i < n; ++i) s += x[i] * 2.0f; }";
  std::vector<std::string> all = {source};
  for (const Change& change : changes_of(CodeText(source))) all.push_back(changed(source, change));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end());
  EXPECT_GT(all.size(), 30u);
}

TEST(Changes, SurviveAnyText) {
  const std::string source =
      "// @launch k<<<ceil_div(n, 256), 256>>>(x)\n__global__ void k(float* x, int n) {\n"
      "  for (int i = 0; i < n; i += 2) x[i] = c ? fmaxf(x[i], 0.0f) : -x[i] * 2;\n}\n";
  for (std::size_t begin = 0; begin < source.size(); ++begin) {
    for (const std::size_t length : {1, 7, 40}) {
      std::string text = source;
      changes_of(CodeText(text.erase(begin, length)));
    }
  }
}

}  // namespace
}  // namespace krl::service

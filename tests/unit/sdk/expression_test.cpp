#include <gtest/gtest.h>
#include <kernelrl/expression.hpp>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace krl {
namespace {

const IntegerNames kSizes = {{"n", 1000}, {"cols", 7}, {"x.size", 12}};
const RealNames kMetrics = {
    {"kernel/pass_rate", 0.9}, {"iteration", 7}, {"cols", 16}, {"score", 0.5}};

// The value, or "offset: message".
std::string integer(const std::string& text) {
  const auto expression = Expression::parse(text);
  if (!expression)
    return std::to_string(expression.error().offset) + ": " + expression.error().message;
  const auto value = expression->integer(kSizes);
  if (!value) return std::to_string(value.error().offset) + ": " + value.error().message;
  return std::to_string(*value);
}

std::string real(const std::string& text) {
  const auto expression = Expression::parse(text, NameStyle::kMetrics);
  if (!expression)
    return std::to_string(expression.error().offset) + ": " + expression.error().message;
  const auto value = expression->real(kMetrics);
  if (!value) return std::to_string(value.error().offset) + ": " + value.error().message;
  return std::to_string(*value);
}

using Expectations = std::vector<std::pair<std::string, std::string>>;

TEST(Expression, IntegersFollowC) {
  const Expectations expectations = {
      {"1 + 2 * 3", "7"},
      {"(1 + 2) * 3", "9"},
      {"7 - 3 - 2", "2"},
      {"-7 / 2", "-3"},
      {"-7 % 3", "-1"},
      {"- -3", "3"},
      {"+n", "1000"},
      {"2 * -3", "-6"},
      {"x.size", "12"},
      {" 1+1 ", "2"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775807 - 1", "-9223372036854775808"},
  };
  for (const auto& [text, value] : expectations) EXPECT_EQ(integer(text), value) << text;
}

TEST(Expression, FunctionsOfIntegers) {
  const Expectations expectations = {
      {"ceil_div(n, 256)", "4"}, {"ceil_div(1024, 256)", "4"},   {"ceil_div(-7, 2)", "-3"},
      {"ceil_div(-7, -2)", "4"}, {"min(n, cols, 3)", "3"},       {"max(n, cols)", "1000"},
      {"next_pow2(n)", "1024"},  {"next_pow2(1024)", "1024"},    {"next_pow2(0)", "1"},
      {"abs(-4)", "4"},          {"min(1, 2) + max(3, 4)", "5"},
  };
  for (const auto& [text, value] : expectations) EXPECT_EQ(integer(text), value) << text;
}

TEST(Expression, ComparisonsLogicAndChoice) {
  const Expectations expectations = {
      {"n > 3", "1"},
      {"n <= 3", "0"},
      {"n == 1000 && cols != 7", "0"},
      {"n < 3 or cols < 8", "1"},
      {"!0", "1"},
      {"!n", "0"},
      {"not n > 3", "0"},
      {"! n > 3", "0"},
      {"1 || 0 && 0", "1"},
      {"n > 3 ? 5 : 1 / 0", "5"},
      {"n < 3 ? 1 : cols < 8 ? 2 : 3", "2"},
      {"0 and 1 / 0", "0"},
      {"1 or 1 / 0", "1"},
      {"5 and 7", "1"},
  };
  for (const auto& [text, value] : expectations) EXPECT_EQ(integer(text), value) << text;
}

TEST(Expression, ErrorsSayWhereAndWhat) {
  const Expectations expectations = {
      {"", "0: expected a number, a name or '(', found the end"},
      {"(1", "2: expected ')', found the end"},
      {"1 2", "2: expected an operator or the end, found '2'"},
      {"1 +", "3: expected a number, a name or '(', found the end"},
      {"n ? 1", "5: expected ':', found the end"},
      {"a $ b", "2: expected an operator or the end, found '$'"},
      {"\x01", "0: expected a number, a name or '(', found '?'"},
      {"colz", "0: unknown name 'colz'; did you mean 'cols'?"},
      {"1 + zebra", "4: unknown name 'zebra'; known: cols, n, x.size"},
      {"ceil_dib(1, 2)", "0: unknown function 'ceil_dib'; did you mean 'ceil_div'?"},
      {"min(1)", "0: min takes 2 or more arguments, not 1"},
      {"ceil_div(1, 2, 3)", "0: ceil_div takes 2 arguments, not 3"},
      {"next_pow2()", "10: expected a number, a name or '(', found ')'"},
      {"3x", "1: a number cannot be followed by a letter"},
      {"99999999999999999999", "0: the integer is too large"},
      {"9223372036854775807 + 1", "20: integer overflow"},
      {"n * 9223372036854775807", "2: integer overflow"},
      {"(-9223372036854775807 - 1) / -1", "27: integer overflow"},
      {"1 / (cols - 7)", "2: division by zero"},
      {"n % 0", "2: division by zero"},
      {"1.5", "0: expected an integer, found 1.5"},
      {"sqrt(4)", "0: exp, log, sqrt and pow are not for integers"},
      {"1 < 2 < 3", "6: comparisons cannot be chained: write 'a < b and b < c'"},
      {"dim3(1, 2)", "0: expected one number, found dim3(…)"},
      {"1 + dim3(1)", "4: dim3(…) can only be a whole grid or block, not a part of one"},
      {"dim3(1, 2, 3, 4)", "0: dim3 takes 1 to 3 numbers, not 4"},
  };
  for (const auto& [text, error] : expectations) EXPECT_EQ(integer(text), error) << text;
}

TEST(Expression, RealsAndMetrics) {
  const Expectations expectations = {
      {"1.0 / sqrt(cols)", "0.250000"},
      {"7 / 2", "3.500000"},
      {"5.5 % 2", "1.500000"},
      {"1e-3 * 1E3", "1.000000"},
      {".5", "0.500000"},
      {"exp(log(2))", "2.000000"},
      {"pow(2, 10)", "1024.000000"},
      {"kernel/pass_rate > 0.8 and iteration >= 5", "1.000000"},
      {"kernel/pass_rate", "0.900000"},
      {"cols / iteration", "2.285714"},
      {"cols/2", "8.000000"},
      {"score >= 0.95", "0.000000"},
      {"log(0)", "0: the result is not a finite number"},
      {"1 / 0.0", "2: division by zero"},
      {"sqrt(0 - 1)", "0: the result is not a finite number"},
      {"1e999", "0: not a number"},
      {"1.2.3", "0: not a number"},
      {"kernel/pass_rte", "0: unknown name 'kernel/pass_rte'; did you mean 'kernel/pass_rate'?"},
  };
  for (const auto& [text, value] : expectations) EXPECT_EQ(real(text), value) << text;
}

TEST(Expression, ASlashDividesPlainNames) {
  const auto expression = Expression::parse("n/cols");
  ASSERT_TRUE(expression);
  EXPECT_EQ(*expression->integer(kSizes), 142);
}

TEST(Expression, ConditionIsTheTruthOfTheValue) {
  EXPECT_TRUE(*Expression::parse("iteration >= 5")->condition(kMetrics));
  EXPECT_FALSE(*Expression::parse("iteration - 7")->condition(kMetrics));
}

TEST(Expression, Dim3FillsUpWithOnes) {
  EXPECT_EQ(*Expression::parse("dim3(ceil_div(n, 16), cols)")->dim3(kSizes), (Dim3{63, 7, 1}));
  EXPECT_EQ(*Expression::parse("n")->dim3(kSizes), (Dim3{1000, 1, 1}));
  const auto failed = Expression::parse("dim3(1, rows)")->dim3(kSizes);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().offset, 8u);
}

TEST(Expression, NamesWithTheirOffsets) {
  const auto expression = Expression::parse("ceil_div(n, 2) * x.size + n");
  ASSERT_TRUE(expression);
  std::vector<std::pair<std::string, std::size_t>> uses;
  for (const auto& use : expression->names()) uses.emplace_back(use.name, use.offset);
  EXPECT_EQ(uses, (std::vector<std::pair<std::string, std::size_t>>{
                      {"n", 9}, {"x.size", 17}, {"n", 26}}));
  EXPECT_FALSE(expression->is_name());
  EXPECT_TRUE(Expression::parse(" x.size")->is_name());
}

TEST(Expression, HostileTextIsAnErrorNotACrash) {
  const std::string deep = "nested deeper than 64 levels";
  EXPECT_EQ(integer(std::string(10000, '(')), "2000: an expression may be 2000 bytes long at most");
  EXPECT_EQ(integer(std::string(1900, '(')), "32: " + deep);
  EXPECT_EQ(integer(std::string(1900, '-') + "1"), "63: " + deep);
  std::string sum = "1";
  for (int i = 0; i < 900; ++i) sum += "+1";
  EXPECT_EQ(integer(sum), "127: " + deep);
  std::string choice;
  for (int i = 0; i < 400; ++i) choice += "1?1:";
  EXPECT_EQ(integer(choice + "1").substr(0, 3), "250");
  std::string calls;
  for (int i = 0; i < 300; ++i) calls += "min(";
  EXPECT_NE(integer(calls).find(deep), std::string::npos);
  EXPECT_EQ(integer("min(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)").substr(0, 4), "43: ");
}

}  // namespace
}  // namespace krl

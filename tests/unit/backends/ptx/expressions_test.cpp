// Numbers and constant expressions, as operands of instructions.
#include <gmock/gmock.h>

#include "tests/unit/backends/ptx/module_text.hpp"
#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

using ::testing::HasSubstr;

std::string value(const std::string& expression) {
  const Module module = module_of(kernel("mov.b64 %rd1, " + expression + ";"));
  if (module.functions.empty()) return {};
  const Function& function = module.functions[0];
  return operand_text(module, function, function.body[0].operands.at(1));
}

TEST(PtxConstants, Numbers) {
  EXPECT_EQ(value("42"), "42");
  EXPECT_EQ(value("42U"), "42");
  EXPECT_EQ(value("-1"), "-1");
  EXPECT_EQ(value("0x1f"), "31");
  EXPECT_EQ(value("0XFFU"), "255");
  EXPECT_EQ(value("017"), "15");
  EXPECT_EQ(value("0b101"), "5");
  EXPECT_EQ(value("0"), "0");
  EXPECT_EQ(value("0U"), "0");
  EXPECT_EQ(value("0xffffffffffffffff"), "-1");
  EXPECT_EQ(value("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(value("0f3f800000"), "0f3F800000");
  EXPECT_EQ(value("-0F3f800000"), "0fBF800000");
  EXPECT_EQ(value("0d3FF0000000000000"), "0d3FF0000000000000");
  EXPECT_EQ(value("-1.5"), "0dBFF8000000000000");
  EXPECT_EQ(value("2.5e-1"), "0d3FD0000000000000");
  EXPECT_EQ(value("1e3"), "0d408F400000000000");
  EXPECT_EQ(value("WARP_SZ"), "32");
}

TEST(PtxConstants, Expressions) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("WARP_SZ - 1"), "31");
  EXPECT_EQ(value("10 - 4 - 3"), "3");
  EXPECT_EQ(value("1 << 4 | 3"), "19");
  EXPECT_EQ(value("7 & 3 ^ 1"), "2");
  EXPECT_EQ(value("~0"), "-1");
  EXPECT_EQ(value("(!5) + !0"), "1");
  EXPECT_EQ(value("- -3"), "3");
  EXPECT_EQ(value("-7 / 2"), "-3");
  EXPECT_EQ(value("-7 % 4"), "1") << "unsigned, as ptxas computes it";
  EXPECT_EQ(value("-8 >> 1"), "-4");
  EXPECT_EQ(value("(.u64)-8 >> 60"), "15");
  EXPECT_EQ(value("1 << 64"), "1") << "by the count modulo 64";
  EXPECT_EQ(value("-1 >> 100"), "-1");
  EXPECT_EQ(value("3 < 4 ? 10 : 20"), "10");
  EXPECT_EQ(value("-1 < 0U ? 10 : 20"), "20") << "unsigned";
  EXPECT_EQ(value("2 >= 2 && 1 != 1 || 0"), "0");
  EXPECT_EQ(value("9223372036854775807 + 1"), "-9223372036854775808");
  EXPECT_EQ(value("(-9223372036854775807 - 1) / -1"), "-9223372036854775808");
}

TEST(PtxConstants, WhatIsNoNumber) {
  const auto problem = [](const std::string& expression) {
    return problem_of(kernel("mov.b64 %rd1, " + expression + ";"));
  };
  for (const char* number : {"18446744073709551616", "0x1ffffffffffffffff", "08", "0b2", "0x",
                             "12z", "0f3f8", "0f3f8000000", "0d3f80", "1e999", "3UU"}) {
    EXPECT_THAT(problem(number), HasSubstr("is not a number of PTX, or too large")) << number;
  }
  EXPECT_EQ(problem("1 / 0"), "line 6: a constant expression divides by zero");
  EXPECT_EQ(problem("1 % (2 - 2)"), "line 6: a constant expression divides by zero");
  EXPECT_EQ(problem("1.5 + 2"), "line 6: a constant expression is made of integers");
  EXPECT_EQ(problem("~0f3f800000"), "line 6: a constant expression is made of integers");
  EXPECT_EQ(problem("(1"), "line 6: expected ')' instead of ';'");
  EXPECT_EQ(problem("1 +"), "line 6: expected a number instead of ';'");
  EXPECT_EQ(problem(std::string(1000, '(') + "1"),
            "line 6: too large: a constant expression in itself");
  EXPECT_EQ(problem(std::string(100'000, '-') + "1"),
            "line 6: too large: a constant expression in itself");
}

}  // namespace
}  // namespace krl::ptx

#include "service/mutation/code_text.hpp"

#include <gtest/gtest.h>

namespace krl::service {
namespace {

std::size_t index_of(const CodeText& code, std::string_view word, std::size_t nth = 0) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.at(i).is(word) && nth-- == 0) return i;
  }
  return CodeText::kNone;
}

TEST(CodeText, JoinsOperatorsAndKeepsTheirPlaces) {
  const CodeText code("a <<= b; c->d <= e");
  EXPECT_EQ(code.at(1).text, "<<=");
  EXPECT_EQ(code.at(1).offset, 2u);
  EXPECT_EQ(code.at(5).text, "->");
  EXPECT_EQ(code.at(7).text, "<=");
}

TEST(CodeText, LeavesOutCommentsAndThePreprocessor) {
  const CodeText code("// a < b\n#define N (1 < 2)\nint x = 3; /* 4 */");
  ASSERT_EQ(code.size(), 5u);
  EXPECT_EQ(code.at(0).text, "int");
  EXPECT_EQ(code.at(0).line, 3u);
}

TEST(CodeText, LeavesOutWhatStandsThereOtherwise) {
  EXPECT_EQ(index_of(CodeText("int ab\\\nc = 1;"), "abc"), CodeText::kNone);
}

TEST(CodeText, KnowsWhichOperatorsStandBetweenValues) {
  const CodeText code("float* p; x = a * *p - -b; template <int N> y = static_cast<int>(z) < N;");
  EXPECT_FALSE(code.is_binary(index_of(code, "*", 0)));
  EXPECT_TRUE(code.is_binary(index_of(code, "*", 1)));
  EXPECT_FALSE(code.is_binary(index_of(code, "*", 2)));
  EXPECT_TRUE(code.is_binary(index_of(code, "-", 0)));
  EXPECT_FALSE(code.is_binary(index_of(code, "-", 1)));
  EXPECT_FALSE(code.is_binary(index_of(code, "<", 0)));
  EXPECT_FALSE(code.is_binary(index_of(code, "<", 1)));
  EXPECT_TRUE(code.is_binary(index_of(code, "<", 2)));
}

TEST(CodeText, FindsWholeOperands) {
  const CodeText code("x = f(a)[2].b * g.h(c)[1];");
  const std::size_t product = index_of(code, "*");
  const std::size_t first = code.operand_begin(product - 1), last = code.operand_end(product + 1);
  EXPECT_EQ(code.text_of(first, product - 1), "f(a)[2].b");
  EXPECT_EQ(code.text_of(product + 1, last), "g.h(c)[1]");
}

TEST(CodeText, SurvivesUnpairedBrackets) {
  for (const char* source : {"f((", ")) + 1", "a[ < b", "(]", "{ ? : }", "for (", "if (x",
                             "x = ", "fmaxf(", "atomicAdd(,", "c ? (", "= {"}) {
    const CodeText code(source);
    for (std::size_t i = 0; i < code.size(); ++i) {
      code.operand_end(i);
      code.operand_begin(i);
      code.find_outside(i, {";"});
    }
  }
}

}  // namespace
}  // namespace krl::service

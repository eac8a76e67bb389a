#include "core/base/text.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Utf8, TheSizeOfTheFirstCodePoint) {
  EXPECT_EQ(code_point_size("a"), 1u);
  EXPECT_EQ(code_point_size("\xc3\xa4x"), 2u);
  EXPECT_EQ(code_point_size("\xe2\x82\xac"), 3u);
  EXPECT_EQ(code_point_size("\xf0\x9f\x99\x82"), 4u);
}

TEST(Utf8, WhatIsNone) {
  EXPECT_EQ(code_point_size("\xa4"), 0u) << "begins in the middle";
  EXPECT_EQ(code_point_size("\xe2\x82"), 0u) << "ends too early";
  EXPECT_EQ(code_point_size("\xc3x"), 0u) << "not continued";
  EXPECT_EQ(code_point_size("\xc0\x80"), 0u) << "longer than needed";
  EXPECT_EQ(code_point_size("\xe0\x80\x80"), 0u) << "longer than needed";
  EXPECT_EQ(code_point_size("\xf0\x80\x80\x80"), 0u) << "longer than needed";
  EXPECT_EQ(code_point_size("\xed\xa0\x80"), 0u) << "half of a UTF-16 pair";
  EXPECT_EQ(code_point_size("\xf4\x90\x80\x80"), 0u) << "beyond U+10FFFF";
}

TEST(Utf8, OneLineIsSafeToPrint) {
  EXPECT_EQ(one_line("plain, \xc3\xa4, \xf0\x9f\x99\x82"), "plain, \xc3\xa4, \xf0\x9f\x99\x82");
  EXPECT_EQ(printable_lines("a \xff\n\nb\x1b\n\n"), (std::vector<std::string>{"a ?", "", "b "}));
  EXPECT_EQ(one_line("two\r\nlines\tand \x1b[31mred\x7f"), "two  lines and  [31mred ");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m \xff\xc3"),
            " 31m ??")
      << "U+009B begins a sequence too";
  EXPECT_EQ(one_line(std::string_view("a\0b", 3)), "a b");
}

}  // namespace
}  // namespace krl::core

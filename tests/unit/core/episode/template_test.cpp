#include "core/episode/prompt.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

TEST(Template, ReplacesNames) {
  const auto t = Template::parse("a {{x}} b {{y}}\nplain\n", {"x", "y"}, "t.txt");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->render({{"x", "1"}, {"y", "{{x}}"}}), "a 1 b {{x}}\nplain\n");
}

TEST(Template, ALineOfEmptyValuesLeavesNoLine) {
  const auto t = Template::parse("first\n{{x}}\n\nlast\n", {"x"}, "t.txt");
  EXPECT_EQ(t->render({{"x", ""}}), "first\n\nlast\n");
  EXPECT_EQ(t->render({{"x", "two\nlines\n"}}), "first\ntwo\nlines\n\nlast\n");
}

TEST(Template, ErrorsNameTheirPlace) {
  EXPECT_EQ(Template::parse("a\nb {{kernl}}", {"kernel", "why"}, "t.txt").error().message,
            "t.txt:2:3: error: unknown name 'kernl'; did you mean 'kernel'?   known: kernel, why");
  EXPECT_EQ(Template::parse("{{x", {"x"}, "t.txt").error().message,
            "t.txt:1:1: error: '{{' without '}}' on its line");
  EXPECT_FALSE(Template::read("/nowhere/t.txt", {}));
}

}  // namespace
}  // namespace krl::core

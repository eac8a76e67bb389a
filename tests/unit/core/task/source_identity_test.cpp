#include "core/task/source_identity.hpp"

#include <gtest/gtest.h>

namespace krl::core {
namespace {

const std::string kWithDirective =
    "#define N 4\n__global__ void k(float* y) { y[0] = N; }\n// @launch k<<<1, N>>>(y)\n";

TEST(SourceIdentity, IgnoresBlanksAndComments) {
  EXPECT_EQ(identity_of(kWithDirective),
            identity_of("// a note\n#define  N 4\n\n__global__ void k(float *y)"
                        "\n{\n  y[0] = N;  // four\n}\n//@launch k<<<1,N>>>(y)"));
  EXPECT_EQ(identity_of(kWithDirective).size(), 16U);
}

TEST(SourceIdentity, TellsApartWhatIsCompiledOrLaunched) {
  const auto with = [](std::string_view from, std::string_view to) {
    std::string text = kWithDirective;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& other : {with("= N", "= M"), with("k<<<1, N", "k<<<2, N"),
                                   with("#define N 4\n", "#define N 4 \\\n"), with("// @", "// ")})
    EXPECT_NE(identity_of(other), identity_of(kWithDirective)) << other;
}

TEST(SourceIdentity, KeepsToTheRulesOfTheLanguage) {
  const std::string triton =
      "import triton\n# @launch k[1](y)\n@triton.jit\ndef k(y):\n    a = 2 ** 3\n    b = 1\n";
  const auto changed = [](std::string text, std::string_view from, std::string_view to) {
    return text.replace(text.find(from), from.size(), to);
  };
  EXPECT_EQ(identity_of(triton),
            identity_of("# a note\n\n" + changed(triton, "a = 2 ** 3", "a=2 ** 3  # 8")))
      << "comments and blanks";
  for (const std::string& other :
       {changed(triton, "    b = 1", "b = 1"), changed(triton, "k[1]", "k[2]"),
        changed(triton, "2 ** 3", "2 * 3")})
    EXPECT_NE(identity_of(triton), identity_of(other)) << other;
  const std::string ptx = ".version 8.0\n.entry k() { mov.u32 %r1, %tid.x; }";
  EXPECT_EQ(identity_of(ptx), identity_of(changed(ptx, "{ mov.u32 %r1,", "{\n  mov.u32  %r1 ,")));
  EXPECT_NE(identity_of(ptx), identity_of(changed(ptx, "%r1", "% r1")));
}

TEST(SourceIdentity, TellsApartWhatABlankParts) {
  const std::pair<const char*, const char*> different[] = {
      {"a = q++ +s;", "a = q+ ++s;"},
      {"a = b - -c;", "a = b --c;"},
      {"if (a & &b)", "if (a && b)"},
      {"a = = b;", "a == b;"},
      {"#define F(x) x\n", "#define F (x) x\n"},
      {"a < <b", "a << b"}};
  for (const auto& [a, b] : different) EXPECT_NE(identity_of(a), identity_of(b)) << a;
  const std::pair<const char*, const char*> same[] = {
      {"a=b+c;", "a = b + c;"}, {"f((x), -1);", "f( ( x ) ,-1 ) ;"}, {"y[0]=-1;", "y[0] = -1;"}};
  for (const auto& [a, b] : same) EXPECT_EQ(identity_of(a), identity_of(b)) << a;
}

}  // namespace
}  // namespace krl::core

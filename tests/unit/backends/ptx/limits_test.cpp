// Texts that are made to cost much: every limit, and time in proportion to the text.
#include <gmock/gmock.h>

#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

TEST(PtxLimits, EachIsNamed) {
  ReadLimits limits;
  limits.text_bytes = 1000;
  EXPECT_EQ(problem_of(std::string(1001, ' '), limits),
            "line 0: too large: the PTX has 1001 bytes");
  limits = {};
  limits.instructions = 9;
  EXPECT_EQ(problem_of(kernel(repeated("bar.sync 0;\n", 10)), limits),
            "line 15: too large: the instructions of the module");
  limits = {};
  limits.operands = 20;
  EXPECT_EQ(problem_of(kernel("call f;"), limits), "line 6: 'f' is not declared");
  EXPECT_EQ(problem_of(kernel("mov {" + repeated("%r1,", 20) + "%r1};"), limits),
            "line 6: too large: the operands of the module");
  limits = {};
  limits.registers = 30;
  EXPECT_EQ(problem_of(kernel(".reg .b32 %x<4294967295>;"), limits),
            "line 6: too large: the registers of the module");
  limits = {};
  limits.names = 20;
  EXPECT_EQ(problem_of(kernel(repeated("{ a: bar.sync 0; }\n", 20)), limits),
            "line 19: too large: the names that the module declares");
}

TEST(PtxLimits, VariablesTogether) {
  const auto problem = [](const std::string& text) {
    return problem_of(std::string(kHead) + text);
  };
  const std::string too_large = "line 4: too large: the variables of the module";
  EXPECT_EQ(problem(".global .b8 a[67108864];"), "");
  EXPECT_EQ(problem(".global .b8 a[67108865];"), too_large);
  EXPECT_EQ(problem(".global .b8 a[67108864]; .global .b8 b;"), too_large);
  EXPECT_EQ(problem(".global .u64 a[18446744073709551615];"), too_large);
  EXPECT_EQ(problem(".global .u64 a[4294967296][4294967296];"), too_large);
  EXPECT_EQ(problem(".global .u64 a[4096][4096][4096];"), too_large);
  EXPECT_EQ(problem(".entry k() { .local .b8 a[67108865]; }"), too_large);
  EXPECT_EQ(problem(".entry k(.param .b8 a[67108865]) { }"), too_large);
  EXPECT_EQ(problem(".global .u8 a[1][1][1][1][1][1][1][1][1];"),
            "line 4: too large: an array with more dimensions than 8");
}

TEST(PtxLimits, NestingIsBounded) {
  EXPECT_EQ(problem_of(kernel(repeated("{", 100'000))), "line 6: too large: blocks in blocks");
  EXPECT_EQ(problem_of(kernel("mov {" + repeated("%r1,", 300) + "%r1};")),
            "line 6: too large: a vector");
  EXPECT_EQ(problem_of(kernel("ld" + repeated(".a", 33) + " %r1;")),
            "line 6: too large: an instruction");
  EXPECT_EQ(problem_of(kernel("mov " + repeated("%r1, ", 64) + "%r1;")),
            "line 6: too large: an instruction");
}

// Made so that a reader whose time grows with the square of the text would not end within the time
// that a test has.
TEST(PtxLimits, LongTextsEnd) {
  constexpr std::size_t kMany = 60'000;
  const auto expect_read = [](const std::string& text, const std::string& problem = {}) {
    EXPECT_EQ(problem_of(text), problem) << text.substr(0, 200);
  };
  {  // labels
    std::string body;
    for (std::size_t i = 0; i < kMany; ++i) {
      body += "bra L" + std::to_string(kMany - i - 1) + "; L" + std::to_string(i) + ":\n";
    }
    expect_read(kernel(body));
  }
  {  // labels of an outer block
    expect_read(kernel(repeated("{", 60) + repeated("bra L;", kMany) + repeated("}", 60) + "L:"));
  }
  {  // registers
    std::string body;
    for (std::size_t i = 0; i < kMany; ++i) {
      const std::string name = "%x" + std::to_string(i) + "y";
      body += ".reg .b32 " + name + "; mov.b32 " + name + ", 0;\n";
    }
    expect_read(kernel(body));
  }
  {  // hidden names
    expect_read(kernel(repeated("{ .reg .b32 a; mov.b32 a, 0; }\n", kMany)));
  }
  {  // places
    std::string body;
    for (std::size_t i = 1; i < kMany; ++i) {
      body += ".loc 1 " + std::to_string(i) + " 1, function_name $L, inlined_at 1 " +
              std::to_string(i - 1) + " 1\n";
    }
    expect_read(kernel(body));
  }
  {  // variables
    std::string text(kHead);
    for (std::size_t i = 0; i < kMany; ++i) {
      text += ".global .u64 v" + std::to_string(i) + " = v" + std::to_string(kMany - i - 1) + ";\n";
    }
    expect_read(text);
  }
}

}  // namespace
}  // namespace krl::ptx

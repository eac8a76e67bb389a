// Texts that are not PTX, or PTX that the reader does not know: what it says of them.
#include <gmock/gmock.h>

#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

struct Row {
  std::string text, problem;
};

void expect_problems(ReadProblem::Kind kind, const std::vector<Row>& rows) {
  for (const auto& [text, problem] : rows) {
    const ReadResult result = read_module(text, "kernel.cu");
    ASSERT_TRUE(result.problem) << text;
    EXPECT_EQ(result.problem->kind, kind) << text;
    EXPECT_EQ(problem_of(text), problem) << text;
  }
}

std::string module_with(const std::string& text) { return std::string(kHead) + text; }

TEST(MalformedPtx, Modules) {
  expect_problems(
      ReadProblem::kMalformed,
      {{"", "line 1: expected '.version' instead of the end of the text"},
       {"\x01", "line 1: the character 0x01 has no meaning in PTX"},
       {"\n\xff", "line 2: the character 0xff has no meaning in PTX"},
       {".version 9", "line 1: '9' is not a version"},
       {".version x.y", "line 1: expected a version instead of 'x'"},
       {".version 9.0\n.entry", "line 2: expected '.target' instead of '.entry'"},
       {module_with("mov.u32 a, b;"), "line 4: expected a directive instead of 'mov'"},
       {module_with("/* no end"), "line 4: a comment does not end"},
       {module_with(".file 1 \"no end\n\""), "line 4: a text in quotes does not end"},
       {module_with(".section .debug_str { ( }"),
        "line 4: expected the contents of a section instead of '('"},
       {module_with(".entry k()\n{ ret;"),
        "line 5: expected an instruction instead of the end of the text"},
       {module_with(".entry k() { ret; } }"), "line 4: expected a directive instead of '}'"},
       {module_with(".extern .func f() { ret; }"), "line 4: an external function has a body"},
       {module_with(".func f() { ret; }\n.func f() { ret; }"), "line 5: 'f' is declared already"},
       {module_with(".func f(.param .b32 a);\n.func f() { ret; }"),
        "line 5: 'f' is declared already"},
       {module_with(".func f();\n.entry f() { ret; }"), "line 5: 'f' is declared already"},
       {module_with(".global .u32 f;\n.func f();"), "line 5: 'f' is declared already"},
       {module_with(".entry k(.param .u32 a, .param .u32 a) { ret; }"),
        "line 4: 'a' is declared already"}});
}

TEST(MalformedPtx, Variables) {
  expect_problems(
      ReadProblem::kMalformed,
      {{module_with(".global .u32 a; .global .u32 a;"), "line 4: 'a' is declared already"},
       {module_with(".global .align 3 .u32 a;"), "line 4: an alignment is a power of two"},
       {module_with(".global .u32 a[0];"), "line 4: an array has no elements"},
       {module_with(".global .u32 a[-1];"),
        "line 4: the size of an array is not a number from 0 to 18446744073709551615"},
       {module_with(".global .u32 a[2][];"),
        "line 4: expected the size of an array instead of ']'"},
       {module_with(".global .u32 a[2] = {1, 2, 3};"),
        "line 4: an initial value has too many elements"},
       {module_with(".global .b8 a = 256;"),
        "line 4: an initial value does not fit the type of its variable"},
       {module_with(".global .f32 a = 1;"),
        "line 4: an initial value does not fit the type of its variable"},
       {module_with(".global .u64 a = b;"),
        "line 4: 'b' in the initial value of 'a' is not declared"},
       {module_with(".global .pred a;"), "line 4: a predicate is not kept in memory"},
       {module_with(".global .u32 3;"), "line 4: expected the name of a variable instead of '3'"}});
}

TEST(MalformedPtx, Instructions) {
  expect_problems(
      ReadProblem::kMalformed,
      {{kernel("mov.u32 %r8, 1;"), "line 6: the register '%r8' is not declared"},
       {kernel("mov.u32 %r01, 1;"), "line 6: the register '%r01' is not declared"},
       {kernel("mov.u32 %r1, %envreg32;"), "line 6: the register '%envreg32' is not declared"},
       {kernel("\nbra nowhere;"), "line 7: 'nowhere' is not declared"},
       {kernel("{ inside: bar.sync 0; }\nbra inside;"), "line 7: 'inside' is not declared"},
       {kernel("T: .branchtargets A;"), "line 6: 'A' is not declared"},
       {kernel("T: .calltargets f;"), "line 6: 'f' is not declared"},
       {kernel("ld.u32 %r1, [a];"), "line 6: 'a' is not declared"},
       {kernel("ld.u32 %r1, [_];"), "line 6: '_' is not an address"},
       {kernel("ld.u32 %r1, [%rd1"), "line 7: expected ']' instead of 'ret'"},
       {kernel("@%r1 bra L; L:"), "line 6: '%r1' after '@' is not a predicate"},
       {kernel("@ bra L; L:"), "line 6: 'bra' is not declared"},
       {kernel("mov.b32 %r1, !%r2;"), "line 6: '%r2' after '!' is not a predicate"},
       {kernel("mov.b32 %r1, !0;"), "line 6: expected a predicate instead of '0'"},
       {kernel("mov.u32 %r1, 1 2;"), "line 6: expected ';' instead of '2'"},
       {kernel("mov.u32 %r1,;"), "line 6: expected a number instead of ';'"},
       {kernel("mov.u32 %r1 %r2;"), "line 6: expected ';' instead of '%r2'"},
       {kernel("mov.b64 {%r1, {%r2}}, %rd1;"), "line 6: expected a number instead of '{'"},
       {kernel("setp.eq.u32 n|%p1, 1, 2;"), "line 6: expected ',' or ';' instead of '|'"},
       {kernel("L: L: ret;"), "line 6: the label 'L' is declared already"},
       {kernel("p: ret;"), "line 6: the label 'p' is declared already"},
       {kernel(".reg .b32 %r<3>;"), "line 6: '%r' is declared already"},
       {kernel(".reg .b32 a, a;"), "line 6: 'a' is declared already"},
       {kernel(".reg .b32 %pm<3>;"), "line 6: '%pm' is declared already"},
       {kernel(".reg .b32 %tid;"), "line 6: '%tid' is declared already"},
       {kernel("7;"), "line 6: expected an instruction instead of '7'"}});
}

TEST(UnsupportedPtx, IsNamed) {
  expect_problems(
      ReadProblem::kUnsupported,
      {{".version 9.0 .target sm_90, texmode_independent",
        "line 1: the target 'texmode_independent'"},
       {".version 9.0 .target sm_90 .address_size 32", "line 1: an address size other than 64"},
       {module_with(".alias a, b;"), "line 4: the directive '.alias'"},
       {module_with(".global .texref t;"), "line 4: the type '.texref'"},
       {module_with(".tex .u64 t;"), "line 4: the directive '.tex'"},
       {module_with(".global .attribute(.managed) .u32 m;"),
        "line 4: the directive .attribute (__managed__)"},
       {module_with(".global .u32 a[];"), "line 4: an array without a size"},
       {module_with(".global .u32 a = f;"), "line 4: an address of less than 8 bytes"},
       {module_with(".shared .u32 a = 1;"), "line 4: the initial value of 'a'"},
       {module_with(".func f(.reg .b32 a) { ret; }"), "line 4: a parameter in a register"},
       {module_with(".func f() .unique { ret; }"), "line 4: the directive '.unique' of a function"},
       {kernel(".global .u32 a;"), "line 6: the directive '.global' in a function"},
       {kernel(".reg .f32 %v1<2>;"), "line 6: numbered registers whose name ends in a digit"},
       {kernel(".reg .v2 .f32 %v;"), "line 6: a register that is a vector"},
       {kernel("mov.f32 %f1, %f2.x;"), "line 6: a component of a register or variable, '%f2.x'"},
       {kernel("tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];"),
        "line 6: tex.1d.v4.f32.f32 with coordinates"}});
}

TEST(MalformedPtx, LongNamesAreCut) {
  EXPECT_EQ(problem_of(kernel("mov.u32 %" + std::string(100'000, 'x') + ", 0;")),
            "line 6: the register '%" + std::string(79, 'x') + "...' is not declared");
}

}  // namespace
}  // namespace krl::ptx

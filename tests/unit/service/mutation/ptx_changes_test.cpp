#include <gtest/gtest.h>
#include <kernelrl/proof_stage.h>

#include <algorithm>

#include "service/mutation/change.hpp"
#include "service/mutation/ptx_instructions.hpp"

namespace krl::service {
namespace {

// Whether a change of the kind turns one line of PTX into another.
bool turns(const std::string& line, std::string_view kind, const std::string& result) {
  const std::string head = std::string("// @launch k<<<1, 32>>>(x)\n") + KRL_PTX_MARK;
  const Changes changes = ptx_changes_of(head + line);
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
    return change.kind == kind && changed(head + line, change) == head + result;
  });
}

TEST(PtxInstructions, HaveGuardsOpcodesAndOperands) {
  const std::string text =
      ".visible .entry k()\n{\n\t.reg .b32 %r<9>;\n$L:\n"
      "\t@!%p1 ld.global.v2.f32 \t{%f1, %f2}, [%rd1+8];\n\tret;\n}\n";
  const auto all = ptx_instructions(text, 0);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].guard.text, "@!%p1");
  EXPECT_EQ(all[0].name(), "ld");
  EXPECT_TRUE(all[0].has_modifier(".v2"));
  EXPECT_FALSE(all[0].has_modifier(".f3"));
  ASSERT_EQ(all[0].operands.size(), 2u);
  EXPECT_EQ(all[0].operands[0].text, "{%f1, %f2}");
  EXPECT_EQ(text.substr(all[0].operands[1].offset, 8), "[%rd1+8]");
  EXPECT_EQ(all[1].name(), "ret");
}

TEST(PtxChanges, AreThoseOfInstructions) {
  EXPECT_TRUE(turns("setp.lt.s32 %p1, %r1, %r2;\n", "ptx_bound", "setp.le.s32 %p1, %r1, %r2;\n"));
  EXPECT_TRUE(
      turns("setp.lt.s32 %p1, %r1, %r2;\n", "ptx_comparison", "setp.ge.s32 %p1, %r1, %r2;\n"));
  EXPECT_TRUE(turns("add.s32 %r3, %r1, %r2;\n", "ptx_operator", "sub.s32 %r3, %r1, %r2;\n"));
  EXPECT_TRUE(turns("add.s32 %r3, %r1, 32;\n", "ptx_constant", "add.s32 %r3, %r1, 33;\n"));
  EXPECT_TRUE(turns("mov.f32 %f1, 0f3F800000;\n", "ptx_constant", "mov.f32 %f1, 0f40000000;\n"));
  EXPECT_TRUE(turns("@%p1 bra $L;\n", "ptx_guard", "@!%p1 bra $L;\n"));
  EXPECT_TRUE(turns("@%p1 bra $L;\n", "ptx_branch_dropped", "\n"));
  EXPECT_TRUE(turns("bar.sync 0;\n", "ptx_order_dropped", "\n"));
  EXPECT_TRUE(turns("mov.b32 %r1, 0;\n", "ptx_initial_value_dropped", "\n"));
  EXPECT_TRUE(
      turns("st.global.f32 [%rd1+4], %f1;\n", "ptx_address", "st.global.f32 [%rd1+8], %f1;\n"));
  EXPECT_TRUE(turns("fma.rn.f32 %f4, %f1, %f2, %f3;\n", "ptx_term_dropped",
                    "fma.rn.f32 %f4, %f1, %f2, 0f00000000;\n"));
  EXPECT_TRUE(turns("cvt.rn.f16.f32 %rs1, %f1;\n", "ptx_rounding", "cvt.rz.f16.f32 %rs1, %f1;\n"));
  EXPECT_TRUE(turns("mov.u32 %r1, %tid.x;\n", "ptx_axis", "mov.u32 %r1, %tid.y;\n"));
}

TEST(PtxChanges, AreOfTheCodeBehindTheMarkAlone) {
  EXPECT_TRUE(ptx_changes_of("add.s32 %r3, %r1, %r2;\n").empty());
  EXPECT_TRUE(ptx_changes_of(std::string("add.s32 %r3, %r1, %r2;\n") + KRL_PTX_MARK).empty());
}

TEST(PtxChanges, SurviveAnyText) {
  const std::string line = "\t@%p1 fma.rn.f32 \t%f4, {%f1, %f2}, [%rd1+8], 0f3F800000;\n";
  for (std::size_t begin = 0; begin < line.size(); ++begin) {
    for (const std::size_t length : {1, 5, 20}) {
      std::string text = line;
      ptx_changes_of(KRL_PTX_MARK + text.erase(begin, length));
    }
  }
}

}  // namespace
}  // namespace krl::service

// What a Module keeps of functions, variables, blocks and operands.
#include "plugins/backends/ptx/reader.hpp"

#include <gmock/gmock.h>

#include <cstring>

#include "tests/unit/backends/ptx/module_text.hpp"
#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Function& only_function(const Module& module) { return module.functions.at(0); }

// "0: opcode operands" of a kernel's instructions but for the last `ret`.
std::vector<std::string> body_of(const std::string& body) {
  const Module module = module_of(kernel(body));
  std::vector<std::string> texts;
  if (module.functions.empty()) return texts;
  const Function& function = only_function(module);
  for (std::size_t i = 0; i + 1 < function.body.size(); ++i) {
    texts.push_back(instruction_text(module, function, function.body[i]));
  }
  return texts;
}

TEST(PtxReader, KeepsOpcodesModifiersAndOperands) {
  EXPECT_THAT(
      body_of("ld.global.nc.L1::no_allocate.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-16];\n"
              "@!%p1 st.shared::cta.u32 [%r1], -7;\n"
              "@%p2 setp.lt.and.f32 %p1|_, %f1, 0f3F800000, !%p3;\n"
              "mov .u32 %r1, %tid.x; mov.u64 %rd1, %clock64; mov.u32 %r1, %envreg31;\n"
              "mov.b64 {%r1, %r2}, %rd1; bar.sync 0; mbarrier.arrive.b64 _, [n+4];\n"
              "shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1; ; ld.const.f32 %f1, [64];\n"
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};"),
      ElementsAre("ld.global.nc.L1::no_allocate.v4.f32 {%f1, _, %f2, %f3}, [%rd1+-16]",
                  "@!%p1 st.shared::cta.u32 [%r1], -7",
                  "@%p2 setp.lt.and.f32 %p1|_, %f1, 0f3F800000, !%p3", "mov.u32 %r1, %tid.x",
                  "mov.u64 %rd1, %clock64", "mov.u32 %r1, %envreg31", "mov.b64 {%r1, %r2}, %rd1",
                  "bar.sync 0", "mbarrier.arrive.b64 _, [n+4]",
                  "shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1", "ld.const.f32 %f1, [64]",
                  "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}"));
  const Module module = module_of(kernel("ld.global.nc.v4.f32 {%f1, _, %f2, %f3}, [%rd1];"));
  const Instruction& load = only_function(module).body[0];
  EXPECT_EQ(load.opcode, "ld");
  EXPECT_THAT(load.modifiers, ElementsAre("global", "nc", "v4", "f32"));
  EXPECT_TRUE(load.has("nc"));
  EXPECT_FALSE(load.has("shared"));
  EXPECT_EQ(load.full_name(), "ld.global.nc.v4.f32");
}

TEST(PtxReader, LeavesCommentsOut) {
  EXPECT_THAT(body_of("// begin inline asm\nmov.u32 %r1, /* 3 */ 4; // bra L;\n/* a\n * b */ ret;"),
              ElementsAre("mov.u32 %r1, 4", "ret"));
}

TEST(PtxReader, FindsLabelsInFrontAndBehind) {
  EXPECT_THAT(body_of("top: bra.uni end;\n@%p1 bra top;\nend:\nmov.u32 %r1, 0;"),
              ElementsAre("bra.uni L2", "@%p1 bra L0", "mov.u32 %r1, 0"));
}

TEST(PtxReader, EveryLabelHasAnInstructionBehindIt) {
  const auto last = [](const std::string& body) {
    const Module module =
        module_of(std::string(kHead) + ".entry k() { .reg .pred %p<2>; " + body + " }");
    const Function& function = only_function(module);
    return std::to_string(function.body.size()) + " " + function.body.back().opcode;
  };
  EXPECT_EQ(last(""), "1 ret");
  EXPECT_EQ(last("bra end; end:"), "2 ret");
  EXPECT_EQ(last("ret; end:"), "2 ret") << "a label behind it";
  EXPECT_EQ(last("@%p1 ret;"), "2 ret");
  EXPECT_EQ(last("bar.sync 0;"), "2 ret");
  EXPECT_EQ(last("ret;"), "1 ret");
  EXPECT_EQ(last("exit;"), "1 exit");
  EXPECT_EQ(last("trap;"), "1 trap");
  EXPECT_EQ(last("top: bra top;"), "1 bra");
}

TEST(PtxReader, NamesOfABlockAreItsOwn) {
  const Module module = module_of(kernel(
      "{ .reg .b32 %t; .param .b32 a; mov.u32 %t, 1; bra done; st.param.b32 [a], %t; done: }\n"
      "{ .reg .b64 %t; .param .b64 a; mov.u64 %t, %rd1; bra done; st.param.b64 [a], %t;\n"
      "  { .reg .f32 %r1; add.f32 %r1, %r1, %f1; bra done; bra out; } done: }\nout:"));
  const Function& function = only_function(module);
  ASSERT_EQ(function.locals.size(), 2u);
  const auto target = [&](std::size_t i) { return function.body[i].operands[0].index; };
  const auto type = [&](std::size_t i, std::size_t operand) {
    return function.registers[function.body[i].operands[operand].index].type;
  };
  EXPECT_EQ(type(0, 0), Type::kB32);
  EXPECT_EQ(type(3, 0), Type::kB64);
  EXPECT_EQ(type(6, 0), Type::kF32) << "hides a numbered register";
  EXPECT_EQ(target(1), 3u);
  EXPECT_EQ(target(4), 9u);
  EXPECT_EQ(target(7), 9u) << "of the block around it";
  EXPECT_EQ(target(8), 9u);
  EXPECT_EQ(function.body[2].operands[0].elements[0].index, 0u);
  EXPECT_EQ(function.body[5].operands[0].elements[0].index, 1u);
}

TEST(PtxReader, NumberedRegistersAndOthers) {
  const Module module = module_of(std::string(kHead) +
                                  ".entry k() { .reg .b16 a, %b<3>, c1, _x; .reg .b32 %b11;\n"
                                  "mov.b16 a, %b2; mov.b16 c1, %b0; mov.b32 %b11, 0; }");
  const Function& function = only_function(module);
  std::vector<std::string> names;
  for (const Register& declared : function.registers) names.push_back(declared.name);
  EXPECT_THAT(names, ElementsAre("a", "%b0", "%b1", "%b2", "c1", "_x", "%b11"));
  EXPECT_EQ(function.body[0].operands[1].index, 3u);
  EXPECT_EQ(function.body[2].operands[0].index, 6u);
}

TEST(PtxReader, CallsNameFunctionsListsAndPrototypes) {
  const Module module = module_of(
      std::string(kHead) +
      ".func (.param .b32 r) f(.param .b32 a, .param .align 16 .b8 b[48]);\n"
      ".extern .func g() .noreturn;\n"
      ".entry k() { .reg .b64 %rd<3>;\n"
      "{ .param .b32 r0; .param .b32 a0; .param .align 16 .b8 b0[48];\n"
      "call.uni (r0), f, (a0, b0); call g; call g, ();\n"
      "mov.u64 %rd1, f;\n"
      "p0: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 16 .b8 _[48]);\n"
      "t0: .calltargets f, g;\n"
      "call (r0), %rd1, (a0, b0), p0; call (r0), %rd1, (a0, b0), t0; } }\n"
      ".func (.param .b32 r) f(.param .b32 a, .param .align 16 .b8 b[48]) { ret; }");
  ASSERT_EQ(module.functions.size(), 3u);
  EXPECT_FALSE(module.functions[0].external) << "it is defined after all";
  EXPECT_EQ(module.functions[0].body.size(), 1u);
  EXPECT_TRUE(module.functions[1].external);
  EXPECT_TRUE(module.functions[1].no_return);
  const Function& caller = module.functions[2];
  const Instruction& direct = caller.body[0];
  ASSERT_EQ(direct.operands.size(), 3u);
  EXPECT_EQ(direct.operands[0].kind, Operand::kList);
  EXPECT_EQ(direct.operands[1].kind, Operand::kFunction);
  EXPECT_EQ(direct.operands[1].name, "f");
  EXPECT_EQ(direct.operands[1].index, 0u);
  EXPECT_EQ(direct.operands[2].elements.at(1).scope, Operand::kLocals);
  EXPECT_EQ(caller.body[1].operands.size(), 1u);
  const Operand& prototype = caller.body[4].operands.back();
  EXPECT_EQ(prototype.kind, Operand::kPrototype);
  EXPECT_EQ(caller.prototypes.at(prototype.index).parameters.at(1).bytes, 48u);
  const Operand& targets = caller.body[5].operands.back();
  EXPECT_EQ(targets.kind, Operand::kLabel);
  EXPECT_EQ(targets.name, "t0");
  EXPECT_THAT(caller.targets.at(targets.index).functions, ElementsAre("f", "g"));
  EXPECT_EQ(module.find("k"), &caller);
  EXPECT_EQ(module.find("nothing"), nullptr);
}

TEST(PtxReader, BranchTargetsAreLabels) {
  const Module module = module_of(
      kernel("T: .branchtargets A, B;\nbrx.idx %r1, T;\nA: mov.u32 %r1, 0;\nB: mov.u32 %r1, 1;"));
  const Function& function = only_function(module);
  ASSERT_EQ(function.targets.size(), 1u);
  EXPECT_THAT(function.targets[0].labels, ElementsAre(1u, 2u));
  EXPECT_EQ(function.body[0].operands[1].name, "T");
}

TEST(PtxReader, HeadsOfFunctions) {
  const Module module = module_of(
      std::string(kHead) +
      ".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[12],\n"
      " .param .f32 c, .param .u64 .ptr .align 1 d)\n"
      ".maxntid 256, 2, 1 .minnctapersm 2 .maxnreg 64 .explicitcluster .reqnctapercluster 2\n"
      ".pragma \"nounroll\"; { .pragma \"used_bytes_mask 15\"; ret; }\n"
      ".weak .func f() .noreturn { trap; } .entry j() .reqntid 32, 4 { ret; }");
  const Function& head = module.functions.at(0);
  EXPECT_TRUE(head.entry);
  ASSERT_EQ(head.parameters.size(), 4u);
  EXPECT_TRUE(head.parameters[0].pointer);
  EXPECT_EQ(head.parameters[1].bytes, 12u);
  EXPECT_EQ(head.parameters[1].align, 8u);
  EXPECT_EQ(head.parameters[2].type, Type::kF32);
  EXPECT_TRUE(head.parameters[3].pointer);
  EXPECT_THAT(head.max_threads, ElementsAre(256u, 2u, 1u));
  EXPECT_THAT(head.required_cluster, ElementsAre(2u, 1u, 1u));
  EXPECT_EQ(head.min_blocks, 2u);
  EXPECT_THAT(module.functions.at(2).required_threads, ElementsAre(32u, 4u, 1u));
}

TEST(PtxReader, VariablesOfAModule) {
  const Module module = module_of(
      std::string(kHead) +
      ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 fixed[128];\n"
      ".const .align 8 .b8 bytes[6] = {1, 255, -1};\n.global .u32 word;\n"
      ".global .f32 one = 0f3F800000;\n.global .f64 two = 0d4000000000000000, three = 3.0;\n"
      ".global .align 8 .u64 addresses[5] = {0, word, generic(word), generic(bytes)+12, f};\n"
      ".global .s16 grid[2][3] = {{1, -2}, {3, 4, 5}};\n.global .v2 .f32 pair = {0f3F800000, "
      "0f00000000};\n"
      ".visible .global .v4 .b32 rows[2];\n.extern .global .u32 later;\n.global .u32 later = 7;\n"
      ".func f() { ret; }");
  const auto& all = module.variables;
  const auto element = [](const Variable& variable, std::size_t at, auto value) {
    std::memcpy(&value, variable.initial.data() + at, sizeof value);
    return value;
  };
  ASSERT_EQ(all.size(), 12u);
  EXPECT_EQ(all[0].bytes, 0u);
  EXPECT_TRUE(all[0].external);
  EXPECT_EQ(all[0].align, 16u);
  EXPECT_EQ(all[1].space, Space::kShared);
  EXPECT_THAT(all[2].initial, ElementsAre(std::byte{1}, std::byte{255}, std::byte{255},
                                          std::byte{0}, std::byte{0}, std::byte{0}));
  EXPECT_THAT(all[3].initial, IsEmpty());
  EXPECT_EQ(all[3].align, 4u);
  EXPECT_EQ(element(all[4], 0, 0.f), 1.f);
  EXPECT_EQ(element(all[6], 0, 0.0), 3.0);
  const Variable& addresses = all[7];
  ASSERT_EQ(addresses.addresses.size(), 4u);
  EXPECT_FALSE(addresses.addresses[0].generic);
  EXPECT_TRUE(addresses.addresses[2].generic);
  EXPECT_EQ(addresses.addresses[2].at, 24u);
  EXPECT_EQ(addresses.addresses[2].symbol, "bytes");
  EXPECT_EQ(addresses.addresses[2].offset, 12);
  EXPECT_EQ(all[8].bytes, 12u);
  EXPECT_EQ(element(all[8], 2, std::int16_t{}), -2);
  EXPECT_EQ(element(all[8], 4, std::int16_t{}), 0);
  EXPECT_EQ(element(all[8], 6, std::int16_t{}), 3);
  EXPECT_EQ(all[9].bytes, 8u);
  EXPECT_EQ(all[9].align, 8u);
  EXPECT_EQ(all[10].bytes, 32u);
  EXPECT_EQ(all[11].name, "later");
  EXPECT_FALSE(all[11].external);
  EXPECT_EQ(element(all[11], 0, 0), 7);
}

TEST(PtxReader, SizesOfTypes) {
  EXPECT_EQ(size_of(Type::kPredicate), 0u);
  EXPECT_EQ(size_of(Type::kBF16), 2u);
  EXPECT_EQ(size_of(Type::kF16x2), 4u);
  EXPECT_EQ(size_of(Type::kF64), 8u);
  EXPECT_EQ(size_of(Type::kB128), 16u);
}

TEST(PtxReader, AddressesOfVariablesHaveOffsets) {
  EXPECT_THAT(body_of(".local .align 4 .b8 l[16]; mov.u64 %rd1, l+8; mov.u64 %rd2, l;\n"
                      "ld.param.u64 %rd3, [p]; ld.local.u32 %r1, [l+-4];"),
              ElementsAre("mov.u64 %rd1, l+8", "mov.u64 %rd2, l", "ld.param.u64 %rd3, [p]",
                          "ld.local.u32 %r1, [l+-4]"));
}

}  // namespace
}  // namespace krl::ptx

// The analyses of control flow that decoding rests on.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plugins/backends/cpu/machine/decode/assignment.hpp"
#include "plugins/backends/cpu/machine/decode/decoder.hpp"
#include "plugins/backends/cpu/machine/decode/execution_order.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/ptx/reader.hpp"

namespace krl::machine {
namespace {

using Graph = std::vector<std::vector<std::uint32_t>>;

TEST(ExecutionOrder, JoinsComeAfterBothBranches) {
  const auto rank = execution_order({{1, 2}, {3}, {3}, {}});
  EXPECT_EQ(rank[0], 0u);
  EXPECT_EQ(rank[3], 3u);
}

TEST(ExecutionOrder, ALoopsExitComesAfterItsBodyWhateverTheTextsOrder) {
  // 0 -> 1 (head) -> {3 (exit), 2 (body)}, 2 -> 1
  for (const Graph& graph : {Graph{{1}, {3, 2}, {1}, {}}, Graph{{1}, {2, 3}, {1}, {}}}) {
    const auto rank = execution_order(graph);
    EXPECT_LT(rank[1], rank[2]);
    EXPECT_LT(rank[2], rank[3]);
  }
}

TEST(ExecutionOrder, InnerLoopsStayTogether) {
  // 0 -> 1 outer head -> 2 inner head -> 3 inner body -> 2; 2 -> 4 outer latch -> 1; 1 -> 5 exit
  const auto rank = execution_order({{1}, {5, 2}, {4, 3}, {2}, {1}, {}});
  EXPECT_LT(rank[2], rank[3]);
  EXPECT_LT(rank[3], rank[4]);
  EXPECT_LT(rank[4], rank[5]);
}

TEST(ExecutionOrder, EveryBlockHasARankOfItsOwn) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    Graph graph(1 + random() % 60);
    for (auto& successors : graph) {
      for (unsigned n = random() % 3; n > 0; --n)
        successors.push_back(static_cast<std::uint32_t>(random() % graph.size()));
    }
    auto ranks = execution_order(graph);
    ASSERT_EQ(ranks.size(), graph.size());
    std::sort(ranks.begin(), ranks.end());
    for (std::uint32_t i = 0; i < ranks.size(); ++i) ASSERT_EQ(ranks[i], i);
  }
}

TEST(ExecutionOrder, LongChainsAndDeepNestsEnd) {
  constexpr std::uint32_t kBlocks = 50'000;
  Graph chain(kBlocks), nest(kBlocks);
  for (std::uint32_t b = 0; b + 1 < kBlocks; ++b) chain[b] = {b + 1};
  for (std::uint32_t b = 0; b < kBlocks;
       ++b) {  // each block of the second half closes a loop around all within
    nest[b] = {std::min(b + 1, kBlocks - 1)};
    if (b >= kBlocks / 2) nest[b].push_back(kBlocks - 1 - b);
  }
  EXPECT_EQ(execution_order(chain)[kBlocks - 1], kBlocks - 1);
  EXPECT_EQ(execution_order(nest)[0], 0u);
}

// What no assembler takes: a kernel's own PTX may say it.
void expect_refused(const std::string& instruction, const std::string& right_instruction) {
  const auto kernel = [](const std::string& text) {
    return ptx::read_module(
        ".version 8.3\n.target sm_75\n.address_size 64\n"
        ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<2>;\n.reg .b64 %d<2>;\n"
        "ld.param.u64 %d1, [p];\n" +
            text + "\nret;\n}\n",
        "kernel.cu");
  };
  const auto wrong = kernel(instruction), right = kernel(right_instruction);
  ASSERT_FALSE(right.problem) << right_instruction;
  ASSERT_FALSE(wrong.problem) << instruction;
  EXPECT_NO_THROW(decode(right.module, {"k"})) << right_instruction;
  EXPECT_THROW(decode(wrong.module, {"k"}), Unsupported) << instruction;
}

TEST(Decode, RefusesAccessesOfTwoSpaces) {  // one of the two would be believed
  expect_refused("ld.param.local.u32 %r1, [p];", "ld.param.u32 %r1, [p];");
}

TEST(Decode, RefusesConstantsOf128Bits) {  // a constant is read as 64
  expect_refused("st.global.b128 [%d1], 5;", "st.global.b64 [%d1], 5;");
}

TEST(RegistersReadUnwritten, AreThoseWithAPathWithoutAWrite) {
  // 0: writes r0; branches to 1 (writes r1) or 2; both to 3, which reads r0, r1 and r2, then writes
  // r2
  const std::vector<BlockRegisters> blocks = {
      {{}, {0}, {1, 2}}, {{}, {1}, {3}}, {{}, {}, {3}}, {{0, 1, 2}, {2}, {3}}};
  EXPECT_EQ(registers_read_unwritten(blocks, 3), (std::vector<std::uint32_t>{1, 2}));
}

TEST(RegistersReadUnwritten, CountsWhatALoopWroteBefore) {
  // 0 writes nothing; 1 writes r0 and goes to 2, which reads it; 2 goes to 1
  const std::vector<BlockRegisters> blocks = {{{}, {}, {1}}, {{}, {0}, {2}}, {{0}, {}, {1}}};
  EXPECT_TRUE(registers_read_unwritten(blocks, 1).empty());
}

TEST(RegistersReadUnwritten, AreAllThatAreReadFirstInAHugeFunction) {
  std::vector<BlockRegisters> blocks(4096);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    blocks[b].read_first = {b};
    if (b + 1 < blocks.size()) blocks[b].successors = {b + 1};
  }
  EXPECT_EQ(registers_read_unwritten(blocks, 1'000'000).size(), blocks.size());
}

}  // namespace
}  // namespace krl::machine

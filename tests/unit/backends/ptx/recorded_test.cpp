// PTX that NVRTC 13.0 wrote for small kernels.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/unit/backends/ptx/module_text.hpp"
#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string recorded(const std::string& name) {
  std::ifstream file(KERNELRL_SOURCE_DIR "/tests/unit/backends/ptx/recorded/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> instructions(const Module& module, const Function& function) {
  std::vector<std::string> texts;
  for (const Instruction& instruction : function.body) {
    texts.push_back(instruction_text(module, function, instruction));
  }
  return texts;
}

TEST(RecordedPtx, IsKeptInstructionByInstruction) {
  const Module module = module_of(recorded("vector_add.ptx"));
  ASSERT_EQ(module.functions.size(), 1u);
  const Function& function = module.functions[0];
  EXPECT_THAT(
      instructions(module, function),
      ElementsAre(
          "ld.param.u64 %rd1, [_Z1kPKfS0_Pfi_param_0]",
          "ld.param.u64 %rd2, [_Z1kPKfS0_Pfi_param_1]",
          "ld.param.u64 %rd3, [_Z1kPKfS0_Pfi_param_2]", "ld.param.u32 %r2, [_Z1kPKfS0_Pfi_param_3]",
          "mov.u32 %r3, %ctaid.x", "mov.u32 %r4, %ntid.x", "mov.u32 %r5, %tid.x",
          "mad.lo.s32 %r1, %r3, %r4, %r5", "setp.ge.s32 %p1, %r1, %r2", "@%p1 bra L21",
          "cvta.to.global.u64 %rd4, %rd1", "mul.wide.s32 %rd5, %r1, 4", "add.s64 %rd6, %rd4, %rd5",
          "cvta.to.global.u64 %rd7, %rd2", "add.s64 %rd8, %rd7, %rd5", "ld.global.f32 %f1, [%rd8]",
          "ld.global.f32 %f2, [%rd6]", "add.f32 %f3, %f2, %f1", "cvta.to.global.u64 %rd9, %rd3",
          "add.s64 %rd10, %rd9, %rd5", "st.global.f32 [%rd10], %f3", "ret"));
  EXPECT_EQ(function.body[8].place.source, 3u);
  EXPECT_EQ(module.target, "sm_90");
  EXPECT_THAT(module.files, ElementsAre("", "kernel.cu"));
}

TEST(RecordedPtx, IsTheSameAfterItIsWrittenAndReadAgain) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(
           KERNELRL_SOURCE_DIR "/tests/unit/backends/ptx/recorded")) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    const std::string once = module_text(module_of(recorded(name)));
    EXPECT_THAT(once, HasSubstr(".entry"));
    EXPECT_EQ(module_text(module_of(once)), once);
    ++files;
  }
  EXPECT_GE(files, 7u);
}

}  // namespace
}  // namespace krl::ptx

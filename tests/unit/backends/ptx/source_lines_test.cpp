// .file and .loc: the candidate's line of each instruction.
#include <gmock/gmock.h>

#include "tests/unit/backends/ptx/ptx_texts.hpp"

namespace krl::ptx {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> lines_of(const std::string& body, const std::string& files,
                                    std::string_view candidate = "kernel.cu") {
  const ReadResult result = read_module(kernel(body) + files, candidate);
  EXPECT_FALSE(result.problem) << result.problem->message;
  std::vector<std::uint32_t> lines;
  for (const Instruction& instruction : result.module.functions.at(0).body) {
    lines.push_back(instruction.place.source);
  }
  lines.pop_back();  // of `ret`
  return lines;
}

constexpr char kFiles[] = ".file 1 \"/build/kernel.cu\"\n.file 2 \"helper.h\", 1700000000, 99\n";

TEST(PtxSourceLines, AreOfTheCandidatesFile) {
  EXPECT_THAT(lines_of("mov.u32 %r1, 0;\n.loc 1 12 3\nmov.u32 %r1, 1;\nmov.u32 %r1, 2;\n"
                       ".loc 2 99 1\nmov.u32 %r1, 3;\n.loc 1 0 0\nmov.u32 %r1, 4;",
                       kFiles),
              ElementsAre(0u, 12u, 12u, 0u, 0u));
}

TEST(PtxSourceLines, InlinedCodeHasTheOutermostLineOfTheCandidate) {
  EXPECT_THAT(
      lines_of(".loc 1 9 3\nmov.u32 %r1, 0;\n"
               ".loc 1 4 5, function_name $L__info_string0, inlined_at 1 9 3\nmov.u32 %r1, 1;\n"
               ".loc 2 70 5, function_name $L__info_string1, inlined_at 1 4 5\nmov.u32 %r1, 2;\n"
               ".loc 2 71 5, function_name $L__info_string1+4, inlined_at 2 70 5\nmov.u32 %r1, 3;\n"
               ".loc 2 80 1, function_name $L__info_string1, inlined_at 1 30 7\nmov.u32 %r1, 4;\n"
               ".loc 1 5 5, function_name $L__info_string1, inlined_at 2 60 1\nmov.u32 %r1, 5;",
               kFiles),
      ElementsAre(9u, 9u, 9u, 9u, 30u, 5u));
}

TEST(PtxSourceLines, AFileIsKnownByItsLastPart) {
  const std::string body = ".loc 1 3 1\nmov.u32 %r1, 0;";
  EXPECT_THAT(lines_of(body, ".file 1 \"kernel.cu\""), ElementsAre(3u));
  EXPECT_THAT(lines_of(body, ".file 1 \"/a/kernel.cu\"", "/a/kernel.cu"), ElementsAre(3u));
}

// A candidate may be PTX itself, which may have come from any file.
TEST(PtxSourceLines, AreThoseOfTheTextWithoutTheCandidatesFile) {
  const std::string body = ".loc 1 3 1\nmov.u32 %r1, 0;";
  EXPECT_THAT(lines_of(body, ".file 1 \"/a/other_kernel.cu\""), ElementsAre(7u));
  EXPECT_THAT(lines_of(body, ".file 1 \"kernel.cu\"", ""), ElementsAre(7u));
  EXPECT_THAT(lines_of(body, ""), ElementsAre(7u));
}

TEST(PtxSourceLines, AFunctionBeginsWithoutOne) {
  const Module module =
      module_of(std::string(kHead) + ".func f() { .loc 1 5 1\n bar.sync 0; ret; }\n" +
                ".func g() { bar.sync 0; .loc 1 8 1\n ret; }\n" + kFiles);
  EXPECT_EQ(module.functions.at(0).place.source, 5u);
  EXPECT_EQ(module.functions.at(1).body.at(0).place.source, 0u);
  EXPECT_EQ(module.functions.at(1).place.source, 8u);
  EXPECT_EQ(module.functions.at(1).place.line, 6u);
}

TEST(PtxSourceLines, AProblemHasOneToo) {
  const ReadResult result =
      read_module(kernel(".loc 1 21 3\nmov.u32 %r9, 0;\n") + kFiles, "kernel.cu");
  ASSERT_TRUE(result.problem);
  EXPECT_EQ(result.problem->place.line, 7u);
  EXPECT_EQ(result.problem->place.source, 21u);
}

TEST(PtxSourceLines, DebuggingInformationIsPassedOver) {
  const Module module = module_of(kernel("ret;") + kFiles +
                                  ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,78,0\n}\n"
                                  ".section .debug_info { .b32 2621\n.b64 $L__tmp1-4\n"
                                  ".b32 .debug_abbrev\n.b8 8 }");
  EXPECT_EQ(module.functions.size(), 1u);
}

}  // namespace
}  // namespace krl::ptx

#include <gtest/gtest.h>
#include <kernelrl/cuda_source.hpp>

#include <string>
#include <vector>

namespace krl {
namespace {

std::vector<std::string> texts(const std::string& source) {
  std::vector<std::string> result;
  for (const SourceToken& token : scan_cuda_source(source).tokens) result.push_back(token.text);
  return result;
}

using Texts = std::vector<std::string>;

TEST(CudaSource, TokensOfPlainCode) {
  EXPECT_EQ(texts("a+=1.5e3f;"), (Texts{"a", "+", "=", "1.5e3f", ";"}));
  EXPECT_EQ(texts("x = 1'000'000;"), (Texts{"x", "=", "1'000'000", ";"}));
  EXPECT_EQ(texts("k<<<1, 2>>>()"),
            (Texts{"k", "<", "<", "<", "1", ",", "2", ">", ">", ">", "(", ")"}));
}

TEST(CudaSource, CommentsAndLiteralsHoldNoCode) {
  EXPECT_EQ(texts("a /* b // c */ d // e\nf"), (Texts{"a", "d", "f"}));
  EXPECT_EQ(texts("\"a // b\" c"), (Texts{"\"a // b\"", "c"}));
  EXPECT_EQ(texts("\"a \\\" // b\" c"), (Texts{"\"a \\\" // b\"", "c"}));
  EXPECT_EQ(texts("'\"' c // \""), (Texts{"'\"'", "c"}));
  EXPECT_EQ(texts("R\"x(a // )\" \n)x\" c"), (Texts{"R\"x(a // )\" \n)x\"", "c"}));
  EXPECT_EQ(texts("u8R\"(\\\n)\" c").back(), "c");
  EXPECT_EQ(texts("\"never closed\nc"), (Texts{"\"never closed", "c"}));
  EXPECT_EQ(texts("/* never closed"), Texts{});
  EXPECT_FALSE(scan_cuda_source("\"x\" '#'").tokens[0].is("\"x\"")) << "a literal is no code";
}

TEST(CudaSource, DigraphsAreWhatTheyStandFor) {
  EXPECT_EQ(texts("%:define A <:0:> a%:%:b"),
            (Texts{"#", "define", "A", "[", "0", "]", "a", "##", "b"}));
  EXPECT_EQ(texts("a<::b>"), (Texts{"a", "<", ":", ":", "b", ">"}));
}

TEST(CudaSource, WhatCompilersDoNotAgreeOnIsAProblem) {
  const auto problem = [](const std::string& source) {
    const auto problems = scan_cuda_source(source).problems;
    return problems.empty() ? std::string() : std::string(problems.front().message);
  };
  EXPECT_EQ(problem("a \\\nb\r\n"), "");
  EXPECT_EQ(problem("a \x01"), "a control character");
  EXPECT_EQ(problem("a ?\?/"), "a trigraph");
  EXPECT_EQ(problem("R\"(a\\\nb)\""), "a backslash before the end of a line in a raw string");
  EXPECT_EQ(problem("R\"(a"), "a raw string without its end");
  EXPECT_EQ(problem("a \\ b"), "a backslash outside of a text");
  EXPECT_EQ(problem("a \xff"), "the byte 0xff");
  EXPECT_EQ(problem("x /*\n*/ #include"), "a '#' after a comment of several lines");
  EXPECT_EQ(problem("x /* */ #"), "");
  EXPECT_EQ(problem("/*\n*/ #include"), "");
  EXPECT_EQ(problem("1' /*"), "a quote directly after a number");
  const std::string separator = "a digit separator before a comment or text within #if";
  EXPECT_EQ(problem("#if 0\n1'0 /*"), separator);
  EXPECT_EQ(problem("#if 0\n1'0 \""), separator);
  EXPECT_EQ(problem("#if 0\n1'000'000 /* */\n1'0 // \n#endif\n1'0 /* */"), "");
}

TEST(CudaSource, ABlankAfterABackslashChangesNothingOrIsAProblem) {
  const auto is_problem = [](const std::string& source) {
    const auto problems = scan_cuda_source(source).problems;
    return !problems.empty() && problems[0].line == 1;
  };
  for (const char* blank : {" ", "\t", "\f", "\v", "\f\r", "  "}) {
    const std::string end = "\\" + std::string(blank) + "\n";
    for (const char* before : {"", "x ", "// ", "#define A ", "\"", "'", "\"\\", "/* *", "R\"("}) {
      EXPECT_TRUE(is_problem(before + end + "/ #include <x>")) << before << end;
    }
    EXPECT_FALSE(is_problem("// " + end + " \n#include <x>")) << "a blank line";
    EXPECT_FALSE(is_problem("// " + end + "  // " + end + "// x\n#include <x>")) << "a comment";
    EXPECT_FALSE(is_problem("// " + end)) << "the end";
    EXPECT_FALSE(is_problem("/* " + end + " */")) << "within a comment";
  }
}

TEST(CudaSource, SplicesJoinLines) {
  EXPECT_EQ(texts("__glo\\\nbal__ x"), (Texts{"__global__", "x"}));
  EXPECT_EQ(texts("/\\\n/ comment \\\n goes on\nx"), (Texts{"x"}));
  EXPECT_EQ(texts("1\\\n2"), (Texts{"12"}));
  EXPECT_EQ(texts("a \\\r\n b"), (Texts{"a", "b"}));
}

TEST(CudaSource, LinesAreCountedThroughSplicesAndRawStrings) {
  const ScannedSource source = scan_cuda_source("a \\\n b\nR\"(\n\n)\" c\nd");
  ASSERT_EQ(source.tokens.size(), 5u);
  EXPECT_EQ(source.tokens[1].line, 2U);
  EXPECT_EQ(source.tokens[3].line, 5U);
  EXPECT_EQ(source.tokens[4].line, 6U);
}

TEST(CudaSource, LineCommentsKnowWhetherTheyBeginTheirLine) {
  const auto comments =
      scan_cuda_source("// one\n  // two\nx; // three\n/**/ // four\n#define A \\\n// five\n")
          .comments;
  ASSERT_EQ(comments.size(), 5u);
  EXPECT_EQ(comments[0].text, " one");
  EXPECT_TRUE(comments[0].starts_line);
  EXPECT_EQ(comments[0].column, 3);
  EXPECT_TRUE(comments[1].starts_line);
  EXPECT_EQ(comments[1].column, 5);
  EXPECT_FALSE(comments[2].starts_line);
  EXPECT_FALSE(comments[3].starts_line);
  EXPECT_FALSE(comments[4].starts_line);
  EXPECT_TRUE(scan_cuda_source("// a \\\n b").comments[0].spliced);
  EXPECT_TRUE(scan_cuda_source("// a \\\n").comments[0].spliced);
  EXPECT_FALSE(scan_cuda_source("a \\\n // b").comments[0].spliced);
  EXPECT_EQ(scan_cuda_source("// a\r\nb").comments[0].text, " a");
}

std::vector<KernelHead> kernels(const std::string& source) {
  return find_kernels(scan_cuda_source(source));
}

TEST(CudaSource, HeadsOfKernels) {
  const auto found = kernels(R"(
    __global__ void first(const float* __restrict__ x, float y[], int n = 3);
    extern "C" __global__ void __launch_bounds__(256, 2) second(void) {}
    __global__ void first(const float* x, float y[], int n) {}
    template <int N, class T> __global__ void third(T* out) {}
    // __global__ void fourth() {}
    const char* text = "__global__ void fifth() {}";
  )");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].name, "first");
  EXPECT_EQ(found[0].line, 2);
  ASSERT_EQ(found[0].parameters.size(), 3u);
  EXPECT_EQ(found[0].parameters[0].name, "x");
  EXPECT_EQ(found[0].parameters[0].type, "const float * __restrict__");
  EXPECT_TRUE(found[0].parameters[0].is_pointer);
  EXPECT_EQ(found[0].parameters[1].name, "y");
  EXPECT_TRUE(found[0].parameters[1].is_pointer);
  EXPECT_EQ(found[0].parameters[2].name, "n");
  EXPECT_FALSE(found[0].parameters[2].is_pointer);
  EXPECT_EQ(found[1].name, "second");
  EXPECT_TRUE(found[1].parameters.empty());
  EXPECT_FALSE(found[1].is_template);
  EXPECT_EQ(found[2].name, "third");
  EXPECT_TRUE(found[2].is_template);
}

TEST(CudaSource, AnIncludeMakesNoTemplate) {
  const auto is_template = [](const char* source) { return kernels(source).at(0).is_template; };
  EXPECT_FALSE(is_template("#include <cuda_fp16.h>\n__global__ void k(float* x) {}"));
  EXPECT_FALSE(is_template("#include <a>\n#include <b>\nextern \"C\" __global__ void k() {}"));
  EXPECT_TRUE(is_template("#include <a>\ntemplate <int N, class T = A<N>> __global__ void k() {}"));
}

TEST(CudaSource, BrokenHeadsAreNoKernels) {
  for (const char* source :
       {"__global__", "__global__ void", "__global__ void (", "__global__ ; void k() {}",
        "__global__ } k(", "__global__ 3(", "__global__ __launch_bounds__("}) {
    EXPECT_TRUE(kernels(source).empty()) << source;
  }
  EXPECT_EQ(kernels("__global__ void k(int a, float").size(), 1u);
}

}  // namespace
}  // namespace krl

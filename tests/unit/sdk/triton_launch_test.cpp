#include <gtest/gtest.h>
#include <kernelrl/launch.hpp>
#include <kernelrl/python_source.hpp>

#include <string>
#include <vector>

#include "tests/unit/sdk/task_texts.hpp"

namespace krl {
namespace {

std::string where(const SourceError& error) {
  return std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message;
}

// "kernel grid block(number of arguments); …" of the directives above a kernel of the softmax task with
// so many rows and columns, or "line:column: message".
std::string triton_launches(const std::string& directives, std::int64_t rows = 4,
                            std::int64_t cols = 1024) {
  const TaskDefinition task = softmax_task();
  const auto sizes = resolve_case(task, {{"rows", rows}, {"cols", cols}});
  const auto program = read_launches(
      "import triton\n" + directives +
          "\n@triton.jit\ndef k(x, y, scale, n, m, BLOCK: tl.constexpr, ACT: tl.constexpr = 'no'):\n",
      task);
  if (!program) return where(program.error());
  const auto launches = resolve_launches(*program, *sizes);
  if (!launches) return where(launches.error());
  std::string text;
  for (const ResolvedLaunch& launch : launches->launches) {
    text += (text.empty() ? "" : "; ") + launch.kernel + " " + std::to_string(launch.grid[0]) +
            "x" + std::to_string(launch.grid[1]) + " " + std::to_string(launch.block[0]) + "(" +
            std::to_string(launch.arguments.size()) + ")";
  }
  return text;
}

TEST(TritonLaunch, NamesWhatAKernelIsCompiledFor) {
  EXPECT_EQ(triton_launches("# @launch k[(rows,)](x, y, scale, cols, 3, BLOCK=next_pow2(cols))"),
            "k(*fp32:16, *fp32:16, fp32, i32:16, i32, BLOCK=1024) 4x1 128(7)");
  EXPECT_EQ(
      triton_launches("# @launch k[(rows, 2)](x, y, scale, n=cols, m=7 - 6, BLOCK=64, num_warps=8)",
                      4, 5),
      "k(*fp32:16, *fp32:16, fp32, i32, 1, BLOCK=64, num_warps=8) 4x2 256(6)")
      << "an integer 1 is compiled in";
  EXPECT_EQ(
      triton_launches("# @launch k[rows](x, y, scale, cols * cols * cols, 2, 8, \"relu, or not\")",
                      4, 2000),
      "k(*fp32:16, *fp32:16, fp32, i64:16, i32, BLOCK=8, ACT=\"relu, or not\") 4x1 128(7)");
}

TEST(TritonLaunch, AGridMayUseTheConstants) {
  EXPECT_EQ(
      triton_launches("# @scratch part float16[rows]\n"
                      "# @launch k[(ceil_div(cols, BLOCK),)](x, part, scale, 2, 2, BLOCK=100)\n"
                      "# @launch k[1](part, y, scale, 2, 2, 4, ACT=True, num_stages=1)"),
      "k(*fp32:16, *fp16:16, fp32, i32, i32, BLOCK=100) 11x1 128(7); "
      "k(*fp16:16, *fp32:16, fp32, i32, i32, BLOCK=4, ACT=True, num_stages=1) 1x1 128(7)");
}

TEST(TritonLaunch, WordsOfPythonAreUnderstood) {
  EXPECT_EQ(triton_launches("# @launch k[(triton.cdiv(cols, 100), cols // 512)](x, y, scale, 2, 2, "
                            "BLOCK=triton.next_power_of_2(cols - 3))"),
            "k(*fp32:16, *fp32:16, fp32, i32, i32, BLOCK=1024) 11x2 128(7)");
}

TEST(TritonLaunch, ErrorsSayWhereAndWhat) {
  const std::vector<std::pair<const char*, const char*>> wrong = {
      {"",
       "1:1: Triton does not say what runs: begin with the line "
       "`# @launch kernel[(grid,)](arguments)`"},
      {"# @launch k<<<1, 2>>>(x)",
       "2:12: expected '[': a directive is `# @launch kernel[(grid,)](arguments)`"},
      {"# @launch kk[1](x)", "2:11: no function with @triton.jit is called 'kk'; known: k"},
      {"# @launch k[(rows, row)](x, y, scale, 1, 1, 1)",
       "2:20: unknown name 'row'; did you mean 'rows'?"},
      {"# @launch k[(0,)](x, y, scale, 1, 1, 1)", "2:9: grid.x is 0; it must be 1 to 2147483647"},
      {"# @launch k[1](x, y, scale, 1, 1)", "2:11: 'BLOCK' has no value"},
      {"# @launch k[1](x, y, BLOCK=1)", "2:11: 'scale' has no value"},
      {"# @launch k[1](x, y, scale, 1, 1, BLOK=1)",
       "2:35: 'BLOK' is no parameter of k; did you mean 'BLOCK'?"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, BLOCK=1)", "2:38: 'BLOCK' is given twice"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, 3, 4)", "2:41: k takes 7 arguments"},
      {"# @launch k[1](x, y, 0.5, 1, 1, 2)",
       "2:22: 'scale' is given a constant, which only a tl.constexpr can be"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, num_warps=\"8\")", "2:38: num_warps is an integer"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, num_ctas=2)",
       "2:38: clusters (num_ctas) are not supported"},
      {"# @launch k[1](x, y, scale, 1, 1, BLOCK=colls)",
       "2:41: unknown name 'colls'; did you mean 'cols'?"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, num_warps=64)",
       "2:48: num_warps is 64; it must be a power of 2, at most 32"},
      {"# @launch k[1](x, y, scale, 1, 1, 2, num_warps=3)",
       "2:48: num_warps is 3; it must be a power of 2, at most 32"},
      {"# @launch k[1](x, y, scale, 1, 1, 1.5-3e)",
       "2:40: a number cannot be followed by a letter"},
      {"# @launch k[1](x, y, scale, 1, 1, 1.5-3.5)", "2:35: expected an integer, found 1.5"},
      {"# @scratch s float[4]\n# @launch k[1](x, s, scale, 1, 1, 2)",
       "2:14: unknown type 'float'; known: float32, float16, bfloat16, float64, int64, int32, int16, "
       "int8, uint64, uint32, uint8, bool"},
  };
  for (const auto& [directives, message] : wrong) EXPECT_EQ(triton_launches(directives), message);
}

TEST(PythonSource, TokensCommentsAndStrings) {
  const ScannedSource source = scan_python_source(
      "# one\nx = 'a # b' # two\n'''\n# not this\n''' # three\nf(a,\n  # four\n  b)\\\n  + 1\n");
  std::string tokens, comments;
  for (const SourceToken& token : source.tokens)
    tokens += (token.starts_line ? "\n" : " ") + token.text;
  EXPECT_EQ(tokens, "\nx = 'a # b'\n'''\n# not this\n'''\nf ( a , b ) + 1");
  for (const LineComment& comment : source.comments)
    comments += comment.text + (comment.starts_line ? "!" : "");
  EXPECT_EQ(comments, " one! two three four")
      << "a directive begins its line, and no brackets are open";
}

// What follows a string that ends on a later line is code, whichever line ends the text has.
TEST(PythonSource, StringsGoOnBehindASplice) {
  for (const char* end : {"\n", "\r\n"}) {
    const ScannedSource source =
        scan_python_source(std::string("s = \"a\\") + end + "\"; hidden = 1\n");
    EXPECT_TRUE(source.mentions("hidden"));
    EXPECT_EQ(source.tokens.back().line, 2u);
  }
}

TEST(PythonSource, HeadsOfCompiledFunctions) {
  const auto kernels = find_triton_kernels(scan_python_source(
      "@triton.jit\ndef a(x, n: int, B: tl.constexpr = f(1, 2)):\n  pass\n"
      "def host(x): pass\n@other\n@triton.jit(noinline=True)\ndef b(): pass\n@jit\ndef c(x,): pass\n"));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].name, "a");
  ASSERT_EQ(kernels[0].parameters.size(), 3u);
  EXPECT_FALSE(is_constexpr(kernels[0].parameters[1]));
  EXPECT_TRUE(is_constexpr(kernels[0].parameters[2]));
  EXPECT_TRUE(kernels[0].parameters[2].has_default);
  EXPECT_EQ(kernels[1].name, "b");
  EXPECT_EQ(kernels[2].parameters.size(), 1u);
}

TEST(Language, OfATextIsToldByItsFirstWords) {
  EXPECT_EQ(language_of("// a kernel\n/* .version */ .version 8.0"), Language::kPtx);
  EXPECT_EQ(language_of("\"\"\"A kernel.\"\"\"\nimport triton.language as tl\n"),
            Language::kTriton);
  EXPECT_EQ(language_of("from triton import jit"), Language::kTriton);
  EXPECT_EQ(language_of("// import triton\n__global__ void k() {}"), Language::kCuda);
  EXPECT_EQ(language_of("/* without an end"), Language::kCuda);
  EXPECT_EQ(language_of(""), Language::kCuda);
}

}  // namespace
}  // namespace krl

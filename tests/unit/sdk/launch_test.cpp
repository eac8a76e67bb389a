#include <gtest/gtest.h>
#include <kernelrl/launch.hpp>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/sdk/task_texts.hpp"

namespace krl {
namespace {

// "kernel grid block shared(arguments); …" with the numbers of the first case, or "line:column:
// message".
std::string launches_of(const std::string& source, const LaunchLimits& limits = {}) {
  const TaskDefinition task = softmax_task();
  const auto resolved = resolve_case(task, task.cases[0]);
  const auto place = [](const SourceError& error) {
    return std::to_string(error.line) + ":" + std::to_string(error.column) + ": " + error.message;
  };
  const auto program = read_launches(source, task);
  if (!program) return place(program.error());
  const auto launches = resolve_launches(*program, *resolved, limits);
  if (!launches) return place(launches.error());
  std::string text;
  for (const ResolvedLaunch& launch : launches->launches) {
    text += (text.empty() ? "" : "; ") + launch.kernel;
    for (const Dim3& size : {launch.grid, launch.block}) {
      text += " " + std::to_string(size[0]) + "x" + std::to_string(size[1]) + "x" +
              std::to_string(size[2]);
    }
    text += " " + std::to_string(launch.shared_bytes) + "(";
    for (const LaunchArgument& argument : launch.arguments) {
      const bool number = argument.kind == LaunchArgument::kInteger;
      text += std::string(text.back() == '(' ? "" : ", ") + "tbsim"[argument.kind] +
              std::to_string(number ? argument.integer : static_cast<std::int64_t>(argument.index));
    }
    text += ")";
  }
  for (const ResolvedTensorMap& map : launches->tensor_maps) {
    text += "; " + map.name + " of " + "tb"[map.buffer.kind] + std::to_string(map.buffer.index) +
            " x" + std::to_string(map.element_bytes);
    for (std::size_t i = 0; i < map.sizes.size(); ++i)
      text += " " + std::to_string(map.sizes[i]) + "/" + std::to_string(map.box[i]);
    text += " swizzle " + std::to_string(map.swizzle);
  }
  return text;
}

const std::string kKernel = "\n__global__ void k(float* x) {}\n";

TEST(Launch, DirectivesInOrder) {
  EXPECT_EQ(
      launches_of("// @scratch part float[ceil_div(x.size, 32)]\n"
                  "// @launch k<<<part.size, 256, 32 * 4>>>(x, part, rows * cols, scale)\n"
                  "// @launch last<<<dim3(half, 2), dim3(8, 8, 2)>>>(part, y, part.size, steps)\n"
                  "__global__ void k() {}\n__global__ void last() {}\n"),
      "k 2x1x1 256x1x1 128(t0, b0, i48, s0); last 8x2x1 8x8x2 0(b0, t2, i2, s1)");
}

TEST(Launch, TensorMaps) {
  EXPECT_EQ(launches_of("// @tensor_map flat x[x.size] box[16]\n"
                        "// @scratch half_of half[x.size * 64]\n"
                        "// @tensor_map tiles half_of[rows, cols, 64] box[2, 1, 32] swizzle 64;\n"
                        "// @launch k<<<1, 32>>>(tiles, flat, x)" +
                        kKernel),
            "k 1x1x1 32x1x1 0(m1, m0, t0); flat of t0 x4 48/16 swizzle 0; "
            "tiles of b0 x2 3/2 16/1 64/32 swizzle 64");
  EXPECT_EQ(
      launches_of("// @tensor_map m x[rows, 15] box[1, 4]\n// @launch k<<<1, 32>>>(m)" + kKernel),
      "k 1x1x1 32x1x1 0(m0); m of t0 x4 swizzle 0")
      << "rows of 60 bytes have no map";
}

TEST(Launch, FormsThatAreTolerated) {
  EXPECT_EQ(launches_of("  //@launch k <<< 1 , 32 >>> ( x , 2 ) ;  " + kKernel),
            "k 1x1x1 32x1x1 0(t0, i2)");
  EXPECT_EQ(launches_of("// @launch k<float, 4><<<1, 32>>>()" + kKernel),
            "k<float, 4> 1x1x1 32x1x1 0()");
  for (const std::string kernel : {"k<sizeof(float) * 2>", "k<(4 > 2)>", "k<&f>", "k<'a'>",
                                   "k<(1 << 3)>", "k<A<B<int>>, -1>", "a::k<a::T::value / 2>"}) {
    EXPECT_EQ(launches_of("// @launch " + kernel + "<<<1, 32>>>()" + kKernel),
              kernel + " 1x1x1 32x1x1 0()");
  }
  EXPECT_EQ(launches_of("// @launch k<<<1, 32>>>()\r" + kKernel), "k 1x1x1 32x1x1 0()");
  EXPECT_EQ(launches_of("// @author me\n// @launch k<<<rows > 2 ? 5 : 6, 32>>>()" + kKernel),
            "k 5x1x1 32x1x1 0()");
  EXPECT_EQ(
      launches_of("#define K(n) __global__ void n() {}\nK(made)\n// @launch made<<<1, 32>>>()\n"),
      "made 1x1x1 32x1x1 0()");
}

TEST(Launch, OnlyRealLineCommentsAreDirectives) {
  const std::string expected = "k 1x1x1 256x1x1 0(t0, i3)";
  const std::string kernel = "__global__ void k(float* x, float rows) {}\n";
  for (const char* decoy :
       {"/*\n// @launch bad<<<1, 1>>>()\n*/", "const char* a = \"\\\n// @launch bad\";",
        "R\"(\n// @launch bad<<<1, 1>>>()\n)\";", "int a; // @launch bad<<<1, 1>>>()",
        "#define A \\\n// @launch bad<<<1, 1>>>()\n"}) {
    EXPECT_EQ(launches_of(std::string(decoy) + "\n" + kernel), expected) << decoy;
  }
}

TEST(Launch, DefaultLaunchByNameOrOrder) {
  EXPECT_EQ(launches_of("__global__ void k(float* y, const float* x, int cols) {}"),
            "k 1x1x1 256x1x1 0(t2, t0, i16)");
  EXPECT_EQ(launches_of("__global__ void k(const float* a, const int* b, float* c, float s, int t, "
                        "int r, int q, int h, "
                        "int m) {}"),
            "k 1x1x1 256x1x1 0(t0, t1, t2, s0, s1, i3, i16, i8, i5)");
  EXPECT_EQ(launches_of("__global__ void k(const float* a, const int* b, float* c, int cols) {}"),
            "k 1x1x1 256x1x1 0(t0, t1, t2, i16)");
}

TEST(Launch, DefaultLaunchThatCannotBe) {
  const std::string say = ": say with `// @launch kernel<<<grid, block>>>(arguments)` what runs";
  EXPECT_EQ(launches_of("int x;"), "1:1: there is no __global__ function");
  EXPECT_EQ(launches_of("__global__ void a() {}\n__global__ void b() {}"),
            "2:1: there are 2 __global__ functions" + say);
  EXPECT_EQ(launches_of("template <int N>\n__global__ void k(float* x) {}"),
            "2:1: 'k' is a template" + say);
  EXPECT_EQ(
      launches_of("__global__ void k(float* a) {}"),
      "1:1: the parameters of 'k' are not the task's tensors, scalars and axes (x, keys, y, scale, steps, rows, cols, half, taps)" +
          say);
}

TEST(Launch, ErrorsSayWhereAndWhat) {
  const std::string form = "a directive is `// @launch kernel<<<grid, block>>>(arguments)`";
  const std::string map_form = "// @tensor_map name buffer[sizes] box[sizes] swizzle bytes";
  const std::vector<std::pair<std::string, std::string>> expectations = {
      {"// @lunch k<<<1, 2>>>()", "1:4: unknown directive '@lunch'; did you mean '@launch'?"},
      {"// @launch", "1:11: expected the name of a kernel: " + form},
      {"// @launch 3<<<1, 2>>>()", "1:11: expected the name of a kernel: " + form},
      {"// @launch k<1; 2><<<1, 2>>>()", "1:15: ';' in the arguments of a template"},
      {"// @launch k<1)+(2><<<1, 2>>>()", "1:15: ')' in the arguments of a template"},
      {"// @launch k<(1><<<1, 2>>>()", "1:14: '(' in the arguments of a template"},
      {"// @launch k<1 /* */><<<1, 2>>>()", "1:16: '/' in the arguments of a template"},
      {"// @launch k; } evil(<<<1, 2>>>()", "1:11: expected the name of a kernel: " + form},
      {"// @launch k(1, 2)", "1:11: expected the name of a kernel: " + form},
      {"// @launch k<<<1, 2", "1:20: expected ',' or '>>>'"},
      {"// @launch k<<<1>>>()",
       "1:20: <<<…>>> takes grid, block and perhaps shared bytes, not 1 values"},
      {"// @launch k<<<1, 2>>>", "1:23: expected '(': " + form},
      {"// @launch k<<<1, 2>>>(x", "1:25: expected ',' or ')'"},
      {"// @launch k<<<1, 2>>>(x,)", "1:26: expected another expression after ','"},
      {"// @launch k<<<1, 2>>>(x) now", "1:27: nothing may follow the directive on its line"},
      {"// @launch k<<<1, 2>>>(x) \\\nx", "1:4: a directive must stand on one line"},
      {"// @launch k<<<1 +, 2>>>()", "1:19: expected a number, a name or '(', found the end"},
      {"// @launch k<<<1, rowz>>>()", "1:19: unknown name 'rowz'; did you mean 'rows'?"},
      {"// @launch k<<<1, x>>>()", "1:19: 'x' is not an integer"},
      {"// @launch k<<<1, 2>>>(x + 1)", "1:24: 'x' is not an integer: pass it alone"},
      {"// @launch k<<<1, 2>>>(scala)", "1:24: unknown name 'scala'; did you mean 'scale'?"},
      {"// @launch kernl<<<1, 2>>>()\n__global__ void kernel() {}",
       "1:12: no kernel is called 'kernl'; did you mean 'kernel'?"},
      {"// @launch k<<<rows - 3, 2>>>()", "1:16: grid.x is 0; it must be 1 to 2147483647"},
      {"// @launch k<<<dim3(1, 70000), 2>>>()", "1:16: grid.y is 70000; it must be 1 to 65535"},
      {"// @launch k<<<1, 2048>>>()", "1:19: block.x is 2048; it must be 1 to 1024"},
      {"// @launch k<<<1, dim3(64, 64)>>>()",
       "1:19: the block has 4096 threads; at most 1024 are possible"},
      {"// @launch k<<<1, 2, -1>>>()",
       "1:22: dynamic shared memory is -1 bytes; it must be 0 to 232448"},
      {"// @launch k<<<1 / (rows - 3), 2>>>()", "1:18: division by zero"},
      {"// @scratch 7 float[3]",
       "1:13: expected the name of the buffer: a directive is `// @scratch name type[elements]`"},
      {"// @scratch p flot[3]", "1:15: unknown type 'flot'; did you mean 'float'?"},
      {"// @scratch p float",
       "1:20: expected '[': a directive is `// @scratch name type[elements]`"},
      {"// @scratch p float[]", "1:22: a scratch buffer has one size"},
      {"// @scratch x float[3]", "1:21: the name of the scratch buffer 'x' is taken"},
      {"// @scratch p float[q.size]", "1:21: unknown name 'q.size'; did you mean 'x.size'?"},
      {"// @scratch p float[rows - 3]\n// @launch k<<<1, 1>>>()",
       "1:21: the scratch buffer 'p' would have 0 elements"},
      {"// @tensor_map 3 x[4] box[4]",
       "1:16: expected the name of the map: a directive is `" + map_form + "`"},
      {"// @tensor_map m x[4]", "1:22: expected 'box': a directive is `" + map_form + "`"},
      {"// @tensor_map m x[] box[]", "1:27: a tensor map has 1 to 5 sizes"},
      {"// @tensor_map m x[1, 1, 1, 1, 1, 4] box[4]", "1:44: a tensor map has 1 to 5 sizes"},
      {"// @tensor_map m x[3, 16] box[4]", "1:33: a box has as many sizes as its tensor: 2"},
      {"// @tensor_map m x[4] box[4] swizzle",
       "1:37: expected a number, a name or '(', found the end"},
      {"// @tensor_map m x[4] box[4] l2 128", "1:30: nothing may follow the directive on its line"},
      {"// @tensor_map x x[4] box[4]", "1:16: the name of the tensor map 'x' is taken"},
      {"// @tensor_map m z[4] box[4]", "1:16: unknown buffer 'z'; known: x, keys, y"},
      {"// @tensor_map m x[colz] box[4]", "1:20: unknown name 'colz'; did you mean 'cols'?"},
      {"// @tensor_map m x[49] box[4]\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': its sizes have more elements than x, which has 48, or none"},
      {"// @tensor_map m x[9223372036854775807, 4] box[4, 4]\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': its sizes have more elements than x, which has 48, or none"},
      {"// @tensor_map m x[48] box[257]\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': a box of 257; each size is 1 to 256"},
      {"// @tensor_map m x[48] box[3]\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': a box with rows of 12 bytes; they must be a multiple of 16"},
      {"// @tensor_map m x[48] box[4] swizzle 16\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': swizzle 16; it is 0, 32, 64 or 128"},
      {"// @tensor_map m x[48] box[12] swizzle 32\n// @launch k<<<1, 1>>>(m)",
       "1:16: the tensor map 'm': a box with rows of 48 bytes; with swizzle 32 they have so many"},
      {"// @scratch big char[16777216]\n// @tensor_map m big[256, 256, 256] box[256, 256, 256]\n"
       "// @launch k<<<1, 1>>>(m)",
       "2:16: the tensor map 'm': a box of 16777216 bytes; shared memory has at most 232448"},
      {"// @scratch d double2[8]\n// @tensor_map m d[8] box[4]\n// @launch k<<<1, 1>>>(m)",
       "2:16: the tensor map 'm': elements of 16 bytes; at most 8"},
  };
  for (const auto& [source, error] : expectations) {
    const bool has_kernel = source.find("__global__") != std::string::npos;
    const std::string rest = has_kernel ? "" : "\n__global__ void k(float* x) {}";
    EXPECT_EQ(launches_of(source + rest), error) << source;
  }
}

TEST(Launch, LimitsHold) {
  LaunchLimits limits;
  limits.scratch_bytes = 100;
  const std::string launch = "// @launch k<<<1, 1>>>(p)" + kKernel;
  EXPECT_EQ(launches_of("// @scratch p float[25]\n" + launch, limits), "k 1x1x1 1x1x1 0(b0)");
  EXPECT_EQ(launches_of("// @scratch p float[26]\n" + launch, limits),
            "1:21: the scratch buffers take more than 100 bytes together");
  EXPECT_EQ(launches_of("// @scratch p double4[1]\n" + launch, limits).substr(0, 19),
            "1:15: unknown type ");
  std::string many;
  for (int i = 0; i < 33; ++i) many += "// @launch k<<<1, 1>>>()\n";
  EXPECT_EQ(launches_of(many + kKernel), "33:25: a candidate has at most 32 launches");
}

}  // namespace
}  // namespace krl

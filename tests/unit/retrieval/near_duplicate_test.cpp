// What counts as the same text: renamed, reformatted and translated kernels do, kernels that
// compute something else do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/python/tokens.hpp"
#include "plugins/retrieval/duplicates/near_duplicate.hpp"
#include "plugins/retrieval/duplicates/normal_form.hpp"

namespace krl::retrieval {
namespace {

const std::string kSoftmax = R"(// launch: grid = rows, block = 256
#include <cuda_runtime.h>
#define TILE 256
__device__ float larger(float a, float b) { return a > b ? a : b; }
extern "C" __global__ void softmax(const float* __restrict__ x, float* y, int columns) {
  __shared__ float part[TILE];
  const float* row = x + blockIdx.x * columns;
  float largest = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += TILE) largest = larger(largest, row[i]);
  part[threadIdx.x] = largest;
  __syncthreads();
  /* one thread does the rest */
  for (int i = threadIdx.x; i < columns; i += TILE) y[blockIdx.x * columns + i] = expf(row[i] - part[0]);
}
)";

// Other names, other layout, other comments, another block, and without the qualifiers.
const std::string kRenamed = R"(#include <cuda_runtime.h>
#include <math.h>
#define B 128
__device__ __forceinline__ float mx(const float p,
                                    const float q)
{ return p > q ? p : q; }

__global__ void __launch_bounds__(128)
sm(float* in, float* __restrict__ out, int n)
{
    __shared__ float s[B];
    float* r = in + blockIdx.x * n; // the row
    float m = -INFINITY;
    for (int k = threadIdx.x; k < n; k += B)
        m = mx(m, r[k]);
    s[threadIdx.x] = m;
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += B)
        out[blockIdx.x * n + k] = expf(r[k] - s[0]);
}
)";

std::string in_python(const std::string& cuda, const std::string& kernel) {
  return "import torch\nfrom torch.utils.cpp_extension import load_inline\n\nsource = '''" + cuda +
         R"(
torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty_like(x);
  )" + kernel +
         R"(<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
'''

class ModelNew(torch.nn.Module):
    """Fast."""
    def __init__(self):
        super().__init__()
        self.ops = load_inline(name="sm", cuda_sources=source, functions=["forward"])

    def forward(self, x):
        return self.ops.forward(x)
)";
}

std::optional<Likeness> compared(const std::string& a, const std::string& b) {
  const auto there = likeness(identity_of(a), identity_of(b));
  EXPECT_EQ(there, likeness(identity_of(b), identity_of(a)));
  return there;
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(NearDuplicate, TheSameText) { EXPECT_EQ(compared(kSoftmax, kSoftmax), Likeness::kSameText); }

TEST(NearDuplicate, RenamedAndReformatted) {
  EXPECT_EQ(compared(kSoftmax, kRenamed), Likeness::kSameSource);
}

TEST(NearDuplicate, TranslatedIntoAnotherContract) {
  EXPECT_EQ(compared(kSoftmax, in_python(kRenamed, "sm")), Likeness::kSameKernel);
  EXPECT_EQ(compared(in_python(kSoftmax, "softmax"), in_python(kRenamed, "sm")),
            Likeness::kSameSource);
}

TEST(NearDuplicate, AVariableMayHaveATypesName) {
  const std::string named_half =
      with(with(kSoftmax, "float largest =", "int half = columns / 2;\n  float largest ="),
           "i < columns; i += TILE) y", "i < half; i += TILE) y");
  const std::string named_middle =
      with(with(kSoftmax, "float largest =", "int middle = columns / 2;\n  float largest ="),
           "i < columns; i += TILE) y", "i < middle; i += TILE) y");
  EXPECT_EQ(compared(named_half, named_middle), Likeness::kSameSource);
  EXPECT_NE(compared(with(kSoftmax, "float largest =", "half largest ="), kSoftmax),
            Likeness::kSameSource);
}

// Not the same, but most of it.
TEST(NearDuplicate, AnotherFunctionOrOperandIsSimilar) {
  EXPECT_EQ(compared(kSoftmax, with(kSoftmax, "expf(", "logf(")), Likeness::kSimilarSource);
  EXPECT_EQ(compared(kSoftmax, with(kSoftmax, "row[i] - part[0]", "part[0] - row[i]")),
            Likeness::kSimilarSource);
  EXPECT_EQ(compared(kSoftmax, with(kSoftmax, "threadIdx.x; i <", "threadIdx.y; i <")),
            Likeness::kSimilarSource);
}

// One more name, which changes the numbers of all that come after it.
TEST(NearDuplicate, AnAddedStatementIsSimilarInAnyContract) {
  const std::string added = with(kRenamed, "__shared__ float s[B];",
                                 "const int lane = threadIdx.x;\n__shared__ float s[B];");
  EXPECT_EQ(compared(kSoftmax, added), Likeness::kSimilarSource);
  EXPECT_EQ(compared(kSoftmax, in_python(added, "sm")), Likeness::kSimilarSource);
}

TEST(NearDuplicate, AnotherStructureIsAnotherKernel) {
  EXPECT_EQ(compared(kSoftmax, R"(
__global__ void softmax(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = -INFINITY, sum = 0;
  for (int i = 0; i < columns; ++i) largest = fmaxf(largest, x[row * columns + i]);
  for (int i = 0; i < columns; ++i) sum += expf(x[row * columns + i] - largest);
  for (int i = 0; i < columns; ++i) y[row * columns + i] = expf(x[row * columns + i] - largest) / sum;
}
)"),
            std::nullopt);
}

const std::string kModel = R"(import torch
import torch.nn as nn

class Model(nn.Module):
    """Applies a linear layer."""
    def __init__(self, width):
        super(Model, self).__init__()
        self.linear = nn.Linear(width, 64)  # the layer

    def forward(self, x):
        '''x: rows'''
        return torch.relu(self.linear(x))
)";

TEST(NearDuplicate, PythonRenamedAndReformatted) {
  const std::string renamed = R"(import torch, math
import torch.nn as nn
class Net(nn.Module):
  def __init__(self, d):
    super(Net, self).__init__()
    self.fc = nn.Linear(d,
                        128)
  def forward(self, rows):
    # comment
    return torch.relu(self.fc(rows))
)";
  EXPECT_EQ(compared(kModel, renamed), Likeness::kSameSource);
}

TEST(NearDuplicate, PythonThatCallsSomethingElse) {
  EXPECT_EQ(compared(kModel, with(kModel, "torch.relu", "torch.tanh")), std::nullopt);
}

TEST(NearDuplicate, ProseIsComparedByItsWords) {
  EXPECT_EQ(compared("Compute the sum of each row of a matrix in one pass.",
                     "compute the  sum of each\nrow of a matrix, in one pass"),
            Likeness::kSameSource);
  EXPECT_EQ(compared("Compute the sum of each row of a matrix in one pass.",
                     "Find the largest value of every column of some input tensor."),
            std::nullopt);
}

TEST(NearDuplicate, ShortTextsAreComparedByHashAlone) {
  EXPECT_EQ(compared("x = 1;", "y = 2;"), std::nullopt);
  EXPECT_EQ(compared("", ""), Likeness::kSameText);
  EXPECT_EQ(compared("", " "), std::nullopt);
}

TEST(NearDuplicate, AnyBytesHaveAnIdentity) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>(i * 7919 >> 3);
  for (const std::string& text :
       {bytes, "import " + bytes, std::string("__global__"), std::string("import '''"),
        std::string("def f('\\"), std::string("__global__ void f( {{{"), std::string("a.")}) {
    EXPECT_EQ(identity_of(text).hash.size(), 64u);
  }
}

TEST(PythonTokens, HaveTheValuesOfTexts) {
  std::vector<std::string> texts;
  for (const python::Token& token : python::python_tokens(R"(def f(a):
  # no
  return rb"\x#" + '''a
'b\u00e9\101''' + 1.5e3 + in'a'
)")) {
    if (!token.text.empty()) texts.push_back(token.text);
  }
  EXPECT_THAT(texts, ::testing::ElementsAre("def", "f", "(", "a", ")", ":", "return", "\\x#", "+",
                                            "a\n'béA", "+", "1.5e3", "+", "in", "a"));
  EXPECT_EQ(python::python_tokens(R"('\x4')").front().kind, python::Token::kOddString);
}

}  // namespace
}  // namespace krl::retrieval

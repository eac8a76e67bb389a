// Every element of a matrix from others at places that are known beforehand: bias and activation,
// gathers, gates.
#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

// The variants have r as the row, j as the column; $body computes the element, $width is the number
// of columns.
constexpr const char* kRowThread = R"(
// @launch kern<<<ceil_div($rows, $B), $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= $rows) return;
  for (int j = 0; j < $width; j++) {
$body  }
}
)";

constexpr const char* kElement = R"(
// @launch kern<<<ceil_div($rows * $width, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = $i / $width, j = $i % $width;
  if (r < $rows) {
$body  }
}
)";

constexpr const char* kRowBlock = R"(
// @launch kern<<<$rows, $B>>>($args)
__global__ void kern($params) {
  int r = blockIdx.x;
  for (int j = threadIdx.x; j < $width; j += blockDim.x) {
$body  }
}
)";

constexpr const char* kRowMapGridStride = R"(
// @launch kern<<<$G, $B>>>($args)
__global__ void kern($params) {
  for (int $i = blockIdx.x * blockDim.x + threadIdx.x; $i < $rows * $width; $i += gridDim.x * blockDim.x) {
    int r = $i / $width, j = $i % $width;
$body  }
}
)";

Operation row_map_operation(const char* id, const char* title, std::int64_t tier,
                            const char* prompt, const char* reference, const char* body) {
  Operation operation;
  operation.id = id;
  operation.title = title;
  operation.tier = tier;
  operation.prompt = prompt;
  operation.reference = reference;
  operation.parts = {{"body", substitute(body, {})}, {"width", "$cols"}, {"at", "r * $cols + j"}};
  operation.axes = {{"rows", "rows", NameKind::kRows}, {"cols", "cols", NameKind::kColumns}};
  operation.inputs = {{"x", "x", {"$rows", "$cols"}}};
  operation.outputs = {{"y", "y", {"$rows", "$cols"}}};
  operation.cases = {{{"rows", 13}, {"cols", 37}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  return operation;
}

// y = activation(x + b); `value` is the activation of $v.
Operation bias_operation(const char* id, const char* title, const char* prompt,
                         const char* reference, const char* value, bool canonical) {
  Operation operation =
      row_map_operation(id, title, 2, prompt, reference, "    $y[$at] = $value;\n");
  operation.canonical = canonical;
  operation.inputs.push_back({"b", "b", {"$cols"}});
  operation.parts["value"] = value;
  operation.parts["v"] = "$x[$at] + $b[j]";
  return operation;
}

Operation gather_rows() {
  Operation operation =
      row_map_operation("gather_rows", "Reorder rows by an index", 1, "$y[r, c] = $x[$p[r], c]",
                        "def run(x, p):\n    return x.index_select(0, p)\n", R"(
    $y[$at] = $x[$p[r] * $cols + j];
)");
  operation.inputs.push_back({"p", "order", {"$rows"}, DType::kInt32, ValueKind::kPermutation});
  operation.tolerance = {0.0, 0.0};
  return operation;
}

Operation bias_gelu_residual() {
  Operation operation =
      row_map_operation("bias_gelu_residual", "Bias, GELU and residual in one kernel", 3,
                        "$y[r, c] = gelu($x[r, c] + $b[c]) + $z[r, c], "
                        "gelu(v) = 0.5 * v * (1 + tanh(0.7978845608 * (v + 0.044715 * v^3)))",
                        R"(def run(x, b, z):
    v = x + b
    return 0.5 * v * (1.0 + torch.tanh(0.7978845608 * (v + 0.044715 * v * v * v))) + z
)",
                        R"(
    float v = $x[$at] + $b[j];
    float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
    $y[$at] = 0.5f * v * (1.0f + t) + $z[$at];
)");
  operation.inputs.push_back({"b", "b", {"$cols"}});
  operation.inputs.push_back({"z", "res", {"$rows", "$cols"}});
  return operation;
}

Operation swiglu() {
  Operation operation =
      row_map_operation("swiglu", "Gated linear unit with SiLU", 3,
                        "$y[r, c] = silu($x[r, c]) * $x[r, $half + c], silu(v) = v / (1 + exp(-v))",
                        R"(def run(x):
    half = x.size(1) // 2
    gate = x[:, :half]
    return gate * torch.sigmoid(gate) * x[:, half:]
)",
                        R"(
    float v = $x[r * 2 * $half + j];
    $y[r * $half + j] = v / (1.0f + expf(-v)) * $x[r * 2 * $half + $half + j];
)");
  operation.axes[1].passed = false;
  operation.axes[1].step = 2;
  operation.axes.push_back({"half", "half", NameKind::kInner, "$cols / 2"});
  operation.outputs[0].shape = {"$rows", "$half"};
  operation.parts["width"] = "$half";
  operation.cases = {{{"rows", 13}, {"cols", 38}}, {{"rows", 20}, {"cols", 72}}};
  operation.real = {{{"rows", 4096}, {"cols", 4096}}};
  return operation;
}

Operation rope() {
  Operation operation =
      row_map_operation("rope", "Rotary position embedding", 3,
                        "$y[r, c] = $x[r, c] * $co[r, c] - $x[r, $half + c] * $si[r, c]; "
                        "$y[r, $half + c] = $x[r, c] * $si[r, c] + $x[r, $half + c] * $co[r, c]",
                        R"(def run(x, co, si):
    half = co.size(1)
    a = x[:, :half]
    b = x[:, half:]
    return torch.cat([a * co - b * si, a * si + b * co], 1)
)",
                        R"(
    int t = r * 2 * $half + j;
    float v0 = $x[t], v1 = $x[t + $half];
    $y[t] = v0 * $co[r * $half + j] - v1 * $si[r * $half + j];
    $y[t + $half] = v0 * $si[r * $half + j] + v1 * $co[r * $half + j];
)");
  operation.axes = {{"rows", "rows", NameKind::kRows},
                    {"half", "half", NameKind::kColumns},
                    {"dim", "dim", NameKind::kInner, "$half * 2", false}};
  operation.inputs[0].shape = {"$rows", "$dim"};
  operation.inputs.push_back(
      {"co", "co", {"$rows", "$half"}, DType::kFloat32, ValueKind::kUniformSigned});
  operation.inputs.push_back(
      {"si", "si", {"$rows", "$half"}, DType::kFloat32, ValueKind::kUniformSigned});
  operation.outputs[0].shape = {"$rows", "$dim"};
  operation.parts["width"] = "$half";
  operation.cases = {{{"rows", 13}, {"half", 19}}, {{"rows", 20}, {"half", 36}}};
  operation.real = {{{"rows", 4096}, {"half", 2048}}};
  return operation;
}

const Choices kRowMapBlocks = {{"B", {"32", "64", "64", "128", "128", "256"}}};
const Choices kRowMapIndex = {{"i", {"i", "idx", "gid"}},
                              {"B", {"64", "128", "128", "256", "256", "512"}}};
const Choices kRowMapIndexAndGrid = {
    {"i", {"i", "idx", "gid"}}, {"B", {"64", "128", "256"}}, {"G", {"4", "8", "16", "32"}}};

}  // namespace

Family row_map() {
  Family family{"row_map", {}, {}};
  family.operations = {
      bias_operation("bias_relu", "Bias and rectified linear unit",
                     "$y[r, c] = max($x[r, c] + $b[c], 0)",
                     "def run(x, b):\n    return torch.relu(x + b)\n", "fmaxf($v, 0.0f)", true),
      bias_operation("bias_tanh", "Bias and hyperbolic tangent",
                     "$y[r, c] = tanh($x[r, c] + $b[c])",
                     "def run(x, b):\n    return torch.tanh(x + b)\n", "tanhf($v)", false),
      bias_operation("bias_sigmoid", "Bias and logistic function",
                     "$y[r, c] = 1 / (1 + exp(-($x[r, c] + $b[c])))",
                     "def run(x, b):\n    return torch.sigmoid(x + b)\n",
                     "1.0f / (1.0f + expf(-($v)))", false),
      gather_rows(),
      bias_gelu_residual(),
      swiglu(),
      rope(),
  };
  family.variants = {
      {"row_thread", 2, "one thread a row", kRowThread, kRowMapBlocks},
      {"element", 2, "coalesced: one thread an element", kElement, kRowMapIndex},
      {"row_block", 1, "coalesced: one block a row", kRowBlock, kRowMapBlocks},
      {"grid_stride", 1, "coalesced: a fixed grid strides over the elements", kRowMapGridStride,
       kRowMapIndexAndGrid},
  };
  return family;
}

}  // namespace krl::templates

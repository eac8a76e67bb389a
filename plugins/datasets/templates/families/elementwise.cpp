// One output element from the input elements of the same index.
#include <utility>

#include "plugins/datasets/templates/family.hpp"

namespace krl::templates {
namespace {

// One thread an element.
constexpr const char* kElementwisePlain = R"(
// @launch kern<<<ceil_div($n, $B), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i < $n) $y[$i] = $value;
}
)";

// A few neighbouring elements a thread: the threads of a warp read far apart.
constexpr const char* kChunk = R"(
// @launch kern<<<ceil_div($n, $(B * P)), $B>>>($args)
__global__ void kern($params) {
  int t0 = blockIdx.x * blockDim.x + threadIdx.x;
  for (int $i = t0 * $P; $i < t0 * $P + $P; $i++)
    if ($i < $n) $y[$i] = $value;
}
)";

// A fixed grid that strides over the elements.
constexpr const char* kElementwiseGridStride = R"(
// @launch kern<<<$G, $B>>>($args)
__global__ void kern($params) {
  for (int $i = blockIdx.x * blockDim.x + threadIdx.x; $i < $n; $i += gridDim.x * blockDim.x) $y[$i] = $value;
}
)";

// Four elements in one load and one store; the last thread takes the rest.
constexpr const char* kVector4 = R"(
// @launch kern<<<ceil_div($n, $(B * 4)), $B>>>($args)
__global__ void kern($params) {
  int $i = blockIdx.x * blockDim.x + threadIdx.x;
  if ($i * 4 + 3 < $n) {
$loads    (($vector*)$y)[$i] = make_$vector($components);
  } else {
    for (int j = $i * 4; j < $n; j++) $y[j] = $value_j;
  }
}
)";

const Choices kElementwiseIndex = {{"i", {"i", "idx", "gid", "e"}},
                                   {"B", {"32", "64", "64", "128", "128", "256", "256", "512"}}};

Choices with_index(Choices choices) {
  choices.insert(kElementwiseIndex.begin(), kElementwiseIndex.end());
  return choices;
}

struct Formula {
  const char* id;
  const char* title;
  std::vector<const char*> inputs;  // canonical names
  const char* output;
  const char* axis;
  const char* scalar;     // nullptr: none
  const char* value;      // the element, of $e0, $e1 and $s
  const char* prompt;     // right of "="; the tensors are $x0 and $x1
  const char* reference;  // expression of x0, x1 and s
  bool canonical = true;
};

// The expressions of an element at `index`, and of each of the four in vectors v0, v1.
void add_element_texts(const Formula& formula, const std::string& vector, Scope* parts) {
  const auto value_at = [&](const std::string& e0, const std::string& e1) {
    return substitute(formula.value, {{"e0", e0}, {"e1", e1}});
  };
  std::string components, loads;
  for (const char* member : {".x", ".y", ".z", ".w"}) {
    components += (components.empty() ? "" : ", ") +
                  value_at(std::string("v0") + member, std::string("v1") + member);
  }
  for (std::size_t k = 0; k < formula.inputs.size(); ++k) {
    const std::string number = std::to_string(k);
    loads +=
        "    " + vector + " v" + number + " = ((const " + vector + "*)$x" + number + ")[$i];\n";
  }
  (*parts)["vector"] = vector;
  (*parts)["loads"] = loads;
  (*parts)["components"] = components;
  (*parts)["value"] = value_at("$x0[$i]", "$x1[$i]");
  (*parts)["value_j"] = value_at("$x0[j]", "$x1[j]");
}

Operation elementwise_operation(const Formula& formula, DType dtype) {
  Operation operation;
  operation.id = formula.id;
  operation.title = formula.title;
  operation.canonical = formula.canonical;
  operation.prompt = std::string("$y[i] = ") + formula.prompt;
  std::string parameters;
  const bool integers = dtype == DType::kInt32;
  for (std::size_t k = 0; k < formula.inputs.size(); ++k) {
    const std::string role = "x" + std::to_string(k);
    parameters += (k == 0 ? "" : ", ") + role;
    TensorRole input{role, formula.inputs[k], {"$n"}, dtype};
    if (integers) input.values = ValueKind::kIntegers, input.bounds = {"-100", "100"};
    operation.inputs.push_back(std::move(input));
  }
  operation.outputs = {{"y", formula.output, {"$n"}, dtype}};
  if (formula.scalar) {
    parameters += ", s: float";
    operation.scalars = {{"s", formula.scalar, "0.5 + $n % 7"}};
  }
  operation.reference = "def run(" + parameters + "):\n    return " + formula.reference + "\n";
  operation.axes = {{"n", formula.axis, NameKind::kLength}};
  operation.cases = {{{"n", 517}}, {{"n", 1600}}};
  operation.real = {{{"n", 1 << 24}}};
  add_element_texts(formula, integers ? "int4" : "float4", &operation.parts);
  return operation;
}

const std::vector<Formula> kFormulas = {
    {"vector_add",
     "Vector addition",
     {"a", "b"},
     "out",
     "n",
     nullptr,
     "$e0 + $e1",
     "$x0[i] + $x1[i]",
     "x0 + x1"},
    {"vector_mul",
     "Elementwise product",
     {"u", "v"},
     "res",
     "len",
     nullptr,
     "$e0 * $e1",
     "$x0[i] * $x1[i]",
     "x0 * x1"},
    {"scale", "Scale a vector", {"x"}, "y", "n", "alpha", "$s * $e0", "$s * $x0[i]", "s * x0"},
    {"saxpy",
     "Scaled vector addition",
     {"x", "b"},
     "out",
     "n",
     "alpha",
     "$s * $e0 + $e1",
     "$s * $x0[i] + $x1[i]",
     "s * x0 + x1"},
    {"relu",
     "Rectified linear unit",
     {"inp"},
     "out",
     "size",
     nullptr,
     "fmaxf($e0, 0.0f)",
     "max($x0[i], 0)",
     "torch.relu(x0)"},
    {"sigmoid",
     "Logistic function",
     {"x"},
     "y",
     "count",
     nullptr,
     "1.0f / (1.0f + expf(-$e0))",
     "1 / (1 + exp(-$x0[i]))",
     "torch.sigmoid(x0)"},
    {"leaky_relu",
     "Leaky rectified linear unit",
     {"p"},
     "q",
     "n",
     "slope",
     "fmaxf($e0, $s * $e0)",
     "max($x0[i], $s * $x0[i])",
     "torch.maximum(x0, s * x0)"},
    {"abs_diff",
     "Absolute difference",
     {"lhs", "rhs"},
     "z",
     "len",
     nullptr,
     "fabsf($e0 - $e1)",
     "abs($x0[i] - $x1[i])",
     "torch.abs(x0 - x1)"},
    {"vector_sub",
     "Vector subtraction",
     {"a", "b"},
     "out",
     "n",
     nullptr,
     "$e0 - $e1",
     "$x0[i] - $x1[i]",
     "x0 - x1",
     false},
    {"vector_max",
     "Elementwise maximum",
     {"a", "b"},
     "out",
     "n",
     nullptr,
     "fmaxf($e0, $e1)",
     "max($x0[i], $x1[i])",
     "torch.maximum(x0, x1)",
     false},
    {"square",
     "Elementwise square",
     {"x"},
     "y",
     "n",
     nullptr,
     "$e0 * $e0",
     "$x0[i] * $x0[i]",
     "x0 * x0",
     false},
    {"negate", "Elementwise negation", {"x"}, "y", "n", nullptr, "-$e0", "-$x0[i]", "-x0", false},
    {"add_scalar",
     "Add a number",
     {"x"},
     "y",
     "n",
     "s",
     "$e0 + $s",
     "$x0[i] + $s",
     "x0 + s",
     false},
    {"tanh",
     "Hyperbolic tangent",
     {"x"},
     "y",
     "n",
     nullptr,
     "tanhf($e0)",
     "tanh($x0[i])",
     "torch.tanh(x0)",
     false},
    {"silu",
     "Sigmoid linear unit",
     {"x"},
     "y",
     "n",
     nullptr,
     "$e0 / (1.0f + expf(-$e0))",
     "$x0[i] / (1 + exp(-$x0[i]))",
     "x0 * torch.sigmoid(x0)",
     false},
};

const std::vector<Formula> kIntegerFormulas = {
    {"vector_add_int",
     "Vector addition",
     {"a", "b"},
     "out",
     "n",
     nullptr,
     "$e0 + $e1",
     "$x0[i] + $x1[i]",
     "x0 + x1",
     false},
    {"vector_mul_int",
     "Elementwise product",
     {"u", "v"},
     "res",
     "len",
     nullptr,
     "$e0 * $e1",
     "$x0[i] * $x1[i]",
     "x0 * x1",
     false},
};

// y = s * x + y; the output is the second input.
Operation scaled_addition_in_place() {
  Operation operation = elementwise_operation({"axpy_inplace",
                                               "Scaled addition in place",
                                               {"x", "y"},
                                               "y",
                                               "n",
                                               "alpha",
                                               "$s * $e0 + $e1",
                                               "$s * $x0[i] + $x1[i]",
                                               "s * x0 + x1"},
                                              DType::kFloat32);
  operation.inputs[1].role = "y";
  operation.outputs = {operation.inputs[1]};
  operation.parts["x1"] = "$y";
  return operation;
}

}  // namespace

Family elementwise() {
  Family family{"elementwise", {}, {}};
  for (const Formula& formula : kFormulas)
    family.operations.push_back(elementwise_operation(formula, DType::kFloat32));
  for (const Formula& formula : kIntegerFormulas)
    family.operations.push_back(elementwise_operation(formula, DType::kInt32));
  family.operations.push_back(scaled_addition_in_place());
  family.variants = {
      {"plain", 3, "one thread an element", kElementwisePlain, kElementwiseIndex},
      {"chunk", 2, "a few elements a thread", kChunk, with_index({{"P", {"2", "4", "8", "16"}}})},
      {"grid_stride", 2, "a fixed grid strides over the elements", kElementwiseGridStride,
       with_index({{"G", {"1", "4", "8", "16", "32"}}})},
      {"vector4", 2, "memory-bound: four elements a load", kVector4, kElementwiseIndex},
  };
  return family;
}

}  // namespace krl::templates

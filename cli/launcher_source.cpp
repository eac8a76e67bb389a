#include "cli/launcher_source.hpp"

#include <fmt/format.h>

#include <cctype>
#include <kernelrl/launch.hpp>
#include <set>

namespace krl::cli {
namespace {

// The names of the launch language, as functions on 64-bit integers.
constexpr const char* kHelpers = R"(
// ---- The launcher that kernelrl wrote for the directives above ----
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace launch_language {
using Integer = long long;

inline Integer ceil_div(Integer a, Integer b) { return (a + b - 1) / b; }
inline Integer next_pow2(Integer a) {
  Integer power = 1;
  while (power < a) power *= 2;
  return power;
}
inline Integer abs(Integer a) { return a < 0 ? -a : a; }
inline Integer min(Integer a) { return a; }
inline Integer max(Integer a) { return a; }
template <class... Rest>
Integer min(Integer a, Rest... rest) { Integer b = min(rest...); return a < b ? a : b; }
template <class... Rest>
Integer max(Integer a, Rest... rest) { Integer b = max(rest...); return a > b ? a : b; }
inline dim3 sizes(Integer x, Integer y = 1, Integer z = 1) {
  return dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z));
}

// A pointer of the type that a kernel's parameter has.
struct Pointer {
  void* address;
  template <class T>
  operator T*() const { return static_cast<T*>(address); }
};

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) TVM_FFI_THROW(RuntimeError) << what << ": " << cudaGetErrorString(status);
}

inline Pointer scratch(Integer bytes, cudaStream_t stream) {
  void* address = nullptr;
  check(cudaMallocAsync(&address, static_cast<size_t>(bytes), stream), "scratch");
  return {address};
}

// More dynamic shared memory than 48 KiB has to be asked for.
template <class... Parameters>
void allow_shared(void (*kernel)(Parameters...), Integer bytes) {
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "shared memory");
}
}  // namespace launch_language
)";

// Maps names of the launch language to those in the function; local names have a prefix, so that
// they never equal those of the kernels.
class Names {
 public:
  explicit Names(const TaskDefinition& task) {
    for (const Axis& axis : task.axes) known_.insert(axis.name);
    for (const ScalarDefinition& scalar : task.scalars) known_.insert(scalar.name);
  }

  // An expression in C++, "launch_language::ceil_div(local_n, 256)".
  std::string cpp(const std::string& text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                   text[end] == '_' || text[end] == '.'))
        ++end;
      if (end == i) {
        out += text[i++];
        continue;
      }
      out += word(text.substr(i, end - i));
      i = end;
    }
    return out;
  }

 private:
  std::string word(const std::string& word) const {
    static const std::set<std::string> kFunctions = {"min", "max", "ceil_div", "next_pow2", "abs"};
    if (word == "dim3") return "launch_language::sizes";
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return word + "LL";
    if (kFunctions.count(word) != 0) return "launch_language::" + word;
    if (word.ends_with(".size")) return "size_of_" + word.substr(0, word.size() - 5);
    return known_.count(word) != 0 ? "local_" + word : word;  // and, or, not
  }

  std::set<std::string> known_;
};

std::string grid_text(const Names& names, const std::string& text) {
  const std::string cpp = names.cpp(text);
  return text.rfind("dim3", 0) == 0 ? cpp : "launch_language::sizes(" + cpp + ")";
}

std::string elements_text(const Names& names, const TensorDefinition& tensor) {
  std::string product = "1LL";
  for (const std::string& size : tensor.shape) product += " * (" + names.cpp(size) + ")";
  return product;
}

}  // namespace

std::optional<AxisPlace> place_of_axis(const TaskDefinition& task, const std::string& axis) {
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    for (std::size_t d = 0; d < task.inputs[i].shape.size(); ++d) {
      if (task.inputs[i].shape[d] == axis) return AxisPlace{i, d};
    }
  }
  return std::nullopt;
}

Result<std::string> launcher_source(const TaskDefinition& task, const std::string& kernel) {
  const auto program = read_launches(kernel, task);
  if (!program)
    return invalid(
        fmt::format("line {} of the kernel: {}", program.error().line, program.error().message));
  const Names names(task);
  std::string parameters, body;
  const auto parameter = [&](const std::string& text) {
    parameters += (parameters.empty() ? "" : ", ") + text;
  };
  for (const TensorDefinition& input : task.inputs)
    parameter("tvm::ffi::TensorView input_" + input.name);
  for (const ScalarDefinition& scalar : task.scalars)
    parameter((is_floating(scalar.dtype) ? "double local_" : "int64_t local_") + scalar.name);
  for (const TensorDefinition& output : task.outputs)
    parameter("tvm::ffi::TensorView output_" + output.name);
  if (task.inputs.empty()) return invalid("the task has no inputs");

  body += fmt::format(
      "  const DLDevice device = input_{}.device();\n"
      "  auto* stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, "
      "device.device_id));\n"
      "  launch_language::check(cudaSetDevice(device.device_id), \"device\");\n",
      task.inputs.front().name);
  for (const Axis& axis : task.axes) {
    std::string value = names.cpp(axis.size);
    if (axis.is_variable()) {
      const auto place = place_of_axis(task, axis.name);
      if (!place) return invalid("no input has the size " + axis.name);
      value = fmt::format("input_{}.size({})", task.inputs[place->input].name, place->dimension);
    }
    body += fmt::format("  [[maybe_unused]] const launch_language::Integer local_{} = {};\n",
                        axis.name, value);
  }
  const auto tensor = [&](const TensorDefinition& definition, const std::string& view) {
    body += fmt::format(
        "  [[maybe_unused]] const launch_language::Pointer tensor_{0}{{{1}.data_ptr()}};\n"
        "  [[maybe_unused]] const launch_language::Integer size_of_{0} = {2};\n",
        definition.name, view, elements_text(names, definition));
  };
  for (const TensorDefinition& input : task.inputs) {
    if (task.find_output(input.name) == nullptr) tensor(input, "input_" + input.name);
  }
  for (const TensorDefinition& output : task.outputs) {
    tensor(output, "output_" + output.name);
    if (task.find_input(output.name) == nullptr) continue;
    body += fmt::format(
        "  launch_language::check(cudaMemcpyAsync(output_{0}.data_ptr(), input_{0}.data_ptr(), "
        "static_cast<size_t>(size_of_{0} * {1}), cudaMemcpyDeviceToDevice, stream), \"copy\");\n",
        output.name, size_of(output.dtype));
  }
  for (const ScratchDirective& scratch : program->scratch) {
    body += fmt::format(
        "  const launch_language::Integer size_of_{0} = {1};\n"
        "  const launch_language::Pointer tensor_{0} = launch_language::scratch(size_of_{0} * {2}, "
        "stream);\n",
        scratch.name, names.cpp(scratch.elements.expression.text()), scratch.element_bytes);
  }
  std::set<std::string> tensors;
  for (const TensorDefinition& input : task.inputs) tensors.insert(input.name);
  for (const TensorDefinition& output : task.outputs) tensors.insert(output.name);
  for (const ScratchDirective& scratch : program->scratch) tensors.insert(scratch.name);
  for (const LaunchDirective& launch : program->launches) {
    std::string arguments;
    for (const PlacedExpression& argument : launch.arguments) {
      const std::string& text = argument.expression.text();
      arguments += (arguments.empty() ? "" : ", ") +
                   (tensors.count(text) != 0 ? "tensor_" + text : names.cpp(text));
    }
    const std::string shared = names.cpp(launch.shared.expression.text());
    if (shared != "0LL")
      body += fmt::format("  launch_language::allow_shared({}, {});\n", launch.kernel, shared);
    body += fmt::format(
        "  {}<<<{}, {}, static_cast<size_t>({}), stream>>>({});\n"
        "  launch_language::check(cudaGetLastError(), \"launch\");\n",
        launch.kernel, grid_text(names, launch.grid.expression.text()),
        grid_text(names, launch.block.expression.text()), shared, arguments);
  }
  for (const ScratchDirective& scratch : program->scratch)
    body += fmt::format(
        "  launch_language::check(cudaFreeAsync(tensor_{0}.address, stream), \"scratch\");\n",
        scratch.name);
  return fmt::format(
      "{0}\n{1}\nvoid {2}({3}) {{\n{4}}}\n\nTVM_FFI_DLL_EXPORT_TYPED_FUNC({2}, {2});\n", kernel,
      kHelpers, kLauncherName, parameters, body);
}

}  // namespace krl::cli

#include "plugins/backends/cuda/host/host_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace krl::cuda {
namespace {

// The pointer type that kernels use for a DType, and the expression that is passed for it.
struct PointerType {
  std::string_view shown, passed;
};
constexpr std::array<PointerType, 6> kPointers = {{{"float*", "float*"},
                                                   {"__half*", "__half*"},
                                                   {"__nv_bfloat16*", "__nv_bfloat16*"},
                                                   {"int*", "int*"},
                                                   {"long long*", "kernelrl_host::Int64Pointer"},
                                                   {"bool*", "bool*"}}};

// One argument of `launch`: as people read it, its type, and its value.
struct Argument {
  std::string shown, type, value;
};

PointerType pointer_to(DType dtype) { return kPointers[static_cast<std::size_t>(dtype)]; }

Argument tensor_argument(const TensorDefinition& tensor, std::size_t index) {
  const PointerType pointer = pointer_to(tensor.dtype);
  const std::string data = "call->tensors[" + std::to_string(index) + "].data";
  const std::string type(pointer.passed);
  const bool is_class = pointer.shown != pointer.passed;
  return {std::string(pointer.shown) + " " + tensor.name, type,
          is_class ? type + "{" + data + "}" : "static_cast<" + type + ">(" + data + ")"};
}

Argument scalar_argument(const ScalarDefinition& scalar, std::size_t index) {
  const bool real = is_floating(scalar.dtype);
  const std::string type = real ? "kernelrl_host::Real" : "kernelrl_host::Integer";
  const std::string value = "call->scalars[" + std::to_string(index) + "]";
  const std::string_view shown = real                            ? "float "
                                 : scalar.dtype == DType::kInt64 ? "long long "
                                                                 : "int ";
  return {std::string(shown) + scalar.name, type,
          type + "{" + value + (real ? ".real}" : ".integer}")};
}

std::vector<Argument> launch_arguments(const TaskDefinition& task) {
  std::vector<Argument> arguments;
  for (const TensorDefinition& input : task.inputs) {
    arguments.push_back(tensor_argument(input, arguments.size()));
  }
  for (const TensorDefinition& output : task.outputs) {
    if (task.find_input(output.name) != nullptr) continue;
    arguments.push_back(tensor_argument(output, arguments.size()));
  }
  for (std::size_t s = 0; s < task.scalars.size(); ++s) {
    arguments.push_back(scalar_argument(task.scalars[s], s));
  }
  std::size_t n = 0;
  for (const Axis& axis : task.axes) {
    if (!axis.is_variable()) continue;
    arguments.push_back({"int " + axis.name, "kernelrl_host::Integer",
                         "kernelrl_host::Integer{call->axes[" + std::to_string(n++) + "]}"});
  }
  return arguments;
}

std::string joined(const std::vector<Argument>& arguments, std::string Argument::*part) {
  std::string text;
  for (const Argument& argument : arguments) {
    text += (text.empty() ? "" : ", ") + argument.*part;
  }
  return text;
}

bool uses(const TaskDefinition& task, DType dtype) {
  const auto is_this = [dtype](const TensorDefinition& tensor) { return tensor.dtype == dtype; };
  return std::any_of(task.inputs.begin(), task.inputs.end(), is_this) ||
         std::any_of(task.outputs.begin(), task.outputs.end(), is_this);
}

std::string call_of_launch(const TaskDefinition& task) {
  const std::vector<Argument> arguments = launch_arguments(task);
  const std::string passed = arguments.empty() ? "" : ", ";
  std::string text;
  if (uses(task, DType::kFloat16)) text += "#include <cuda_fp16.h>\n";
  if (uses(task, DType::kBFloat16)) text += "#include <cuda_bf16.h>\n";
  text += "#include <kernelrl/launch_call.hpp>\n#line 1 \"launch\"\n";
  text +=
      "static const auto kernelrl_launch = [](auto... arguments) -> "
      "decltype(launch(arguments...)) { return launch(arguments...); };\n";
  text += "static_assert(kernelrl_host::kTakes<decltype(kernelrl_launch)" + passed +
          joined(arguments, &Argument::type) + ">, \"there must be a function " +
          launcher_signature(task) + ", or the same with a trailing cudaStream_t\");\n";
  text +=
      "extern \"C\" void kernelrl_host_call(const kernelrl_host::Call* call) {\n"
      "  kernelrl_host::call_launch(*call, kernelrl_launch" +
      passed + joined(arguments, &Argument::value) + ");\n}\n";
  return text;
}

// True if a 16-bit type is named, as a part of any word.
bool names_half(std::string_view source) {
  std::string lower(source);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* word : {"half", "fp16", "bf16", "bfloat16", "float16"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// Adds the types that a torch extension needs.
std::string with_needed_types(std::string_view source) {
  const char* const first = names_half(source) ? "" : "#define KERNELRL_NO_HALF\n#line 1\n";
  return first + std::string(source);
}

bool is_torch_header(const SourceToken& token) {
  return token.is("torch") || token.is("ATen") || token.is("c10") || token.is("pybind11") ||
         token.text.rfind("\"torch/", 0) == 0 || token.text.rfind("\"ATen/", 0) == 0;
}

}  // namespace

HostForm host_form(const ScannedSource& source) {
  const std::vector<SourceToken>& tokens = source.tokens;
  HostForm form = HostForm::kLaunch;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    if (tokens[t].is("PYBIND11_MODULE")) return HostForm::kTorchModule;
    const bool includes = t >= 1 && tokens[t].is("include") && tokens[t - 1].is("#");
    for (std::size_t n = 1; includes && n <= 2 && t + n < tokens.size(); ++n) {
      if (is_torch_header(tokens[t + n])) form = HostForm::kTorchFunction;
    }
  }
  return form;
}

std::string launcher_signature(const TaskDefinition& task) {
  return "launch(" + joined(launch_arguments(task), &Argument::shown) + ")";
}

std::string with_host_call(std::string_view source, const ScannedSource& scanned,
                           const TaskDefinition& task) {
  const HostForm form = host_form(scanned);
  std::string text = form == HostForm::kLaunch ? std::string(source) : with_needed_types(source);
  text += "\n#line 1 \"call\"\n";
  switch (form) {
    case HostForm::kLaunch:
      return text + call_of_launch(task);
    case HostForm::kTorchModule:
      return text + "#include <kernelrl/torch/call.hpp>\n";
    case HostForm::kTorchFunction:
      return text +
             "#include <kernelrl/torch/call.hpp>\n#line 1 \"forward\"\n"
             "void kernelrl_host::bind_functions(kernelrl_host::Module& m) "
             "{ m.def(\"forward\", &forward); }\n";
  }
  return text;
}

std::string with_host_call(const python::BoundAnswer& answer) {
  // The function to call is known, so PYBIND11_MODULE of the answer expands to nothing.
  constexpr const char* kNoModule =
      "#include <torch/extension.h>\n"
      "#undef PYBIND11_MODULE\n"
      "#define PYBIND11_MODULE(name, variable) \\\n"
      "  template <class Module> [[maybe_unused]] static void kernelrl_module(Module& variable)\n";
  return with_needed_types(kNoModule + answer.source) + "\n#line 1 \"call\"\n" + answer.forward;
}

}  // namespace krl::cuda

#include "plugins/backends/python_answers/extension.hpp"

#include <kernelrl/cuda_source.hpp>

namespace krl::python {
namespace {

// "::ns::forward" of `&ns::forward` at a token; empty for anything that is no name.
std::string function_at(const std::vector<SourceToken>& tokens, std::size_t at) {
  if (tokens[at].is("&")) ++at;
  std::string name;
  for (; at < tokens.size() && !tokens[at].is(",") && !tokens[at].is(")"); ++at) {
    if (!tokens[at].is(":") && tokens[at].kind != SourceToken::kIdentifier) return {};
    name += tokens[at].text;
  }
  return name.empty() || name.front() == ':' ? name : "::" + name;
}

// Reads m.def("name", &function, …).
void read_definition(const std::vector<SourceToken>& tokens, std::size_t at,
                     std::map<std::string, std::string>* functions) {
  const std::string& name = tokens[at + 2].text;
  if (!tokens[at + 1].is("(") || tokens[at + 2].kind != SourceToken::kLiteral || name.size() < 2 ||
      !tokens[at + 3].is(",")) {
    return;
  }
  if (std::string function = function_at(tokens, at + 4); !function.empty())
    functions->emplace(name.substr(1, name.size() - 2), std::move(function));
}

}  // namespace

std::map<std::string, std::string> functions_of(const Extension& extension) {
  std::map<std::string, std::string> functions;
  for (const std::string& function : extension.functions) functions[function] = "::" + function;
  if (!functions.empty()) return functions;
  for (const auto* sources : {&extension.cuda, &extension.cpp}) {
    for (const Extension::Source& source : *sources) {
      const std::vector<SourceToken> tokens = scan_cuda_source(source.text).tokens;
      std::size_t at = 0;
      while (at < tokens.size() && !tokens[at].is("PYBIND11_MODULE")) ++at;
      for (; at + 4 < tokens.size(); ++at) {
        if (tokens[at].is("def")) read_definition(tokens, at, &functions);
      }
    }
  }
  return functions;
}

std::string joined(const std::vector<Extension>& extensions) {
  std::string unit = "#include <torch/extension.h>\n#include <cuda_runtime.h>\n";
  const auto add = [&](const Extension::Source& source) {
    unit += "#line " + std::to_string(source.line) + "\n" + source.text + "\n";
  };
  for (const Extension& extension : extensions) {
    for (const Extension::Source& source : extension.cuda) add(source);
  }
  for (const Extension& extension : extensions) {
    for (const Extension::Source& source : extension.cpp) {
      const bool has_code = source.text.find('{') != std::string::npos;
      if (has_code) add(source);
    }
  }
  return unit;
}

bool defines(const std::string& unit, const std::string& function) {
  const std::string name = function.substr(function.rfind(':') + 1);
  return unit.find(name + "(") != std::string::npos || unit.find(name + " (") != std::string::npos;
}

}  // namespace krl::python

// The heads of Triton's functions among the tokens of Python; see python_source.hpp, which includes
// this.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/python_source.hpp>

namespace krl {

class TritonKernelFinder {
 public:
  explicit TritonKernelFinder(const std::vector<SourceToken>& tokens) : tokens_(tokens) {}

  std::vector<KernelHead> find() const {
    std::vector<KernelHead> kernels;
    bool compiled = false;  // one of the decorators so far is triton.jit
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!tokens_[i].starts_line) continue;
      if (is(i, "@")) {
        compiled = compiled || is(i + 1, "jit") || (is(i + 2, ".") && is(i + 3, "jit"));
      } else if (is(i, "def") && compiled && is(i + 2, "(")) {
        kernels.push_back(head_at(i));
        compiled = false;
      } else {
        compiled = false;
      }
    }
    return kernels;
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }

  // Reads `def name(parameters)`.
  KernelHead head_at(std::size_t i) const {
    KernelHead head;
    head.name = tokens_[i + 1].text;
    head.line = static_cast<int>(tokens_[i].line);
    int depth = 0;
    std::size_t start = i + 3;
    for (std::size_t at = start; at < tokens_.size(); ++at) {
      const bool closes = is(at, ")") || is(at, "]") || is(at, "}");
      if (depth == 0 && (closes || is(at, ","))) {
        if (at > start) head.parameters.push_back(parameter(start, at));
        start = at + 1;
        if (closes) break;
      }
      depth += is(at, "(") || is(at, "[") || is(at, "{") ? 1 : closes ? -1 : 0;
    }
    return head;
  }

  // `name`, `name: annotation`, `name = default`, or both.
  KernelParameter parameter(std::size_t begin, std::size_t end) const {
    KernelParameter parameter;
    parameter.name = tokens_[begin].text;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (is(i, "=")) parameter.has_default = true;
      if (parameter.has_default) break;
      if (!is(i, ":")) parameter.type += tokens_[i].text;
    }
    return parameter;
  }

  const std::vector<SourceToken>& tokens_;
};

inline std::vector<KernelHead> find_triton_kernels(const ScannedSource& source) {
  return TritonKernelFinder(source.tokens).find();
}

}  // namespace krl

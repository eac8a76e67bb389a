// The heads of kernels among the tokens of a source; see cuda_source.hpp, which includes this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/cuda_source.hpp>

namespace krl {

class KernelFinder {
 public:
  explicit KernelFinder(const std::vector<SourceToken>& tokens) : tokens_(tokens) {}

  std::vector<KernelHead> find() const {
    std::vector<KernelHead> kernels;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, "__global__")) continue;
      KernelHead head;
      head.line = static_cast<int>(tokens_[i].line);
      head.is_template = follows_template(i);
      const auto same_name = [&](const KernelHead& other) { return other.name == head.name; };
      if (!read_head(i + 1, &head)) continue;
      if (std::none_of(kernels.begin(), kernels.end(), same_name))
        kernels.push_back(std::move(head));
    }
    return kernels;
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].is(text);
  }

  // True if `template <…>` precedes the `__global__` at `i`.
  bool follows_template(std::size_t i) const {
    while (i > 0) {
      const SourceToken& before = tokens_[i - 1];
      const bool qualifier = before.kind == SourceToken::kLiteral || before.text == "extern" ||
                             before.text == "static" || before.text == "inline";
      if (!qualifier) return before.text == ">" && closes_template(i - 1);
      --i;
    }
    return false;
  }

  // True if the ">" at `i` ends a `template <…>`, and not an `#include <…>`.
  bool closes_template(std::size_t i) const {
    const auto ends = [this](std::size_t k) {
      return is(k, "template") || is(k, "#") || is(k, ";") || is(k, "__global__");
    };
    while (i > 0 && !ends(i)) --i;
    return is(i, "template");
  }

  // The index after the bracket that closes the one at `open`.
  std::size_t skip_brackets(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) --depth;
      if (depth == 0) return i + 1;
    }
    return tokens_.size();
  }

  // Reads name and parameters of the function whose head continues at `i`.
  bool read_head(std::size_t i, KernelHead* head) const {
    for (; i < tokens_.size(); ++i) {
      if (is(i, ";") || is(i, "{") || is(i, "}")) return false;
      const bool attribute =
          is(i, "__launch_bounds__") || is(i, "__attribute__") || is(i, "alignas");
      if (attribute && is(i + 1, "(")) {
        i = skip_brackets(i + 1) - 1;
      } else if (is(i, "(")) {
        if (tokens_[i - 1].kind != SourceToken::kIdentifier || is(i - 1, "void")) return false;
        head->name = tokens_[i - 1].text;
        read_parameters(i + 1, skip_brackets(i) - 1, head);
        return true;
      }
    }
    return false;
  }

  void read_parameters(std::size_t begin, std::size_t end, KernelHead* head) const {
    std::size_t start = begin;
    int depth = 0;
    for (std::size_t i = begin; i <= end && i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "<")) ++depth;
      if (i < end && (is(i, ")") || is(i, "]") || is(i, ">"))) --depth;
      if (i != end && (depth > 0 || !is(i, ","))) continue;
      const bool nothing = i == start || (i == start + 1 && is(start, "void"));
      if (!nothing) head->parameters.push_back(read_parameter(start, i));
      start = i + 1;
    }
  }

  KernelParameter read_parameter(std::size_t begin, std::size_t end) const {
    KernelParameter parameter;
    std::size_t stop = begin;
    while (stop < end && !is(stop, "=")) ++stop;
    std::size_t name = stop;
    for (std::size_t i = begin; i < stop && !is(i, "["); ++i) {
      if (tokens_[i].kind == SourceToken::kIdentifier && i > begin) name = i;
    }
    for (std::size_t i = begin; i < stop; ++i) {
      if (is(i, "*") || is(i, "[")) parameter.is_pointer = true;
      if (i == name) {
        parameter.name = tokens_[i].text;
      } else {
        parameter.type += (parameter.type.empty() ? "" : " ") + tokens_[i].text;
      }
    }
    return parameter;
  }

  const std::vector<SourceToken>& tokens_;
};

inline std::vector<KernelHead> find_kernels(const ScannedSource& source) {
  return KernelFinder(source.tokens).find();
}

}  // namespace krl

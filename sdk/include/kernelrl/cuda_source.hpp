// CUDA source text without a compiler: its tokens, its line comments, the heads of its kernels.
//
// Follows the lexical rules of C++ (comments, strings, raw strings, digit separators, line
// splices), so that text inside a string or a comment is never taken for code. Macros are not
// expanded. Accepts any bytes and throws nothing. Header-only, C++17, no dependencies. PTX, whose
// tokens are much the same, is scanned by the same rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kernelrl/language.hpp>

namespace krl {

struct SourceToken {
  enum Kind : std::uint8_t { kIdentifier, kNumber, kLiteral, kPunctuation } kind = kPunctuation;
  // The text without splices; a literal with its quotes, a raw string with all of its lines.
  // Punctuation is one character, or ##; a digraph is replaced by its meaning.
  std::string text;
  std::uint32_t line = 1, column = 1;  // place of its first byte, 1-based
  bool starts_line = false;            // the first token of its logical line

  bool is(std::string_view spelling) const { return text == spelling && kind != kLiteral; }
};

// A `//` comment, in Python a `#` comment, with the text after its mark.
struct LineComment {
  std::string text;
  int line = 1;
  int column = 1;            // column of the text's first byte, 1-based
  bool starts_line = false;  // nothing but blanks before it on its logical line
  bool spliced = false;      // continued on the next line by a backslash
};

// Text that compilers do not agree on, and that no kernel needs: a splice in a raw string, a
// trigraph, a control character.
struct LexicalProblem {
  std::uint32_t line = 1, column = 1;
  const char* message = nullptr;  // "a trigraph"
};

// A candidate's text, scanned by the rules of its language.
struct ScannedSource {
  Language language = Language::kCuda;
  std::vector<SourceToken> tokens;
  std::vector<LineComment> comments;
  std::vector<LexicalProblem> problems;

  bool mentions(std::string_view identifier) const {
    return std::any_of(tokens.begin(), tokens.end(), [&](const SourceToken& token) {
      return token.kind == SourceToken::kIdentifier && token.text == identifier;
    });
  }
};

ScannedSource scan_cuda_source(std::string_view source);

struct KernelParameter {
  std::string name;  // empty if it has none
  std::string type;  // its tokens with blanks between them, without the name
  bool is_pointer = false;
  bool has_default = false;  // in Triton
};

// The head of a `__global__` function, or of one of Triton (python_source.hpp).
struct KernelHead {
  std::string name;
  std::vector<KernelParameter> parameters;
  int line = 1;  // line of `__global__`
  bool is_template = false;
};

// Every kernel once, in the order of the text; a declaration and its definition are one.
std::vector<KernelHead> find_kernels(const ScannedSource& source);

}  // namespace krl

#include <kernelrl/detail/cuda_scanner.hpp>
#include <kernelrl/detail/kernel_finder.hpp>

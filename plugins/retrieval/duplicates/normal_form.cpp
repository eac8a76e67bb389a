#include "plugins/retrieval/duplicates/normal_form.hpp"

#include <algorithm>
#include <kernelrl/cuda_source.hpp>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "plugins/python/tokens.hpp"
#include "plugins/retrieval/duplicates/known_names.hpp"

namespace krl::retrieval {
namespace {

struct Token : SourceToken {
  bool python = false;  // or CUDA
};
using Tokens = std::vector<Token>;

constexpr std::size_t kLeastTokens = 8;
constexpr std::size_t kLeastKernelTokens = 24;

bool holds_cuda(std::string_view text) {
  return text.find("__global__") != text.npos || text.find("#include") != text.npos;
}

void append(std::vector<SourceToken> tokens, bool python, Tokens& all) {
  for (SourceToken& token : tokens) all.push_back({std::move(token), python});
}

// True if a text is more likely Python than C++: one of its lines outside of braces begins with
// `import`, `from`, `def` or `class … :`, as a module does.
bool looks_like_python(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t last = line.find_last_not_of(" \t\r");
    const bool colon = last != line.npos && line[last] == ':';
    if (line.starts_with("import ") || line.starts_with("from ") || line.starts_with("def ") ||
        (line.starts_with("class ") && colon)) {
      return true;
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

// Replaces the strings of Python's texts that contain CUDA by their tokens, and leaves out strings
// alone on their lines, such as documentation. Lines are logical ones.
Tokens scan_python(std::string_view text) {
  using Python = python::Token;
  Tokens all;
  bool starts_line = true;
  const std::vector<Python> tokens = python::python_tokens(text);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Python& token = tokens[i];
    const bool starts = std::exchange(starts_line, token.kind >= Python::kNewline);
    if (starts_line) continue;
    const bool is_text = token.kind == Python::kString || token.kind == Python::kFormat ||
                         token.kind == Python::kOddString;
    if (is_text && starts && tokens[i + 1].kind >= Python::kNewline) continue;
    if (is_text && holds_cuda(token.text)) {
      append(scan_cuda_source(token.text).tokens, false, all);
      continue;
    }
    if (token.kind == Python::kOperator) {  // by its characters, as in CUDA
      for (const char c : token.text)
        all.push_back({{SourceToken::kPunctuation, {c}, token.line, 1, starts}, true});
      continue;
    }
    const auto kind = is_text                         ? SourceToken::kLiteral
                      : token.kind == Python::kNumber ? SourceToken::kNumber
                                                      : SourceToken::kIdentifier;
    all.push_back({{kind, token.text, token.line, 1, starts}, true});
  }
  return all;
}

Tokens scan(std::string_view text) {
  if (looks_like_python(text)) return scan_python(text);
  Tokens all;
  append(scan_cuda_source(text).tokens, false, all);
  return all;
}

// Prose has few tokens that are not words.
bool is_prose(const Tokens& tokens) {
  const auto names = std::count_if(tokens.begin(), tokens.end(), [](const Token& token) {
    return token.kind == SourceToken::kIdentifier;
  });
  const auto all = static_cast<std::ptrdiff_t>(tokens.size());
  return names * 10 > all * 7;
}

bool starts_left_out_line(const Tokens& tokens, std::size_t i) {
  if (!tokens[i].starts_line) return false;
  if (tokens[i].python) return tokens[i].is("import") || tokens[i].is("from");
  return tokens[i].is("#") && i + 1 < tokens.size() &&
         (tokens[i + 1].is("include") || tokens[i + 1].is("pragma"));
}

// Removes includes, imports and qualifiers.
Tokens essential(Tokens tokens) {
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (starts_left_out_line(tokens, i)) {
      while (i + 1 < tokens.size() && !tokens[i + 1].starts_line) ++i;
    } else if (tokens[i].is("extern") || is_qualifier(tokens[i].text)) {
      const bool linkage = tokens[i].is("extern") && i + 1 < tokens.size() &&
                           tokens[i + 1].kind == SourceToken::kLiteral;
      if (linkage) ++i;
    } else {
      kept.push_back(std::move(tokens[i]));
    }
  }
  return kept;
}

// Numbers the names of a text.
class Renaming {
 public:
  explicit Renaming(const Tokens& tokens) : tokens_(tokens) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_name(i) || !is_declared_at(i)) continue;
      declared_.insert(tokens[i].text);
      const bool redeclared = is_library_type(tokens[i].text) && is_type(tokens[i - 1].text);
      if (redeclared) no_types_.insert(tokens[i].text);
    }
  }

  // The normal form of the tokens from `begin` to before `end`, numbered from 0.
  std::string form(std::size_t begin, std::size_t end) const {
    std::unordered_map<std::string, std::size_t> names, members;
    std::string text;
    for (std::size_t i = begin; i < end; ++i) {
      if (!text.empty()) text += ' ';
      if (tokens_[i].kind == SourceToken::kNumber) {
        text += '0';
      } else if (tokens_[i].kind == SourceToken::kLiteral) {
        text += '"';
      } else if (!is_name(i) || is_known(i)) {
        text += tokens_[i].text;
      } else if (follows_member_access(i)) {
        text += is_foreign_member(i) ? tokens_[i].text : numbered(members, i, 'm');
      } else {
        text += is_foreign_call(i) ? tokens_[i].text : numbered(names, i, 'v');
      }
    }
    return text;
  }

 private:
  bool is_name(std::size_t i) const { return tokens_[i].kind == SourceToken::kIdentifier; }
  bool is_known(std::size_t i) const {
    return is_known_name(tokens_[i].text, tokens_[i].python) &&
           !no_types_.contains(tokens_[i].text);
  }
  bool is(std::size_t i, std::string_view spelling) const {
    return i < tokens_.size() && tokens_[i].is(spelling);
  }

  // `float name`, `float* name`, `def name`: behind a type, or what may be one.
  bool is_declared_at(std::size_t i) const {
    if (i == 0) return false;
    if (is_name(i - 1)) return !precedes_expression(tokens_[i - 1].text, tokens_[i].python);
    const bool pointer = is(i - 1, "*") || is(i - 1, "&");
    return pointer && i >= 2 && is_name(i - 2) && is_type(tokens_[i - 2].text);
  }

  bool follows_member_access(std::size_t i) const {
    if (i < 2) return false;
    const bool arrow = is(i - 1, ">") && is(i - 2, "-");
    const bool scope = is(i - 1, ":") && is(i - 2, ":");
    return is(i - 1, ".") || arrow || scope;
  }

  // True for a member of something outside the text: of a built-in variable or a module, or a
  // method.
  bool is_foreign_member(std::size_t i) const {
    const std::size_t owner = i - (is(i - 1, ".") ? 2 : 3);
    if (i < 3 || !is_name(owner)) return true;
    if (is(owner, "self") || is(owner, "this")) return false;
    return is_component(tokens_[i].text) || is(i - 1, ":") || is(i + 1, "(") || is(i + 1, "<") ||
           is_known(owner) || !declared_.contains(tokens_[owner].text);
  }

  bool is_foreign_call(std::size_t i) const {
    return is(i + 1, "(") && !declared_.contains(tokens_[i].text);
  }

  std::string numbered(std::unordered_map<std::string, std::size_t>& numbers, std::size_t i,
                       char kind) const {
    const std::size_t next = numbers.size();
    return kind + std::to_string(numbers.try_emplace(tokens_[i].text, next).first->second);
  }

  const Tokens& tokens_;
  std::unordered_set<std::string> declared_;
  std::unordered_set<std::string> no_types_;  // names of types that are variables: `int half`
};

// Behind the closing brace of the function whose head is at `begin`; nothing for a declaration.
std::size_t end_of_function(const Tokens& tokens, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    if (depth == 0 && tokens[i].is(";")) return begin;
    if (tokens[i].is("{")) ++depth;
    if (tokens[i].is("}") && --depth == 0) return i + 1;
  }
  return tokens.size();
}

// Removes `__launch_bounds__(256, 2)` and other parts that do not affect a kernel's computation.
Tokens without_launch_bounds(const Tokens& tokens) {
  Tokens kept;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__launch_bounds__")) {
      kept.push_back(tokens[i]);
      continue;
    }
    while (i + 1 < tokens.size() && !tokens[i].is(")")) ++i;
  }
  return kept;
}

// Returns where the functions, directives and other parts of the outermost level begin.
std::vector<std::size_t> parts_of(const Tokens& tokens) {
  std::vector<std::size_t> begins;
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    bool begin = i == 0 || token.python != tokens[i - 1].python;
    if (begin) {
      depth = 0;
    } else if (token.python) {
      begin = token.starts_line && (token.is("def") || token.is("class") || token.is("@"));
    } else if (depth == 0) {
      const bool directive = tokens[begins.back()].is("#");
      begin = directive ? token.starts_line : tokens[i - 1].is(";") || tokens[i - 1].is("}");
    }
    if (begin) begins.push_back(i);
    if (token.is("{")) ++depth;
    if (token.is("}")) depth = std::max(depth - 1, 0);
  }
  return begins;
}

// The parts numbered one by one, as functions use the same names for different things, and sorted.
std::string form_of_source(const Tokens& tokens, const Renaming& renaming) {
  const std::vector<std::size_t> begins = parts_of(tokens);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : tokens.size();
    parts.push_back(renaming.form(begins[i], end));
  }
  std::sort(parts.begin(), parts.end());
  std::string whole;
  for (const std::string& part : parts) whole += part + "\n";
  return whole;
}

std::string lower_case_words(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens) {
    if (token.kind == SourceToken::kPunctuation) continue;
    if (!text.empty()) text += ' ';
    for (const char c : token.text) {
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return text;
}

}  // namespace

NormalForm normal_form(std::string_view text) {
  const Tokens tokens = without_launch_bounds(essential(scan(text)));
  const Renaming renaming(tokens);
  NormalForm form;
  if (tokens.size() >= kLeastTokens) {
    form.whole = is_prose(tokens) ? lower_case_words(tokens) : form_of_source(tokens, renaming);
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("__global__")) continue;
    const std::size_t end = end_of_function(tokens, i);
    if (end - i >= kLeastKernelTokens) form.kernels.push_back(renaming.form(i, end));
    i = std::max(i, end - 1);
  }
  return form;
}

}  // namespace krl::retrieval

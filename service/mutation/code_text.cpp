#include "service/mutation/code_text.hpp"

#include <algorithm>
#include <array>

namespace krl::service {
namespace {

constexpr std::array<std::string_view, 23> kLongOperators = {
    "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
    "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::", "##"};

constexpr std::array<std::string_view, 20> kTypeNames = {
    "void", "bool",   "char", "short", "int",    "long",   "float", "double", "signed", "unsigned",
    "half", "__half", "auto", "const", "float4", "float2", "int4",  "int2",   "uint4",  "uint2"};

std::vector<std::size_t> line_starts(std::string_view source) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\n') starts.push_back(i + 1);
  }
  return starts;
}

bool opens(const CodeToken& token) { return token.is_any({"(", "[", "{"}); }
bool closes(const CodeToken& token) { return token.is_any({")", "]", "}"}); }

// True if a value may end with the token.
bool ends_value(const CodeToken& token) {
  if (token.kind == SourceToken::kNumber || token.is_any({")", "]"})) return true;
  return token.is_name() && !is_type_name(token.text) &&
         !token.is_any({"return", "case", "else", "do", "template", "sizeof"});
}

bool begins_value(const CodeToken& token) {
  return token.kind == SourceToken::kNumber || token.is_name() ||
         token.is_any({"(", "-", "!", "~", "*", "&", "::"});
}

}  // namespace

bool is_type_name(std::string_view word) {
  if (std::find(kTypeNames.begin(), kTypeNames.end(), word) != kTypeNames.end()) return true;
  return word.ends_with("_t") || word.starts_with("__nv_bfloat16") || word.starts_with("__half");
}

bool CodeToken::is_any(std::initializer_list<std::string_view> spellings) const {
  return std::any_of(spellings.begin(), spellings.end(),
                     [&](std::string_view spelling) { return is(spelling); });
}

CodeText::CodeText(std::string source)
    : source_(std::move(source)), scanned_(scan_cuda_source(source_)) {
  read_tokens();
  join_operators();
  pair_brackets();
  mark_templates();
}

// Leaves out tokens that are not in the source literally: splices, digraphs.
void CodeText::read_tokens() {
  const std::vector<std::size_t> starts = line_starts(source_);
  bool in_preprocessor = false;
  for (const SourceToken& token : scanned_.tokens) {
    if (token.starts_line) in_preprocessor = token.is("#");
    if (in_preprocessor || token.line > starts.size()) continue;
    const std::size_t offset = starts[token.line - 1] + token.column - 1;
    if (source_.compare(offset, token.text.size(), token.text) != 0) continue;
    tokens_.push_back({token.kind, token.text, offset, token.line});
  }
}

void CodeText::join_operators() {
  std::vector<CodeToken> joined;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    joined.push_back(tokens_[i]);
    if (tokens_[i].kind != SourceToken::kPunctuation) continue;
    for (const std::string_view spelling : kLongOperators) {
      const bool there = source_.compare(tokens_[i].offset, spelling.size(), spelling) == 0 &&
                         i + spelling.size() <= tokens_.size() && tokens_[i].text.size() == 1;
      if (!there) continue;
      joined.back().text = spelling;
      i += spelling.size() - 1;
      break;
    }
  }
  tokens_ = std::move(joined);
}

void CodeText::pair_brackets() {
  partners_.assign(tokens_.size(), kNone);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (opens(tokens_[i])) open.push_back(i);
    if (!closes(tokens_[i]) || open.empty()) continue;
    partners_[i] = open.back();
    partners_[open.back()] = i;
    open.pop_back();
  }
}

void CodeText::mark_templates() {
  in_template_.assign(tokens_.size(), false);
  for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
    const bool begins = tokens_[i].is("template") || tokens_[i].text.ends_with("_cast");
    if (!begins || !tokens_[i + 1].is("<")) continue;
    int depth = 0;
    for (std::size_t k = i + 1; k < tokens_.size(); ++k) {
      in_template_[k] = true;
      depth += tokens_[k].is("<") ? 1 : tokens_[k].is(">") ? -1 : tokens_[k].is(">>") ? -2 : 0;
      if (depth <= 0 || tokens_[k].is_any({";", "{"})) break;
    }
  }
}

const CodeToken& CodeText::at(std::size_t index) const {
  static const CodeToken none;
  return index < tokens_.size() ? tokens_[index] : none;
}

std::string_view CodeText::text_of(std::size_t first, std::size_t last) const {
  const std::size_t begin = tokens_[first].offset;
  return std::string_view(source_).substr(begin, tokens_[last].end() - begin);
}

bool CodeText::is_binary(std::size_t index) const {
  if (index == 0 || index + 1 >= tokens_.size() || in_template_[index]) return false;
  return ends_value(tokens_[index - 1]) && begins_value(tokens_[index + 1]);
}

std::size_t CodeText::operand_end(std::size_t index) const {
  std::size_t last = index;
  if (at(index).is("(")) {
    last = partners_[index];
  } else if (!at(index).is_name() && at(index).kind != SourceToken::kNumber) {
    return kNone;
  }
  while (last != kNone && last + 1 < tokens_.size()) {
    const CodeToken& next = tokens_[last + 1];
    if (next.is_any({"(", "["})) {
      last = partners_[last + 1];
    } else if (next.is_any({".", "->", "::"}) && at(last + 2).is_name()) {
      last += 2;
    } else {
      break;
    }
  }
  return last;
}

std::size_t CodeText::operand_begin(std::size_t index) const {
  std::size_t first = index;
  while (first != kNone) {
    if (at(first).is_any({")", "]"})) {
      const std::size_t open = partners_[first];
      if (open == kNone || open == 0) return open;
      // A bracket that follows a name belongs to it.
      const bool continues = ends_value(tokens_[open - 1]) && !tokens_[open - 1].is("if");
      if (!continues) return open;
      first = open - 1;
      continue;
    }
    if (!at(first).is_name() && at(first).kind != SourceToken::kNumber) return kNone;
    if (first < 2 || !at(first - 1).is_any({".", "->", "::"})) return first;
    first -= 2;
  }
  return first;
}

std::size_t CodeText::find_outside(std::size_t index,
                                   std::initializer_list<std::string_view> stops) const {
  for (std::size_t i = index; i < tokens_.size(); ++i) {
    if (tokens_[i].is_any(stops)) return i;
    if (closes(tokens_[i])) return kNone;
    if (!opens(tokens_[i])) continue;
    i = partners_[i];
    if (i == kNone) return kNone;
  }
  return kNone;
}

bool CodeText::begins_statement(std::size_t index) const {
  if (index == 0 || index >= tokens_.size()) return false;
  if (at(index - 1).is_any({";", "{", "}", "else"})) return true;
  if (!at(index - 1).is(")")) return false;
  const std::size_t open = partners_[index - 1];
  return open != kNone && open > 0 && at(open - 1).is_any({"if", "for", "while"});
}

}  // namespace krl::service

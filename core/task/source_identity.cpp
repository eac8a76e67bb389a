#include "core/task/source_identity.hpp"

#include <algorithm>
#include <kernelrl/python_source.hpp>

#include "core/base/hash.hpp"

namespace krl::core {
namespace {

constexpr std::size_t kDigits = 16;

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

bool is_punctuation(const SourceToken& token) { return token.kind == SourceToken::kPunctuation; }

// True if a blank between the two would change what they mean: it would part the characters of an
// operator, the name of a macro from its parameters, or what marks a register or a directive of PTX
// from its name.
bool belong_together(const SourceToken& a, const SourceToken& b, bool preprocessor,
                     Language language) {
  const bool touch = a.line == b.line && a.column + a.text.size() == b.column;
  if (touch && language == Language::kPtx && is_punctuation(a)) return true;
  if (!touch || !is_punctuation(b)) return false;
  if (preprocessor && b.is("(")) return a.kind == SourceToken::kIdentifier;
  constexpr std::string_view kBeforeEqual = "=!<>+-*/%&|^";
  const std::string_view repeated = language == Language::kTriton ? "*/<>" : "+-&|<>=:";
  const char first = a.text.back(), second = b.text.front();
  return is_punctuation(a) && ((first == second && repeated.find(first) != repeated.npos) ||
                               (second == '=' && kBeforeEqual.find(first) != kBeforeEqual.npos) ||
                               (first == '-' && second == '>'));
}

}  // namespace

std::string identity_of(std::string_view source) {
  const ScannedSource scanned = scan_candidate(source);
  const bool python = scanned.language == Language::kTriton;
  std::string text;
  bool preprocessor = false;  // a line of it ends where it ends
  const SourceToken* before = nullptr;
  for (const SourceToken& token : scanned.tokens) {
    const bool begins = token.starts_line && token.is("#");
    if (token.starts_line && python)
      text += "\n" + std::string(token.column - 1, ' ');
    else if (token.starts_line && (preprocessor || begins))
      text += '\n';
    else if (before == nullptr || !belong_together(*before, token, preprocessor, scanned.language))
      text += ' ';
    if (token.starts_line) preprocessor = begins;
    text += token.text;
    before = &token;
  }
  for (const LineComment& comment : scanned.comments) {
    const std::string directive = without_blanks(comment.text);
    if (comment.starts_line && directive.starts_with('@')) text += "\n//" + directive;
  }
  return sha256_hex(text).substr(0, kDigits);
}

}  // namespace krl::core

#include "plugins/datasets/templates/text.hpp"

#include <cctype>
#include <cstdint>
#include <kernelrl/expression.hpp>
#include <optional>
#include <stdexcept>

namespace krl::templates {
namespace {

constexpr int kMaxNesting = 8;

std::string substitute_nested(std::string_view text, const Scope& scope, int nesting);

// The value of the expression between the brackets of `$(…)`, if all of its names are integers of
// the scope.
std::optional<std::string> evaluate(std::string_view text, const Scope& scope, int nesting) {
  const Checked<Expression> expression = Expression::parse(text);
  if (!expression) return std::nullopt;
  IntegerNames names;
  for (const Expression::NameUse& use : expression->names()) {
    const auto entry = scope.find(use.name);
    if (entry == scope.end()) return std::nullopt;
    const auto value = Expression::parse(substitute_nested(entry->second, scope, nesting + 1));
    const auto number = value ? value->integer({}) : Checked<std::int64_t>(TextError{});
    if (!number) return std::nullopt;
    names[use.name] = *number;
  }
  const Checked<std::int64_t> result = expression->integer(names);
  return result ? std::optional(std::to_string(*result)) : std::nullopt;
}

std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_'))
    ++at;
  return at;
}

std::size_t closing_bracket(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

std::string substitute_nested(std::string_view text, const Scope& scope, int nesting) {
  if (nesting > kMaxNesting)
    throw std::length_error("placeholders refer to one another in a circle");
  std::string result;
  std::size_t position = 0;
  while (position < text.size()) {
    const std::size_t dollar = std::min(text.find('$', position), text.size());
    result += text.substr(position, dollar - position);
    if (dollar == text.size()) break;
    position = dollar + 1;
    if (position < text.size() && text[position] == '(') {
      const std::size_t close = closing_bracket(text, position);
      const auto value =
          close == std::string_view::npos
              ? std::nullopt
              : evaluate(text.substr(position + 1, close - position - 1), scope, nesting);
      result += value ? *value : "$";
      if (value) position = close + 1;
      continue;
    }
    const std::size_t end = word_end(text, position);
    const auto entry = scope.find(text.substr(position, end - position));
    if (entry == scope.end()) {
      result += '$';
    } else {
      result += substitute_nested(entry->second, scope, nesting + 1);
      position = end;
    }
  }
  return result;
}

}  // namespace

std::string substitute(std::string_view text, const Scope& scope) {
  if (!text.empty() && text.front() == '\n') text.remove_prefix(1);
  return substitute_nested(text, scope, 0);
}

std::string expand(std::string_view text, const Scope& scope) {
  std::string result = substitute(text, scope);
  const std::size_t left = result.find('$');
  if (left == std::string::npos) return result;
  throw std::out_of_range("no value for '" + result.substr(left, 24) + "'");
}

}  // namespace krl::templates

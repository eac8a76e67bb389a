// Comparisons, conditions and the choices that hang on them.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

constexpr Swap kComparisons[] = {
    {"bound_off_by_one", "<", "<="},    {"bound_off_by_one", "<=", "<"},
    {"bound_off_by_one", ">", ">="},    {"bound_off_by_one", ">=", ">"},
    {"comparison_flipped", "<", ">="},  {"comparison_flipped", "<=", ">"},
    {"comparison_flipped", ">", "<="},  {"comparison_flipped", ">=", "<"},
    {"comparison_flipped", "<", ">"},   {"comparison_flipped", ">", "<"},
    {"comparison_flipped", "==", "!="}, {"comparison_flipped", "!=", "=="},
    {"comparison_flipped", "==", ">="}, {"comparison_flipped", "==", "<="},
    {"comparison_flipped", "!=", "<"},  {"comparison_flipped", "!=", ">"},
    {"comparison_flipped", "&&", "||"}, {"comparison_flipped", "||", "&&"}};

// `a < b` as `a + 1 < b`: the last one is left out.
void stop_one_before(const CodeToken& token, Changes& changes) {
  if (token.is_any({"<", "<="})) changes.push_back({"bound_short", token.offset, 0, "+ 1 "});
}

// `a && b` as `a`, and as `b`.
void drop_conditions(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& token = code.at(index);
  if (!token.is_any({"&&", "||"})) return;
  const std::size_t end = code.find_outside(index + 1, {"&&", "||", ";", "?", ","});
  std::size_t last = end == CodeText::kNone ? index + 1 : end - 1;
  if (end == CodeText::kNone) {  // up to the bracket that closes
    for (; last + 1 < code.size() && !code.at(last + 1).is_any({")", "]", "}"}); ++last) {
      if (code.at(last + 1).is_any({"(", "["})) last = code.partner(last + 1) - 1;
      if (last >= code.size()) return;
    }
  }
  changes.push_back({"condition_dropped", token.offset, code.at(last).end() - token.offset, ""});
}

void decide_condition(const CodeText& code, std::size_t index, Changes& changes) {
  if (!code.at(index).is("if") || !code.at(index + 1).is("(")) return;
  const std::size_t open = index + 1, close = code.partner(open);
  if (close == CodeText::kNone) return;
  const std::size_t begin = code.at(open).end(), length = code.at(close).offset - begin;
  changes.push_back({"guard_dropped", begin, length, "true"});
  changes.push_back({"branch_dropped", begin, length, "false"});
}

// `c ? a : b` as `c ? b : a`, and as either.
void swap_choices(const CodeText& code, std::size_t index, Changes& changes) {
  if (!code.at(index).is("?")) return;
  const std::size_t colon = code.find_outside(index + 1, {":"});
  if (colon == CodeText::kNone || colon == index + 1) return;
  std::size_t last = colon;
  while (last + 1 < code.size() && !code.at(last + 1).is_any({",", ";", ")", "]", "}", ":"})) {
    ++last;
    if (!code.at(last).is_any({"(", "[", "{"})) continue;
    last = code.partner(last);
    if (last == CodeText::kNone) return;
  }
  if (last == colon) return;
  const std::string first(code.text_of(index + 1, colon - 1));
  const std::string second(code.text_of(colon + 1, last));
  const std::size_t begin = code.at(index + 1).offset, length = code.at(last).end() - begin;
  changes.push_back({"choice_swapped", begin, length, second + " : " + first});
  changes.push_back({"choice_dropped", begin, length, first + " : " + first});
  changes.push_back({"choice_dropped", begin, length, second + " : " + second});
}

}  // namespace

void collect_comparisons(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code.is_binary(i)) {
      collect_swaps(code.at(i), kComparisons, changes);
      stop_one_before(code.at(i), changes);
      drop_conditions(code, i, changes);
    }
    decide_condition(code, i, changes);
    swap_choices(code, i, changes);
    if (code.at(i).is("!")) changes.push_back({"negation_dropped", code.at(i).offset, 1, ""});
  }
}

}  // namespace krl::service

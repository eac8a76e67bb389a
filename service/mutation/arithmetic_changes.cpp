// Operators between values, and the terms and factors that they add.
#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

constexpr Swap kOperators[] = {{"operator_swapped", "+", "-"},   {"operator_swapped", "-", "+"},
                               {"operator_swapped", "*", "+"},   {"operator_swapped", "*", "/"},
                               {"operator_swapped", "/", "*"},   {"operator_swapped", "%", "/"},
                               {"operator_swapped", "/", "%"},   {"operator_swapped", "%", "&"},
                               {"operator_swapped", "<<", ">>"}, {"operator_swapped", ">>", "<<"},
                               {"operator_swapped", "&", "|"},   {"operator_swapped", "|", "&"},
                               {"operator_swapped", "^", "|"},   {"operator_swapped", "^", "&"},
                               {"operator_swapped", "+=", "-="}, {"operator_swapped", "-=", "+="},
                               {"operator_swapped", "*=", "/="}, {"operator_swapped", "/=", "*="},
                               {"operator_swapped", "+=", "="},  {"operator_swapped", "*=", "="},
                               {"operator_swapped", "|=", "^="}, {"operator_swapped", "^=", "|="},
                               {"operator_swapped", "&=", "|="}, {"operator_swapped", "|=", "="},
                               {"operator_swapped", "-=", "="}};

std::string_view kind_of_operand(const CodeToken& op) {
  if (op.is_any({"+", "-"})) return "term_dropped";
  return op.is_any({"*", "/"}) ? "factor_dropped" : "mask_dropped";
}

// `a - b` as `a`, and as `b`.
void drop_operand(const CodeText& code, std::size_t index, Changes& changes) {
  const CodeToken& op = code.at(index);
  if (!op.is_any({"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"})) return;
  const std::size_t last = code.operand_end(index + 1), first = code.operand_begin(index - 1);
  if (last != CodeText::kNone)
    changes.push_back({kind_of_operand(op), op.offset, code.at(last).end() - op.offset, ""});
  if (first == CodeText::kNone || op.is("-")) return;
  const std::size_t begin = code.at(first).offset;
  changes.push_back({kind_of_operand(op), begin, op.end() - begin, ""});
}

bool is_sign(const CodeText& code, std::size_t index) {
  return code.at(index).is("-") && !code.is_binary(index);
}

}  // namespace

void collect_arithmetic(const CodeText& code, Changes& changes) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    if (is_sign(code, i)) changes.push_back({"sign_dropped", code.at(i).offset, 1, ""});
    if (!code.is_binary(i)) continue;
    collect_swaps(code.at(i), kOperators, changes);
    drop_operand(code, i, changes);
  }
}

}  // namespace krl::service

#include "service/mutation/ptx_instructions.hpp"

#include <algorithm>
#include <cctype>

namespace krl::service {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

PtxWord trimmed(PtxWord word) {
  while (!word.text.empty() && is_space(word.text.front())) {
    word.text.remove_prefix(1);
    ++word.offset;
  }
  while (!word.text.empty() && is_space(word.text.back())) word.text.remove_suffix(1);
  return word;
}

// The front of a word, up to a blank; the rest stays.
PtxWord take_front(PtxWord& word) {
  std::size_t end = 0;
  while (end < word.text.size() && !is_space(word.text[end])) ++end;
  const PtxWord front{word.text.substr(0, end), word.offset};
  word = trimmed({word.text.substr(end), word.offset + end});
  return front;
}

std::vector<PtxWord> split_operands(PtxWord word) {
  std::vector<PtxWord> operands;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= word.text.size(); ++i) {
    const char c = i < word.text.size() ? word.text[i] : ',';
    depth += c == '{' || c == '[' || c == '(' ? 1 : c == '}' || c == ']' || c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    const PtxWord operand = trimmed({word.text.substr(begin, i - begin), word.offset + begin});
    if (!operand.text.empty()) operands.push_back(operand);
    begin = i + 1;
  }
  return operands;
}

bool read_instruction(PtxWord line, PtxInstruction& instruction) {
  line = trimmed(line);
  const bool is_one = line.text.size() > 1 && line.text.back() == ';' &&
                      (std::islower(static_cast<unsigned char>(line.text.front())) != 0 ||
                       line.text.front() == '@');
  if (!is_one || line.text.find(';') + 1 != line.text.size()) return false;
  instruction = {};
  instruction.whole = line;
  PtxWord rest = trimmed({line.text.substr(0, line.text.size() - 1), line.offset});
  if (rest.text.front() == '@') instruction.guard = take_front(rest);
  instruction.opcode = take_front(rest);
  instruction.operands = split_operands(rest);
  return true;
}

}  // namespace

bool PtxInstruction::has_modifier(std::string_view modifier) const {
  const std::size_t at = opcode.text.find(modifier);
  if (at == std::string_view::npos) return false;
  const std::size_t end = at + modifier.size();
  return end == opcode.text.size() || opcode.text[end] == '.';
}

std::vector<PtxInstruction> ptx_instructions(std::string_view text, std::size_t begin) {
  std::vector<PtxInstruction> found;
  for (std::size_t line = begin; line < text.size();) {
    const std::size_t end = std::min(text.find('\n', line), text.size());
    PtxInstruction instruction;
    if (read_instruction({text.substr(line, end - line), line}, instruction))
      found.push_back(std::move(instruction));
    line = end + 1;
  }
  return found;
}

}  // namespace krl::service

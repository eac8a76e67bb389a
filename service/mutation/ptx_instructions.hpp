// The instructions of a PTX text as mutations see them: as compilers write them, one per line.
// Other lines are left out. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace krl::service {

// A piece of the text.
struct PtxWord {
  std::string_view text;
  std::size_t offset = 0;

  std::size_t end() const { return offset + text.size(); }
};

struct PtxInstruction {
  PtxWord whole;                  // includes its guard and semicolon
  PtxWord guard;                  // "@%p1", "@!%p1"; empty: none
  PtxWord opcode;                 // includes its modifiers: "setp.lt.s32"
  std::vector<PtxWord> operands;  // "%r1", "[%rd1+4]", "{%f1, %f2}", "%r1|%p1"

  // The opcode's first word: "setp".
  std::string_view name() const { return opcode.text.substr(0, opcode.text.find('.')); }
  bool has_modifier(std::string_view modifier) const;  // ".s32"
};

// Returns the instructions in bodies of functions, from the byte `begin` of the text on.
std::vector<PtxInstruction> ptx_instructions(std::string_view text, std::size_t begin);

}  // namespace krl::service

// Finds the loads of a function whose values may have no effect, so that they may read memory that
// nobody has written. Movable loads have a constant address in the stack or in shared memory: a
// compiler may move them before the condition that guards them. Idle loads are these and loads
// whose values are only stored elsewhere (a structure is copied with its padding and its unused
// elements).
#pragma once

#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

struct MemoryAccess;

class IdleLoads {
 public:
  // The next instruction in the text. `access`: its own; null if it has none.
  void note(const ptx::Instruction& instruction, MemoryAccess* access);
  // Marks the loads, after the last instruction.
  void mark() const;

 private:
  struct Load {
    MemoryAccess* access;
    std::vector<std::uint32_t> registers;
  };

  bool is_constant(const ptx::Operand& operand) const;
  void note_address(const ptx::Instruction& instruction);
  void use(const ptx::Operand& operand);

  std::vector<bool> used_;       // registers whose values go elsewhere than into memory
  std::vector<bool> addresses_;  // registers that hold the address of a variable, or near it
  std::vector<Load> loads_;
};

}  // namespace krl::machine

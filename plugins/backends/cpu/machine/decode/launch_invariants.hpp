// Finds the instructions of an entry whose results are the same for every block of a launch: loads
// of parameters, and values computed only from those, constants and a thread's place in its block.
// As each register has a separate row, a warp that continues with the next block has them already.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

class LaunchInvariants {
 public:
  using Registers = std::vector<std::uint32_t>;  // their numbers

  // `source`: an entry, which outlives this.
  explicit LaunchInvariants(const ptx::Function& source) : source_(source) {}

  // An instruction, in the order of the text, or the ending of a block, writes registers.
  void note_writes(const Registers& writes);
  // The next one is to be function.instructions[index].
  void note(const ptx::Instruction& instruction, std::uint32_t index);
  // Moves the invariant instructions from the blocks of `function` to its `invariants`.
  // `unwritten`: registers that may be read before they are written. The counters are not affected.
  void move(const Registers& unwritten, Function* function);

 private:
  struct Candidate {
    const ptx::Instruction* instruction;
    std::uint32_t index;
  };

  bool is_known(const ptx::Operand& operand) const;
  bool is_parameter(const ptx::Operand& address, std::uint32_t bytes) const;
  bool is_invariant(const ptx::Instruction& instruction, const Instruction& decoded) const;

  const ptx::Function& source_;
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> writers_;  // number of writers of each register
  std::vector<bool> known_;             // registers that invariant instructions write
};

}  // namespace krl::machine

// Computes once, from the registers that a function's instructions read and write, how long they
// wait: the longest chains of dependent results, and which loads are in flight together. Code is
// assumed to be arranged as by an optimising assembler: a load starts as soon as its address is
// known, unless a store to the same space precedes it; short branches become predicates.
//
// Basic blocks that are entered only from each other form a region: loads of its blocks may be
// waited for together. A loop's head and the code after a barrier begin a region.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

class Dependences {
 public:
  using Registers = std::vector<std::uint32_t>;  // their numbers

  // The next instruction of the function, which is in basic block `block`. `access`: of one that
  // accesses memory; null for others.
  void add(std::uint32_t block, const ptx::Instruction& instruction, InstructionClass kind,
           const Registers& reads, const Registers& writes, MemoryAccess* access);
  // Sets the chains of the blocks, where regions begin, and in the accesses of loads which of them
  // wait together. `successors`: of each block.
  void resolve(std::vector<BasicBlock>* blocks, const std::vector<Registers>& successors);
  // True if the register may hold the value of a load that its own region did not wait for.
  bool carries_load(std::uint32_t reg) const {
    return reg < carries_load_.size() && carries_load_[reg];
  }

 private:
  static constexpr std::uint32_t kNoLoad = ~std::uint32_t{0};
  static constexpr std::size_t kSpaces = 3;

  struct Step {
    std::uint32_t block = 0;
    InstructionClass kind = InstructionClass::kInteger;
    std::uint8_t space = 0;  // between different ones a store does not order a load
    bool copy = false;       // copies a register
    bool read_only = false;
    MemoryAccess* access = nullptr;
    // In registers_: the ones read, then the ones written.
    std::uint32_t first = 0, reads = 0, writes = 0;
  };
  // The value of a register in the region that wrote it last.
  struct Value {
    std::uint32_t region = 0;
    std::uint32_t clocks = 0;      // when it is there, without memory
    std::uint32_t waits = 0;       // loads, each of whose address needs the one before
    std::uint32_t load = kNoLoad;  // it is this load's, or a copy of it
  };
  struct Load {
    MemoryAccess* access = nullptr;
    std::uint32_t words = 1;
    std::uint32_t waits = 0;  // before its address is known
    bool used = false;
  };

  void find_regions(std::vector<BasicBlock>* blocks, const std::vector<Registers>& successors);
  void begin_region();
  void end_region();
  void step(const Step& step);
  void branch(const BasicBlock& block, const std::vector<BasicBlock>& blocks, std::uint32_t index);
  const Value& value(std::uint32_t reg) const;
  Value& written(std::uint32_t reg);
  Value use(const Step& step);
  void group_loads();

  std::vector<Step> steps_;
  Registers registers_;
  std::vector<bool> waits_for_copies_;  // blocks: cp.async
  std::vector<bool> behind_branch_;     // blocks: a branch that no predicate replaces goes there

  // ---- of the present region ----
  std::uint32_t region_ = 0;
  std::uint32_t clocks_ = 0;            // longest chain so far
  std::uint32_t used_ = 0;              // loads that were waited for, one after another
  std::uint32_t floor_ = 0;             // … before any load that follows
  std::uint32_t stored_[kSpaces] = {};  // waits before the last store
  std::vector<Load> loads_;
  Registers carriers_;  // registers that loads, or copies of them, wrote

  std::vector<Value> values_;  // by register
  std::vector<bool> carries_load_;
};

}  // namespace krl::machine

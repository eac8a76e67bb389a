// Watches the registers that asynchronous products (wgmma) use: before each other instruction that
// accesses them goes one that checks whether it may. Costs nothing where there are no such products.
#pragma once

#include <vector>

#include "plugins/backends/cpu/machine/decode/frame_layout.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

class ProductRegisters {
 public:
  // Finds them in a function, which outlives this: the registers of products, and copies of those.
  explicit ProductRegisters(const ptx::Function& source);

  // Adds the checks to those that must precede the instruction that is being decoded. `decoded` has
  // its guard.
  void watch(const ptx::Instruction& instruction, const Instruction& decoded, FrameLayout* layout);

 private:
  bool has(const ptx::Operand& operand) const {
    return operand.kind == ptx::Operand::kRegister && has(operand.index);
  }
  bool has(std::uint32_t reg) const { return reg < registers_.size() && registers_[reg]; }

  std::vector<bool> registers_;  // empty: there are no products
};

}  // namespace krl::machine

// The places of a function's registers, constants and special registers in its frame, and the
// operands that the instruction being decoded reads and writes there.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/backends/cpu/machine/decode/module_layout.hpp"
#include "plugins/backends/cpu/machine/operands.hpp"

namespace krl::machine {

class FrameLayout final : public Operands {
 public:
  // All outlive this.
  FrameLayout(const ptx::Function& source, const ModuleLayout& module, Function& function);

  std::uint32_t source(const ptx::Operand& operand, ptx::Type type) override;
  std::uint32_t destination(const ptx::Operand& operand, ptx::Type type) override;
  std::uint32_t width(const ptx::Operand& operand) const override;
  std::uint32_t source_any(const ptx::Operand& reg) override;
  std::uint32_t destination_any(const ptx::Operand& reg) override;
  std::uint32_t constant(std::uint64_t bits, std::uint32_t bytes) override;
  std::uint32_t table(std::span<const std::uint32_t> values) override;
  std::uint32_t use_of(const ptx::Operand& reg) override { return use_of(reg.index); }
  std::uint32_t scratch(std::uint32_t bytes_each) override;
  Address address(const ptx::Operand& operand, ptx::Space space) override;
  Parameter parameter(const ptx::Operand& operand) override;
  MemoryAccess* new_access() override;
  void then(const Instruction& part) override { epilogue_.push_back(part); }
  [[noreturn]] void unsupported(const ptx::Instruction& instruction) const override;

  // ---- for the decoder ----
  void begin_instruction(const ptx::Instruction& instruction);
  // Registers (their numbers) that the instruction read and wrote since begin_instruction.
  const std::vector<std::uint32_t>& reads() const { return reads_; }
  const std::vector<std::uint32_t>& writes() const { return writes_; }
  std::uint32_t register_count() const { return static_cast<std::uint32_t>(registers_.size()); }
  std::pair<std::uint32_t, std::uint32_t> row_of(std::uint32_t reg) const;  // offset, bytes
  std::uint32_t use_of(std::uint32_t reg);                                  // by its number
  // An instruction that must precede it.
  void before(const Instruction& part) { prologue_.push_back(part); }
  // Instructions that must precede the one that is being decoded, such as the negation of a
  // predicate.
  std::vector<Instruction> take_prologue();
  // Returns the instructions that must follow it.
  std::vector<Instruction> take_epilogue() { return std::exchange(epilogue_, {}); }
  ParameterSlot slot_of(const ptx::Operand& variable);  // a .param variable that lives in the frame
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::uint32_t allocate(std::size_t bytes);
  std::uint32_t register_row(const ptx::Operand& reg);
  std::uint32_t special(const std::string& name, std::uint32_t bytes);
  std::uint32_t variable_address(const ptx::Operand& variable, std::int64_t offset,
                                 std::uint32_t bytes);
  std::uint32_t local_address(std::uint64_t offset, std::uint32_t bytes);
  std::uint32_t negated(std::uint32_t predicate);
  std::uint32_t immediate(const ptx::Operand& operand, ptx::Type type);
  const ptx::Variable& variable_of(const ptx::Operand& operand) const;

  const ptx::Function& source_;
  const ModuleLayout& module_;
  Function& function_;
  const ptx::Instruction* instruction_ = nullptr;
  std::vector<std::uint32_t> registers_;  // offset of each row; 0: it has none yet
  // Keyed by bytes and bits.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> specials_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::uint32_t> locals_;
  std::map<std::uint64_t, ParameterSlot> slots_;  // .param variables, keyed by scope and index
  std::map<std::uint32_t, std::uint64_t> local_offsets_;  // .local variables, keyed by index
  std::map<std::uint32_t, std::uint32_t> uses_;           // by register
  std::vector<std::uint32_t> reads_, writes_;
  std::vector<Instruction> prologue_, epilogue_;
};

}  // namespace krl::machine

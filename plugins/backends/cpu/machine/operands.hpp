// The operands of an instruction for decoding: the rows of the frame that hold them. Immediates and
// special registers are rows too, so that operations need only one kind of operand.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

class Operands {
 public:
  virtual ~Operands() = default;

  // Returns the row of 32 values of size_of(type) bytes (for a predicate: its mask) that holds a
  // source operand: a register of that size, an immediate, a special register, a variable's
  // address. Throws Unsupported for anything else.
  virtual std::uint32_t source(const ptx::Operand& operand, ptx::Type type) = 0;
  // Returns the row of a register that is written; 0 for "_". Its size must be that of the type.
  virtual std::uint32_t destination(const ptx::Operand& operand, ptx::Type type) = 0;
  // Returns the bytes of a register's values (0: a predicate); 0 for other operands. Loads, stores
  // and conversions take registers that are wider than their type.
  virtual std::uint32_t width(const ptx::Operand& operand) const = 0;
  virtual std::uint32_t source_any(const ptx::Operand& reg) = 0;       // a register of any width
  virtual std::uint32_t destination_any(const ptx::Operand& reg) = 0;  // …; 0 for "_"

  // A row of equal values: `bits`, cut to `bytes` (1, 2, 4 or 8; 0: a predicate of all lanes, true
  // if bits is not 0).
  virtual std::uint32_t constant(std::uint64_t bits, std::uint32_t bytes) = 0;
  // Values side by side: a row of one for each lane, or a list of any length.
  virtual std::uint32_t table(std::span<const std::uint32_t> values) = 0;
  // The place of a RegisterUse for a register that products use (memory/products_under_way.hpp).
  virtual std::uint32_t use_of(const ptx::Operand& reg) = 0;
  // A row that nothing else uses.
  virtual std::uint32_t scratch(std::uint32_t bytes_each) = 0;
  // The predicate that add.cc and the like write and addc reads: one for a function.
  std::uint32_t carry() { return carry_ != 0 ? carry_ : carry_ = scratch(sizeof(Mask)); }

  // The parts of [base + offset]: the row of addresses (8 or 4 bytes each), and the offset. A
  // variable's address is a constant row; a .param variable has none: see `parameter`.
  struct Address {
    std::uint32_t base = 0;
    std::uint32_t base_bytes = 8;
    std::int64_t offset = 0;
  };
  virtual Address address(const ptx::Operand& operand, ptx::Space space) = 0;
  // The offset of `address` in the 32 bits that instructions keep of it; `from` is unsupported if it
  // needs more.
  std::uint32_t short_offset(const ptx::Instruction& from, const Address& address) {
    if (address.offset != static_cast<std::int32_t>(address.offset)) unsupported(from);
    return static_cast<std::uint32_t>(address.offset);
  }
  // The parts of [param + offset] within a function: the location of its lanes' bytes, if `operand`
  // names a .param variable that lives in the frame; an entry's parameter has slot.bytes == 0 and
  // its offset in the block of parameters.
  struct Parameter {
    bool found = false;
    bool of_entry = false;
    ParameterSlot slot;
    std::int64_t offset = 0;  // offset in the slot, or in the block of parameters
    std::uint32_t bytes = 0;  // size of the variable
  };
  virtual Parameter parameter(const ptx::Operand& operand) = 0;

  // A new record for a memory instruction; it lives as long as the program.
  virtual MemoryAccess* new_access() = 0;

  // Adds an operation that follows the one being decoded, on its lanes.
  virtual void then(const Instruction& part) = 0;

  // Throws Unsupported with the instruction's full name, or the given one.
  [[noreturn]] virtual void unsupported(const ptx::Instruction& instruction) const = 0;

 private:
  std::uint32_t carry_ = 0;
};

// Each fills in `*out` (except for guard and line) and returns true if the instruction is one of
// its own; false: another's. Throws Unsupported for forms that it does not support.
bool decode_arithmetic(const ptx::Instruction&, Operands&,
                       Instruction* out);  // operations/arithmetic.cpp: integers
bool decode_floating(const ptx::Instruction&, Operands&,
                     Instruction* out);  // operations/floating.cpp
bool decode_comparison(const ptx::Instruction&, Operands&,
                       Instruction* out);  // operations/comparison.cpp
bool decode_conversion(const ptx::Instruction&, Operands&,
                       Instruction* out);  // operations/conversion.cpp
bool decode_move(const ptx::Instruction&, Operands&,
                 Instruction* out);  // operations/move.cpp: mov, packing, cvta
bool decode_memory(const ptx::Instruction&, Operands&, Instruction* out);  // memory/…
bool decode_warp(const ptx::Instruction&, Operands&,
                 Instruction* out);  // operations/warp.cpp: activemask

// True for warp-wide operations, at which lanes wait for each other, including those on matrices:
// operations/warp.cpp, operations/tensor.cpp.
bool is_meeting(const ptx::Instruction& instruction);
// Fills in the operands of the ending and the meeting. Throws Unsupported.
void decode_meeting(const ptx::Instruction&, Operands&, Instruction* last, Meeting* meeting);

}  // namespace krl::machine

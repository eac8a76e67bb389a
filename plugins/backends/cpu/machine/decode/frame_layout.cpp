#include "plugins/backends/cpu/machine/decode/frame_layout.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "plugins/backends/cpu/machine/fault.hpp"
#include "plugins/backends/cpu/machine/memory/access.hpp"
#include "plugins/backends/cpu/machine/memory/address_space.hpp"
#include "plugins/backends/cpu/machine/memory/products_under_way.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

using ptx::Operand;

constexpr std::size_t kMostFrameBytes = 8 << 20;
constexpr std::uint64_t kMostParameterBytes = 4096;

struct SpecialName {
  std::string_view name;
  Special which;
};
constexpr SpecialName kSpecials[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneId},
    {"%warpid", Special::kWarpId},
    {"%nwarpid", Special::kNwarpId},
    {"%clusterid.x", Special::kClusterIdX},
    {"%clusterid.y", Special::kClusterIdY},
    {"%clusterid.z", Special::kClusterIdZ},
    {"%nclusterid.x", Special::kNclusterIdX},
    {"%nclusterid.y", Special::kNclusterIdY},
    {"%nclusterid.z", Special::kNclusterIdZ},
    {"%cluster_ctaid.x", Special::kClusterCtaidX},
    {"%cluster_ctaid.y", Special::kClusterCtaidY},
    {"%cluster_ctaid.z", Special::kClusterCtaidZ},
    {"%cluster_nctaid.x", Special::kClusterNctaidX},
    {"%cluster_nctaid.y", Special::kClusterNctaidY},
    {"%cluster_nctaid.z", Special::kClusterNctaidZ},
    {"%cluster_ctarank", Special::kClusterCtarank},
    {"%cluster_nctarank", Special::kClusterNctarank},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%dynamic_smem_size", Special::kDynamicSharedSize},
    {"%total_smem_size", Special::kTotalSharedSize},
};

std::uint32_t bytes_of(ptx::Type type) { return static_cast<std::uint32_t>(ptx::size_of(type)); }

std::uint32_t row_bytes(std::uint32_t bytes_each) {
  return bytes_each == 0 ? sizeof(Mask) : bytes_each * kLanes;
}

// Returns a key for a variable of a function in any scope.
std::uint64_t key_of(const Operand& variable) {
  return std::uint64_t{variable.scope} << 32 | variable.index;
}

}  // namespace

FrameLayout::FrameLayout(const ptx::Function& source, const ModuleLayout& module,
                         Function& function)
    : source_(source), module_(module), function_(function), registers_(source.registers.size()) {
  function_.frame.assign((sizeof(Activation) + kRowAlignment - 1) / kRowAlignment * kRowAlignment,
                         std::byte{0});
}

void FrameLayout::begin_instruction(const ptx::Instruction& instruction) {
  instruction_ = &instruction;
  reads_.clear();
  writes_.clear();
}

void FrameLayout::fail(const std::string& what) const {
  throw Unsupported{what,
                    instruction_ == nullptr ? source_.place.source : instruction_->place.source};
}

void FrameLayout::unsupported(const ptx::Instruction& instruction) const {
  throw Unsupported{instruction.full_name(), instruction.place.source};
}

std::uint32_t FrameLayout::allocate(std::size_t bytes) {
  const std::size_t offset = function_.frame.size();
  const std::size_t end = offset + (bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  if (end > kMostFrameBytes) fail("a function with registers of more than 256 KiB a thread");
  function_.frame.resize(end);
  return static_cast<std::uint32_t>(offset);
}

std::uint32_t FrameLayout::register_row(const Operand& reg) {
  if (reg.kind != Operand::kRegister)
    fail("an operand of " + instruction_->full_name() + " that is not a register");
  std::uint32_t& offset = registers_[reg.index];
  if (offset == 0) offset = allocate(row_bytes(width(reg)));
  return offset;
}

std::pair<std::uint32_t, std::uint32_t> FrameLayout::row_of(std::uint32_t reg) const {
  return {registers_[reg], row_bytes(bytes_of(source_.registers[reg].type))};
}

std::uint32_t FrameLayout::width(const Operand& operand) const {
  return operand.kind == Operand::kRegister ? bytes_of(source_.registers[operand.index].type) : 0;
}

std::uint32_t FrameLayout::source_any(const Operand& reg) {
  const std::uint32_t offset = register_row(reg);
  reads_.push_back(reg.index);
  return reg.negated ? negated(offset) : offset;
}

std::uint32_t FrameLayout::destination_any(const Operand& reg) {
  if (reg.kind == Operand::kSink) return 0;
  const std::uint32_t offset = register_row(reg);
  writes_.push_back(reg.index);
  return offset;
}

std::uint32_t FrameLayout::source(const Operand& operand, ptx::Type type) {
  switch (operand.kind) {
    case Operand::kRegister:
      if (width(operand) != bytes_of(type))
        fail(instruction_->full_name() + " with a register of another size");
      return source_any(operand);
    case Operand::kInteger:
    case Operand::kFloat32:
    case Operand::kFloat64:
      return immediate(operand, type);
    case Operand::kSpecial:
      return special(operand.name, bytes_of(type));
    case Operand::kVariable:
      return variable_address(operand, static_cast<std::int64_t>(operand.bits), bytes_of(type));
    case Operand::kAddress:
      if (operand.elements.front().kind == Operand::kVariable) {
        return variable_address(operand.elements.front(), static_cast<std::int64_t>(operand.bits),
                                bytes_of(type));
      }
      break;
    case Operand::kFunction:
      if (const auto found = module_.functions.find(operand.name);
          found != module_.functions.end()) {
        return constant(found->second, bytes_of(type));
      }
      fail("the address of " + operand.name);
    default:
      break;
  }
  fail("an operand of " + instruction_->full_name());
}

std::uint32_t FrameLayout::destination(const Operand& operand, ptx::Type type) {
  if (operand.kind == Operand::kSink) return 0;
  if (operand.kind != Operand::kRegister || width(operand) != bytes_of(type)) {
    fail(instruction_->full_name() + " with a destination of another size");
  }
  return destination_any(operand);
}

std::uint32_t FrameLayout::immediate(const Operand& operand, ptx::Type type) {
  std::uint64_t bits = operand.bits;
  if (type == ptx::Type::kF32 && operand.kind == Operand::kFloat64) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
  }  // and a float32 in the place of a float64 counts as its bits, as for ptxas
  return constant(bits, bytes_of(type));
}

std::uint32_t FrameLayout::constant(std::uint64_t bits, std::uint32_t bytes) {
  if (bytes > sizeof bits) fail(instruction_->full_name() + " with a constant of 128 bits");
  if (bytes == 0) bits = bits != 0 ? kAllLanes : 0;
  if (bytes > 0 && bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  const auto [found, is_new] = constants_.try_emplace({bytes, bits}, 0);
  if (!is_new) return found->second;
  found->second = allocate(row_bytes(bytes));
  std::byte* row = function_.frame.data() + found->second;
  if (bytes == 0) {
    std::memcpy(row, &bits, sizeof(Mask));
  } else {
    for (unsigned i = 0; i < kLanes; ++i) std::memcpy(row + i * bytes, &bits, bytes);
  }
  return found->second;
}

std::uint32_t FrameLayout::table(std::span<const std::uint32_t> values) {
  const std::uint32_t offset = allocate(values.size_bytes());
  std::memcpy(function_.frame.data() + offset, values.data(), values.size_bytes());
  return offset;
}

std::uint32_t FrameLayout::use_of(std::uint32_t reg) {
  const auto [found, is_new] = uses_.try_emplace(reg, 0);
  if (is_new) found->second = allocate(sizeof(RegisterUse));  // zeros, as in a new one
  return found->second;
}

std::uint32_t FrameLayout::scratch(std::uint32_t bytes_each) {
  const std::uint32_t offset = allocate(row_bytes(bytes_each));
  function_.unset.emplace_back(offset, row_bytes(bytes_each));
  return offset;
}

std::uint32_t FrameLayout::special(const std::string& name, std::uint32_t bytes) {
  if (name == kReservedShared) return constant(module_.reserved_shared, bytes);
  for (const SpecialName& known : kSpecials) {
    if (known.name != name || (bytes != 4 && bytes != 8)) continue;
    const auto [found, is_new] = specials_.try_emplace({name, bytes}, 0);
    if (is_new) {
      found->second = allocate(row_bytes(bytes));
      function_.specials.push_back({found->second, known.which, bytes == 8, 0});
    }
    return found->second;
  }
  if (name == "%is_explicit_cluster" && bytes == 0) return constant(module_.explicit_cluster, 0);
  fail("the special register " + name);
}

// !p, recomputed each time, as p changes.
std::uint32_t FrameLayout::negated(std::uint32_t predicate) {
  Instruction instruction;
  instruction.run = [](const Instruction& i, Warp&, std::byte* frame, Mask mask) {
    set_predicate(row<Mask>(frame, i.d), mask, ~*row<Mask>(frame, i.a));
  };
  instruction.d = allocate(sizeof(Mask));
  instruction.a = predicate;
  prologue_.push_back(instruction);
  return instruction.d;
}

std::vector<Instruction> FrameLayout::take_prologue() { return std::exchange(prologue_, {}); }

const ptx::Variable& FrameLayout::variable_of(const Operand& operand) const {
  switch (operand.scope) {
    case Operand::kModule:
      return module_.module->variables[operand.index];
    case Operand::kParameters:
      return source_.parameters[operand.index];
    case Operand::kResults:
      return source_.results[operand.index];
    case Operand::kLocals:
      break;
  }
  return source_.locals[operand.index];
}

std::uint32_t FrameLayout::local_address(std::uint64_t offset, std::uint32_t bytes) {
  const auto [found, is_new] = locals_.try_emplace({offset, bytes}, 0);
  if (is_new) {
    found->second = allocate(row_bytes(bytes));
    function_.specials.push_back(
        {found->second, Special::kLocalVariable, bytes == 8, static_cast<std::uint32_t>(offset)});
  }
  return found->second;
}

std::uint32_t FrameLayout::variable_address(const Operand& operand, std::int64_t offset,
                                            std::uint32_t bytes) {
  const ptx::Variable& variable = variable_of(operand);
  const auto plus = static_cast<std::uint64_t>(offset);
  if (bytes != 4 && bytes != 8)
    fail("the address of " + variable.name + " in " + instruction_->full_name());
  switch (variable.space) {
    case ptx::Space::kGlobal:
    case ptx::Space::kConstant:
      if (bytes != 8) break;
      return constant(module_.globals.find(variable.name)->second + plus, bytes);
    case ptx::Space::kShared:
      return constant(module_.shared.at(&variable) + plus, bytes);
    case ptx::Space::kLocal: {
      const auto [found, is_new] = local_offsets_.try_emplace(operand.index, 0);
      if (is_new) {
        const std::uint64_t align = std::max<std::uint64_t>(variable.align, 16);
        found->second = (function_.local_bytes + align - 1) / align * align;
        if (found->second + variable.bytes > kLocalBytes)
          fail("local memory of more than 512 KiB a thread");
        function_.local_bytes = static_cast<std::uint32_t>(found->second + variable.bytes);
      }
      return local_address(found->second + plus, bytes);
    }
    case ptx::Space::kParameter:
      if (source_.entry && operand.scope == Operand::kParameters) {
        return constant(function_.entry_parameters[operand.index].offset + plus, bytes);
      }
      break;
    case ptx::Space::kGeneric:
    case ptx::Space::kSharedCluster:
      break;
  }
  fail("the address of " + variable.name + " in " + instruction_->full_name());
}

Operands::Address FrameLayout::address(const Operand& operand, ptx::Space) {
  if (operand.kind != Operand::kAddress) fail("an address of " + instruction_->full_name());
  const Operand& base = operand.elements.front();
  Address address;
  address.offset = static_cast<std::int64_t>(operand.bits);
  if (base.kind == Operand::kRegister) {
    address.base_bytes = width(base);
    if (address.base_bytes != 4 && address.base_bytes != 8)
      fail("an address in a register of another size");
    address.base = source_any(base);
  } else if (base.kind == Operand::kInteger) {
    address.base = constant(base.bits, 8);
  } else {
    address.base = variable_address(base, 0, 8);
  }
  return address;
}

ParameterSlot FrameLayout::slot_of(const Operand& operand) {
  const ptx::Variable& variable = variable_of(operand);
  const auto [found, is_new] = slots_.try_emplace(key_of(operand));
  if (is_new) {
    if (variable.bytes > kMostParameterBytes) fail("a parameter of more than 4 KiB");
    found->second = {allocate(variable.bytes * kLanes), static_cast<std::uint32_t>(variable.bytes)};
  }
  return found->second;
}

Operands::Parameter FrameLayout::parameter(const Operand& operand) {
  if (operand.kind != Operand::kAddress || operand.elements.front().kind != Operand::kVariable)
    return {};
  const Operand& base = operand.elements.front();
  const ptx::Variable& variable = variable_of(base);
  if (variable.space != ptx::Space::kParameter) return {};
  Parameter found;
  found.found = true;
  found.offset = static_cast<std::int64_t>(operand.bits);
  found.bytes = static_cast<std::uint32_t>(variable.bytes);
  found.of_entry = source_.entry && base.scope == Operand::kParameters;
  if (found.of_entry) {
    found.offset += function_.entry_parameters[base.index].offset;
  } else {
    found.slot = slot_of(base);
  }
  return found;
}

MemoryAccess* FrameLayout::new_access() {
  function_.accesses.push_back(std::make_shared<MemoryAccess>());
  return function_.accesses.back().get();
}

}  // namespace krl::machine

#include "plugins/backends/cpu/machine/decode/module_layout.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "plugins/backends/cpu/machine/fault.hpp"

namespace krl::machine {
namespace {

// Bytes between variables, so that the end of one is not the start of the next.
constexpr std::uint64_t kGap = 256;
constexpr std::uint64_t kMostSharedBytes = 1 << 20;

std::uint64_t aligned(std::uint64_t offset, std::uint64_t align) {
  return (offset + align - 1) / align * align;
}

bool is_memory(ptx::Space space) {
  return space == ptx::Space::kGlobal || space == ptx::Space::kConstant;
}

// Shared variables of the module that an operand names.
void add_shared(const ptx::Module& module, const ptx::Operand& operand,
                std::set<std::uint32_t>* found) {
  if (operand.kind == ptx::Operand::kVariable && operand.scope == ptx::Operand::kModule &&
      module.variables[operand.index].space == ptx::Space::kShared) {
    found->insert(operand.index);
  }
  for (const ptx::Operand& element : operand.elements) add_shared(module, element, found);
}

bool names(const ptx::Operand& operand, std::string_view special) {
  const auto in_element = [&](const ptx::Operand& element) { return names(element, special); };
  return (operand.kind == ptx::Operand::kSpecial && operand.name == special) ||
         std::any_of(operand.elements.begin(), operand.elements.end(), in_element);
}

}  // namespace

ModuleLayout lay_out(const ptx::Module& module, std::vector<GlobalVariable>* variables) {
  ModuleLayout layout;
  layout.module = &module;
  std::uint64_t end = kVariablesBegin;
  for (const ptx::Variable& variable : module.variables) {
    if (!is_memory(variable.space)) continue;
    if (variable.external) throw Unsupported{"the external variable " + variable.name, 0};
    end = aligned(end, std::max<std::uint64_t>(kGap, variable.align));
    layout.globals[variable.name] = end;
    variables->push_back({variable.name, end, variable.bytes,
                          variable.space == ptx::Space::kConstant, variable.initial});
    variables->back().initial.resize(variable.bytes);
    end += variable.bytes + kGap;
  }
  std::uint64_t at = kFunctionsBegin;
  for (const ptx::Function& function : module.functions) {
    if (!function.external) layout.functions[function.name] = at;
    at += kFunctionStride;
  }
  std::size_t next = 0;
  for (const ptx::Variable& variable : module.variables) {
    if (!is_memory(variable.space)) continue;
    GlobalVariable& placed = (*variables)[next++];
    for (const ptx::Variable::Address& address : variable.addresses) {
      const auto global = layout.globals.find(address.symbol);
      const auto function = layout.functions.find(address.symbol);
      if (global == layout.globals.end() && function == layout.functions.end()) {
        throw Unsupported{"the address of " + address.symbol + " in an initial value", 0};
      }
      const std::uint64_t value =
          (global != layout.globals.end() ? global->second : function->second) +
          static_cast<std::uint64_t>(address.offset);
      if (address.at + sizeof value > placed.initial.size())
        throw Unsupported{"an initial value too short", 0};
      std::memcpy(placed.initial.data() + address.at, &value, sizeof value);
    }
  }
  return layout;
}

void lay_out_shared(const std::vector<const ptx::Function*>& functions, ModuleLayout* layout) {
  std::set<std::uint32_t> of_module;
  std::vector<const ptx::Variable*> variables;
  bool reserved = false;
  for (const ptx::Function* function : functions) {
    for (const ptx::Instruction& instruction : function->body) {
      for (const ptx::Operand& operand : instruction.operands) {
        add_shared(*layout->module, operand, &of_module);
        reserved |= names(operand, kReservedShared);
      }
    }
    for (const ptx::Variable& local : function->locals) {
      if (local.space == ptx::Space::kShared) variables.push_back(&local);
    }
  }
  for (const std::uint32_t index : of_module)
    variables.push_back(&layout->module->variables[index]);
  std::uint64_t end = 0;
  for (const ptx::Variable* variable : variables) {
    if (variable->external || variable->bytes == 0) continue;
    end = aligned(end, variable->align);
    layout->shared[variable] = static_cast<std::uint32_t>(end);
    layout->shared_variables.push_back({variable->name, static_cast<std::uint32_t>(end),
                                        static_cast<std::uint32_t>(variable->bytes),
                                        static_cast<std::uint32_t>(ptx::size_of(variable->type))});
    end += variable->bytes;
    if (end > kMostSharedBytes) throw Unsupported{"more than 1 MiB of shared variables", 0};
  }
  if (reserved) {
    layout->reserved_shared = static_cast<std::uint32_t>(aligned(end, 16));
    layout->system_shared_bytes = kReservedSharedBytes;
    end = layout->reserved_shared + kReservedSharedBytes;
  }
  layout->shared_bytes = static_cast<std::uint32_t>(end);
  // Dynamic shared memory begins after them, for every array without a size.
  const auto dynamic = static_cast<std::uint32_t>(aligned(end, 16));
  for (const ptx::Variable* variable : variables) {
    if (variable->external || variable->bytes == 0) layout->shared[variable] = dynamic;
  }
}

}  // namespace krl::machine

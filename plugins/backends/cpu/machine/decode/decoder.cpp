#include "plugins/backends/cpu/machine/decode/decoder.hpp"

#include <algorithm>
#include <set>

#include "plugins/backends/cpu/machine/decode/control_flow.hpp"
#include "plugins/backends/cpu/machine/decode/module_layout.hpp"
#include "plugins/backends/cpu/machine/fault.hpp"

namespace krl::machine {
namespace {

using Functions = std::vector<const ptx::Function*>;

void add_named(const ptx::Module& module, const ptx::Operand& operand,
               std::set<const ptx::Function*>* found, Functions* order) {
  if (operand.kind == ptx::Operand::kFunction) {
    const ptx::Function* function = module.find(operand.name);
    if (function != nullptr && !function->external && found->insert(function).second)
      order->push_back(function);
  }
  for (const ptx::Operand& element : operand.elements) add_named(module, element, found, order);
}

bool calls_indirectly(const Functions& functions) {
  return std::any_of(functions.begin(), functions.end(), [](const ptx::Function* function) {
    return std::any_of(
        function->body.begin(), function->body.end(), [](const ptx::Instruction& instruction) {
          return instruction.opcode == "call" && instruction.operands.size() > 0 &&
                 std::none_of(
                     instruction.operands.begin(), instruction.operands.end(),
                     [](const ptx::Operand& o) { return o.kind == ptx::Operand::kFunction; });
        });
  });
}

// The entry and all that it may call; with an indirect call, whose target may come from a table in
// memory, that is every function of the module.
Functions reachable_from(const ptx::Module& module, const ptx::Function& entry) {
  std::set<const ptx::Function*> found = {&entry};
  Functions order = {&entry};
  const auto follow = [&](std::size_t from) {
    for (std::size_t i = from; i < order.size(); ++i) {
      for (const ptx::Instruction& instruction : order[i]->body) {
        for (const ptx::Operand& operand : instruction.operands)
          add_named(module, operand, &found, &order);
      }
    }
  };
  follow(0);
  if (!calls_indirectly(order)) return order;
  const std::size_t direct = order.size();
  for (const ptx::Function& function : module.functions) {
    if (!function.entry && !function.external && found.insert(&function).second)
      order.push_back(&function);
  }
  follow(direct);
  return order;
}

bool uses_cluster(const ptx::Function& function) {
  return std::any_of(function.body.begin(), function.body.end(), [](const auto& instruction) {
    return instruction.opcode == "mapa" || instruction.opcode == "getctarank" ||
           (instruction.opcode == "barrier" && instruction.has("cluster"));
  });
}

void add_entry_parameters(const ptx::Function& source, Function* function) {
  std::uint32_t end = 0;
  for (const ptx::Variable& parameter : source.parameters) {
    const std::uint32_t align = std::max(1u, parameter.align);
    end = (end + align - 1) / align * align;
    function->entry_parameters.push_back(
        {end, static_cast<std::uint32_t>(parameter.bytes), parameter.type, parameter.pointer});
    end += static_cast<std::uint32_t>(parameter.bytes);
  }
  function->parameter_bytes = end;
}

std::unique_ptr<Program> decode_entry(const ptx::Module& module, const ptx::Function& entry,
                                      ModuleLayout layout, Grain grain) {
  auto program = std::make_unique<Program>();
  const Functions functions = reachable_from(module, entry);
  lay_out_shared(functions, &layout);
  if (entry.required_cluster[0] != 0) {
    program->cluster = entry.required_cluster;
    program->uses_cluster = layout.explicit_cluster = true;
  }
  program->shared_bytes = layout.shared_bytes;
  program->system_shared_bytes = layout.system_shared_bytes;
  program->shared_variables = layout.shared_variables;
  program->dynamic_shared = (layout.shared_bytes + 15) / 16 * 16;
  for (const ptx::Function* source : functions) {
    auto function = std::make_unique<Function>();
    function->name = source->name;
    function->entry = source->entry;
    function->max_threads = source->max_threads;
    function->required_threads = source->required_threads;
    if (source->entry) add_entry_parameters(*source, function.get());
    layout.decoded[source->name] = function.get();
    program->functions.push_back(std::move(function));
    program->uses_cluster |= uses_cluster(*source);
  }
  program->entry = program->functions.front().get();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    Function& function = *program->functions[i];
    decode_body(*functions[i], layout, grain, &function);
    program->warps_hand_over |= function.warps_hand_over;
    program->blocks_hand_over |= function.blocks_hand_over;
  }
  return program;
}

}  // namespace

DecodedModule decode(const ptx::Module& module, const std::vector<std::string>& entries,
                     Grain grain) {
  DecodedModule decoded;
  const ModuleLayout layout = lay_out(module, &decoded.variables);
  for (const std::string& name : entries) {
    const ptx::Function* entry = module.find(name);
    if (entry == nullptr || !entry->entry)
      throw Unsupported{name + ", which is not a __global__ function", 0};
    decoded.programs.push_back(decode_entry(module, *entry, layout, grain));
  }
  return decoded;
}

}  // namespace krl::machine

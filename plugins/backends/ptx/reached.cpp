#include "plugins/backends/ptx/reached.hpp"

#include <set>

namespace krl::ptx {

std::vector<const Function*> reached_functions(const Module& module,
                                               const std::vector<std::string>& names) {
  const std::set<std::string_view> roots(names.begin(), names.end());
  std::vector<bool> reached(module.functions.size());
  std::vector<std::size_t> waiting;
  const auto reach = [&](std::size_t index) {
    if (reached[index]) return;
    reached[index] = true;
    waiting.push_back(index);
  };
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (roots.count(module.functions[i].name) != 0) reach(i);
  }
  while (!waiting.empty()) {
    const Function& function = module.functions[waiting.back()];
    waiting.pop_back();
    for (const Instruction& instruction : function.body) {
      for (const Operand& operand : instruction.operands) {
        for_each_operand(operand, [&](const Operand& part) {
          if (part.kind == Operand::kFunction) reach(part.index);
        });
      }
    }
  }
  std::vector<const Function*> functions;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] && !module.functions[i].external) functions.push_back(&module.functions[i]);
  }
  return functions;
}

}  // namespace krl::ptx

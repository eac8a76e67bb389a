#include "tests/unit/backends/ptx/module_text.hpp"

#include <cstdio>
#include <set>

namespace krl::ptx {
namespace {

const char* name_of(Type type) {
  constexpr const char* kNames[] = {"",     ".pred", ".b8",    ".b16",  ".b32",    ".b64", ".b128",
                                    ".u8",  ".u16",  ".u32",   ".u64",  ".s8",     ".s16", ".s32",
                                    ".s64", ".f16",  ".f16x2", ".bf16", ".bf16x2", ".f32", ".f64"};
  return kNames[static_cast<int>(type)];
}

const char* name_of(Space space) {
  constexpr const char* kNames[] = {"", ".global", ".const", ".shared", ".local", ".param"};
  return kNames[static_cast<int>(space)];
}

std::string hexadecimal(std::uint64_t bits, int digits) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llX", digits, static_cast<unsigned long long>(bits));
  return text;
}

std::string signed_text(std::uint64_t bits) {
  return std::to_string(static_cast<std::int64_t>(bits));
}

std::string name_of_variable(const Module& module, const Function& function,
                             const Operand& operand) {
  const std::size_t index = operand.index;
  switch (operand.scope) {
    case Operand::kModule:
      return module.variables[index].name;
    case Operand::kParameters:
      return function.parameters[index].name;
    case Operand::kResults:
      return function.results[index].name;
    case Operand::kLocals:
      return function.locals[index].name;
  }
  return {};
}

std::string listed(const Module& module, const Function& function, const Operand& operand,
                   const char* open, const char* between, const char* close) {
  std::string text = open;
  for (const Operand& element : operand.elements) {
    if (&element != &operand.elements.front()) text += between;
    text += operand_text(module, function, element);
  }
  return text + close;
}

std::string declaration(const Variable& variable, const std::string& name) {
  std::string text = name_of(variable.space);
  const bool before = !variable.pointer;
  if (before) text += " .align " + std::to_string(variable.align);
  text += std::string(" ") + name_of(variable.type);
  if (variable.pointer) text += " .ptr";
  text += " " + name;
  const std::uint64_t count = variable.bytes / size_of(variable.type);
  if (variable.bytes == 0) text += "[]";
  if (count > 1) text += "[" + std::to_string(count) + "]";
  return text;
}

std::string parameters_text(const std::vector<Variable>& parameters) {
  std::string text = "(";
  for (const Variable& parameter : parameters) {
    if (text.size() > 1) text += ", ";
    text += declaration(parameter, parameter.name);
  }
  return text + ")";
}

std::string initial_text(const Variable& variable) {
  std::string text;
  const std::size_t size = size_of(variable.type);
  auto address = variable.addresses.begin();
  for (std::size_t at = 0; at < variable.initial.size(); at += size) {
    if (!text.empty()) text += ", ";
    if (address != variable.addresses.end() && address->at == at) {
      text += address->generic ? "generic(" + address->symbol + ")" : address->symbol;
      if (address->offset != 0) text += "+" + std::to_string(address->offset);
      ++address;
      continue;
    }
    std::uint64_t bits = 0;
    for (std::size_t i = size; i-- > 0;) {
      bits = bits << 8 | static_cast<std::uint64_t>(variable.initial[at + i]);
    }
    if (variable.type == Type::kF32) {
      text += "0f" + hexadecimal(bits, 8);
    } else if (variable.type == Type::kF64) {
      text += "0d" + hexadecimal(bits, 16);
    } else {
      text += std::to_string(bits);
    }
  }
  const bool array = variable.bytes > size;
  return text.empty() ? "" : array ? " = {" + text + "}" : " = " + text;
}

std::string body_text(const Module& module, const Function& function) {
  std::string text = "{\n";
  for (const Register& declared : function.registers) {
    text += std::string(".reg ") + name_of(declared.type) + " " + declared.name + ";\n";
  }
  for (const Variable& local : function.locals) text += declaration(local, local.name) + ";\n";
  for (const Prototype& prototype : function.prototypes) {
    text += prototype.name + ": .callprototype " + parameters_text(prototype.results) + " _ " +
            parameters_text(prototype.parameters) + ";\n";
  }
  std::set<std::uint32_t> labels;
  for (const Instruction& instruction : function.body) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::kLabel && operand.name.empty()) labels.insert(operand.index);
    }
  }
  for (std::uint32_t i = 0; i < function.body.size(); ++i) {
    if (labels.count(i) != 0) text += "L" + std::to_string(i) + ":\n";
    text += instruction_text(module, function, function.body[i]) + ";\n";
  }
  return text + "}\n";
}

// Blocks are not written, so that what they declare needs names of its own.
void rename_all(Function& function) {
  std::size_t number = 0;
  for (Register& declared : function.registers) declared.name = "%v" + std::to_string(number++);
  for (Variable& local : function.locals) local.name = "local" + std::to_string(number++);
}

}  // namespace

std::string operand_text(const Module& module, const Function& function, const Operand& operand) {
  const auto offset = operand.bits == 0 ? "" : "+" + signed_text(operand.bits);
  switch (operand.kind) {
    case Operand::kRegister:
      return (operand.negated ? "!" : "") + function.registers[operand.index].name;
    case Operand::kInteger:
      return signed_text(operand.bits);
    case Operand::kFloat32:
      return "0f" + hexadecimal(operand.bits, 8);
    case Operand::kFloat64:
      return "0d" + hexadecimal(operand.bits, 16);
    case Operand::kVariable:
      return name_of_variable(module, function, operand) + offset;
    case Operand::kSpecial:
    case Operand::kFunction:
    case Operand::kPrototype:
      return operand.name;
    case Operand::kLabel:
      return operand.name.empty() ? "L" + std::to_string(operand.index) : operand.name;
    case Operand::kAddress:
      return listed(module, function, operand, "[", ", ", "") + offset + "]";
    case Operand::kVector:
      return listed(module, function, operand, "{", ", ", "}");
    case Operand::kPair:
      return listed(module, function, operand, "", "|", "");
    case Operand::kSink:
      return "_";
    case Operand::kList:
      return listed(module, function, operand, "(", ", ", ")");
  }
  return {};
}

std::string instruction_text(const Module& module, const Function& function,
                             const Instruction& instruction) {
  std::string text;
  if (instruction.guarded) text = "@" + operand_text(module, function, instruction.guard) + " ";
  text += instruction.full_name();
  const char* between = " ";
  for (const Operand& operand : instruction.operands) {
    text += between + operand_text(module, function, operand);
    between = ", ";
  }
  return text;
}

std::string module_text(Module module) {
  for (Function& function : module.functions) rename_all(function);
  std::string text = ".version " + std::to_string(module.version_major) + "." +
                     std::to_string(module.version_minor) + "\n.target " + module.target +
                     "\n.address_size 64\n";
  for (const Variable& variable : module.variables) {
    text += (variable.external ? ".extern " : "") + declaration(variable, variable.name) +
            initial_text(variable) + ";\n";
  }
  for (const Function& function : module.functions) {
    text += function.entry ? ".entry " : ".func ";
    if (!function.results.empty()) text += parameters_text(function.results) + " ";
    text += function.name + parameters_text(function.parameters);
    text += function.external ? ";\n" : "\n" + body_text(module, function);
  }
  return text;
}

}  // namespace krl::ptx

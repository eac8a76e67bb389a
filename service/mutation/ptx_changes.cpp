// Changes of compiled code: one instruction, operand, modifier or guard each.
#include <kernelrl/proof_stage.h>

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <tuple>

#include "service/mutation/change.hpp"
#include "service/mutation/ptx_instructions.hpp"

namespace krl::service {
namespace {

// Swaps of names of instructions and of their modifiers.
constexpr Swap kPtxNames[] = {{"ptx_operator", "add", "sub"},    {"ptx_operator", "sub", "add"},
                              {"ptx_operator", "mul", "add"},    {"ptx_operator", "add", "mul"},
                              {"ptx_operator", "and", "or"},     {"ptx_operator", "or", "and"},
                              {"ptx_operator", "xor", "or"},     {"ptx_operator", "min", "max"},
                              {"ptx_operator", "max", "min"},    {"ptx_operator", "div", "mul"},
                              {"ptx_operator", "rem", "div"},    {"ptx_operator", "rsqrt", "sqrt"},
                              {"ptx_operator", "sqrt", "rsqrt"}, {"ptx_operator", "ex2", "lg2"},
                              {"ptx_operator", "rcp", "sqrt"}};
constexpr Swap kPtxModifiers[] = {{"ptx_bound", ".lt", ".le"},
                                  {"ptx_bound", ".le", ".lt"},
                                  {"ptx_bound", ".gt", ".ge"},
                                  {"ptx_bound", ".ge", ".gt"},
                                  {"ptx_bound", ".eq", ".ge"},
                                  {"ptx_bound", ".ne", ".gt"},
                                  {"ptx_comparison", ".lt", ".ge"},
                                  {"ptx_comparison", ".le", ".gt"},
                                  {"ptx_comparison", ".gt", ".le"},
                                  {"ptx_comparison", ".ge", ".lt"},
                                  {"ptx_comparison", ".eq", ".ne"},
                                  {"ptx_comparison", ".ne", ".eq"},
                                  {"ptx_sign", ".s32", ".u32"},
                                  {"ptx_sign", ".u32", ".s32"},
                                  {"ptx_sign", ".s64", ".u64"},
                                  {"ptx_rounding", ".rn", ".rz"},
                                  {"ptx_rounding", ".rz", ".rn"},
                                  {"ptx_rounding", ".rni", ".rzi"},
                                  {"ptx_rounding", ".rzi", ".rni"},
                                  {"ptx_rounding", ".rmi", ".rpi"},
                                  {"ptx_shuffle", ".bfly", ".down"},
                                  {"ptx_shuffle", ".down", ".bfly"},
                                  {"ptx_shuffle", ".up", ".down"},
                                  {"ptx_atomic", ".add", ".exch"},
                                  {"ptx_atomic", ".max", ".min"},
                                  {"ptx_atomic", ".min", ".max"},
                                  {"ptx_order_dropped", ".acquire", ".relaxed"},
                                  {"ptx_order_dropped", ".release", ".relaxed"},
                                  {"ptx_order_dropped", ".gpu", ".cta"},
                                  {"ptx_width", ".f64", ".f32"}};
constexpr Swap kPtxRegisters[] = {
    {"ptx_axis", "%tid.x", "%tid.y"},     {"ptx_axis", "%ctaid.x", "%ctaid.y"},
    {"ptx_axis", "%tid.x", "%ctaid.x"},   {"ptx_axis", "%ctaid.x", "%tid.x"},
    {"ptx_axis", "%ntid.x", "%nctaid.x"}, {"ptx_axis", "%nctaid.x", "%ntid.x"},
    {"ptx_axis", "%ctaid.y", "%ctaid.x"}, {"ptx_axis", "%tid.y", "%tid.x"}};

bool is_register(const PtxWord& word) {
  return word.text.size() > 1 && word.text[0] == '%' && word.text.find('.') == word.text.npos &&
         word.text.find('|') == word.text.npos;
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view other : names) {
    if (name == other) return true;
  }
  return false;
}

void put(std::string_view kind, const PtxWord& word, std::string text, Changes& changes) {
  changes.push_back({kind, word.offset, word.text.size(), std::move(text)});
}

void swap_words(const PtxInstruction& code, Changes& changes) {
  for (const auto& [kind, from, to] : kPtxNames) {
    if (code.name() == from)
      changes.push_back({kind, code.opcode.offset, from.size(), std::string(to)});
  }
  const bool compares = is_any_of(code.name(), {"setp", "set", "slct"});
  for (const auto& [kind, from, to] : kPtxModifiers) {
    const bool applies = kind.starts_with("ptx_bound") || kind.starts_with("ptx_comparison")
                             ? compares
                         : kind == "ptx_atomic" ? is_any_of(code.name(), {"atom", "red"})
                                                : true;
    if (!applies || !code.has_modifier(from)) continue;
    changes.push_back(
        {kind, code.opcode.offset + code.opcode.text.find(from), from.size(), std::string(to)});
  }
  for (const PtxWord& operand : code.operands) {
    for (const auto& [kind, from, to] : kPtxRegisters) {
      if (operand.text == from) put(kind, operand, std::string(to), changes);
    }
  }
}

void change_guard(const PtxInstruction& code, Changes& changes) {
  if (code.guard.text.empty()) return;
  const bool negated = code.guard.text.starts_with("@!");
  put("ptx_guard", code.guard,
      negated ? "@" + std::string(code.guard.text.substr(2))
              : "@!" + std::string(code.guard.text.substr(1)),
      changes);
  put("ptx_guard", code.guard, "", changes);
}

bool is_order(const PtxInstruction& code) {
  return is_any_of(code.name(), {"bar", "barrier", "membar", "fence"}) ||
         code.opcode.text.starts_with("cp.async.wait");
}

bool is_initial_value(const PtxInstruction& code) {
  return code.name() == "mov" && code.operands.size() == 2 && code.operands[1].text[0] != '%';
}

void drop(const PtxInstruction& code, Changes& changes) {
  if (is_any_of(code.name(), {"ret", "exit", "call"})) return;
  const std::string_view kind = is_order(code)           ? "ptx_order_dropped"
                                : is_initial_value(code) ? "ptx_initial_value_dropped"
                                : code.name() == "bra"   ? "ptx_branch_dropped"
                                                         : "ptx_instruction_dropped";
  // Without the instruction that writes a register, the machine may find nothing there; a copy of a
  // source is a value.
  const bool writes = is_register(code.operands.empty() ? PtxWord{} : code.operands[0]) &&
                      !is_any_of(code.name(), {"st", "red", "bra"});
  if (!writes || is_initial_value(code)) put(kind, code.whole, "", changes);
}

std::optional<std::int64_t> immediate_of(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return value;
}

std::string float_text(float value) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string text = "0f";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[bits >> shift & 15];
  return text;
}

std::optional<float> float_of(std::string_view text) {
  std::uint32_t bits = 0;
  if (text.size() != 10 || !text.starts_with("0f")) return {};
  const auto read = std::from_chars(text.data() + 2, text.data() + 10, bits, 16);
  if (read.ptr != text.data() + 10) return {};
  return std::bit_cast<float>(bits);
}

void change_immediates(const PtxInstruction& code, Changes& changes) {
  if (is_order(code)) return;
  for (const PtxWord& operand : code.operands) {
    if (const auto value = immediate_of(operand.text)) {
      for (const std::int64_t other : {*value + 1, *value - 1, *value * 2, *value / 2}) {
        if (other != *value) put("ptx_constant", operand, std::to_string(other), changes);
      }
    }
    if (const auto value = float_of(operand.text)) {
      for (const float other : {*value * 2, *value * 0.99f, -*value, 0.0f, *value + 1.0f}) {
        if (float_text(other) != operand.text)
          put("ptx_constant", operand, float_text(other), changes);
      }
    }
  }
}

// `[%rd1+8]` as `[%rd1+12]`, and as `[%rd1+4]`.
void change_address(const PtxInstruction& code, Changes& changes) {
  for (const PtxWord& operand : code.operands) {
    if (operand.text.size() < 3 || operand.text.front() != '[' || operand.text.back() != ']')
      continue;
    const std::string_view inside = operand.text.substr(1, operand.text.size() - 2);
    const std::size_t plus = inside.find('+');
    const auto offset = plus == inside.npos ? 0 : immediate_of(inside.substr(plus + 1));
    if (!offset || !inside.starts_with('%')) continue;
    for (const std::int64_t shift : {4, -4}) {
      put("ptx_address", operand,
          "[" + std::string(inside.substr(0, plus)) + "+" + std::to_string(*offset + shift) + "]",
          changes);
    }
  }
}

// Replaces one source by another, and an added operand by 0.
void change_operands(const PtxInstruction& code, Changes& changes) {
  const std::size_t n = code.operands.size();
  if (n < 3 || is_any_of(code.name(), {"st", "atom", "red", "mma", "wmma", "shfl"})) return;
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t k = 1; k < n; ++k) {
      const bool differ = code.operands[i].text != code.operands[k].text;
      if (i != k && differ && is_register(code.operands[i]) && is_register(code.operands[k]))
        put("ptx_operand", code.operands[i], std::string(code.operands[k].text), changes);
    }
  }
  if (!is_any_of(code.name(), {"mad", "fma", "add", "sub"}) || !is_register(code.operands[n - 1]))
    return;
  const bool single = code.has_modifier(".f32"),
             whole = !single && !code.has_modifier(".f64") && !code.has_modifier(".f16") &&
                     !code.has_modifier(".bf16") && !code.has_modifier(".f16x2");
  if (single || whole)
    put("ptx_term_dropped", code.operands[n - 1], single ? "0f00000000" : "0", changes);
}

// A result with the digits of a half, or the bits of a short.
void narrow(const PtxInstruction& code, Changes& changes) {
  if (code.operands.size() < 3 || !is_register(code.operands[0]) || !code.guard.text.empty())
    return;
  if (!is_any_of(code.name(), {"add", "sub", "mul", "mad", "fma", "max", "min", "div"})) return;
  const std::string result(code.operands[0].text);
  const bool single = code.has_modifier(".f32");
  if (!single && !(code.has_modifier(".s32") && !code.has_modifier(".wide"))) return;
  const std::string cut = single ? "t, t, 0xffffe000" : "t, t, 0xffff";
  changes.push_back({single ? "ptx_10_bits" : "ptx_16_bits", code.whole.end(), 0,
                     " { .reg .b32 t; mov.b32 t, " + result + "; and.b32 " + cut + "; mov.b32 " +
                         result + ", t; }"});
}

}  // namespace

Changes ptx_changes_of(const std::string& source) {
  const std::size_t mark = source.rfind(KRL_PTX_MARK);
  if (mark == std::string::npos) return {};
  Changes changes;
  for (const PtxInstruction& code : ptx_instructions(source, mark + sizeof KRL_PTX_MARK - 1)) {
    for (const auto change : {swap_words, change_guard, drop, change_immediates, change_address,
                              change_operands, narrow}) {
      change(code, changes);
    }
  }
  std::set<std::tuple<std::size_t, std::size_t, std::string>> seen;
  std::erase_if(changes, [&](const Change& change) {
    return !seen.emplace(change.offset, change.length, change.text).second;
  });
  return changes;
}

}  // namespace krl::service

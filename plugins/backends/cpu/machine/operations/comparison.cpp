// setp, set, selp, slct.
//
// In a setp or set, a and b are compared, c is the predicate that the result is combined with, and
// d and e are written. extra[0]: the relation; extra[1]: it is negated; extra[2]: how it is
// combined.
#include <array>

#include "plugins/backends/cpu/machine/operations/forms.hpp"
#include "plugins/backends/cpu/machine/operations/relations.hpp"

namespace krl::machine {
namespace {

enum class Combination : std::uint8_t { kNone, kAnd, kOr, kXor };

Mask combined(const Instruction& instruction, std::byte* frame, Mask holds) {
  switch (static_cast<Combination>(instruction.extra[2])) {
    case Combination::kAnd:
      return holds & *row<Mask>(frame, instruction.c);
    case Combination::kOr:
      return holds | *row<Mask>(frame, instruction.c);
    case Combination::kXor:
      return holds ^ *row<Mask>(frame, instruction.c);
    case Combination::kNone:
      break;
  }
  return holds;
}
Mask relation_of(const Instruction& instruction, std::byte* frame) {
  const Mask holds = compare_rows(instruction.extra[0], frame, instruction.a, instruction.b);
  return instruction.extra[1] != 0 ? ~holds : holds;
}
Mask upper_relation_of(const Instruction& instruction, std::byte* frame) {
  const Mask holds = compare_upper(instruction.extra[0], frame, instruction.a, instruction.b);
  return instruction.extra[1] != 0 ? ~holds : holds;
}

void set_predicate_of(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  set_predicate(row<Mask>(frame, instruction.d), mask,
                combined(instruction, frame, relation_of(instruction, frame)));
}
// e: the opposite of the relation, combined in the same way.
void set_two_predicates(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Mask holds = relation_of(instruction, frame);
  const Mask first = combined(instruction, frame, holds);
  const Mask second = combined(instruction, frame, ~holds);
  if (instruction.d != 0) set_predicate(row<Mask>(frame, instruction.d), mask, first);
  if (instruction.e != 0) set_predicate(row<Mask>(frame, instruction.e), mask, second);
}
// d: of the lower halves; e: of the upper ones.
void set_predicates_of_pairs(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Mask first = combined(instruction, frame, relation_of(instruction, frame));
  const Mask second = combined(instruction, frame, upper_relation_of(instruction, frame));
  if (instruction.d != 0) set_predicate(row<Mask>(frame, instruction.d), mask, first);
  if (instruction.e != 0) set_predicate(row<Mask>(frame, instruction.e), mask, second);
}

// The immediate where the relation holds, 0 elsewhere.
template <class T>
void set_value(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Mask holds = combined(instruction, frame, relation_of(instruction, frame));
  const auto value = static_cast<T>(instruction.immediate);
  set_lanewise(row<T>(frame, instruction.d), mask,
               [=](unsigned i) { return (holds >> i & 1) != 0 ? value : T{0}; });
}
void set_pair(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Mask low = combined(instruction, frame, relation_of(instruction, frame));
  const Mask high = combined(instruction, frame, upper_relation_of(instruction, frame));
  const auto value = static_cast<std::uint32_t>(instruction.immediate);
  set_lanewise(row<std::uint32_t>(frame, instruction.d), mask, [=](unsigned i) {
    return (low >> i & 1) * value | (high >> i & 1) * (value << 16);
  });
}

// ---- decoding ----

struct CombinationName {
  std::string_view name;
  Combination combination;
};
constexpr CombinationName kCombinations[] = {
    {"and", Combination::kAnd}, {"or", Combination::kOr}, {"xor", Combination::kXor}};

struct Comparing {
  Relation relation;
  Combination combination = Combination::kNone;
};
// Parses "cmp[.bool][.ftz].<other types>.type", of which the last `types` modifiers are types.
std::optional<Comparing> comparing_of(const ptx::Instruction& instruction, std::size_t types) {
  const std::vector<std::string>& modifiers = instruction.modifiers;
  if (modifiers.size() < types + 1) return std::nullopt;
  const std::size_t end = modifiers.size() - types;
  std::size_t at = 1;
  Comparing comparing;
  for (const CombinationName& known : kCombinations) {
    if (at < end && modifiers[at] == known.name) comparing.combination = known.combination;
  }
  if (comparing.combination != Combination::kNone) ++at;
  const bool ftz = at < end && modifiers[at] == "ftz";
  if (at + (ftz ? 1 : 0) != end) return std::nullopt;
  const std::optional<Relation> relation = find_relation(modifiers[0], modifiers.back(), ftz);
  if (!relation) return std::nullopt;
  comparing.relation = *relation;
  return comparing;
}

void bind_sources(const ptx::Instruction& instruction, const Comparing& comparing,
                  Operands& operands, Instruction* out) {
  const bool combines = comparing.combination != Combination::kNone;
  if (instruction.operands.size() != (combines ? 4 : 3)) operands.unsupported(instruction);
  const Relation& relation = comparing.relation;
  out->a = operands.source(instruction.operands[relation.swapped ? 2 : 1], relation.type);
  out->b = operands.source(instruction.operands[relation.swapped ? 1 : 2], relation.type);
  if (combines) out->c = operands.source(instruction.operands[3], ptx::Type::kPredicate);
  out->extra[0] = relation.index;
  out->extra[1] = relation.negated ? 1 : 0;
  out->extra[2] = static_cast<std::uint8_t>(comparing.combination);
}

InstructionClass kind_of(ptx::Type type) {
  if (type == ptx::Type::kF64) return InstructionClass::kDouble;
  return size_of(type) == 8 ? InstructionClass::kInteger64 : InstructionClass::kInteger;
}

bool decode_setp(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  const std::optional<Comparing> comparing = comparing_of(instruction, 1);
  if (!comparing) return false;
  bind_sources(instruction, *comparing, operands, out);
  out->kind = kind_of(comparing->relation.type);
  const ptx::Operand& to = instruction.operands[0];
  if (to.kind == ptx::Operand::kPair) {
    out->d = operands.destination(to.elements[0], ptx::Type::kPredicate);
    out->e = operands.destination(to.elements[1], ptx::Type::kPredicate);
    out->run = comparing->relation.pairs ? set_predicates_of_pairs : set_two_predicates;
  } else {
    if (comparing->relation.pairs) operands.unsupported(instruction);
    out->d = written_row(instruction, to, ptx::Type::kPredicate, operands);
    out->run = set_predicate_of;
  }
  return true;
}

// The value that `set` writes where the relation holds.
struct ValueOfTrue {
  std::string_view type;
  ptx::Type as;
  std::int64_t value;
  Operation run;
};
constexpr ValueOfTrue kValues[] = {{"u32", ptx::Type::kU32, -1, set_value<std::uint32_t>},
                                   {"s32", ptx::Type::kU32, -1, set_value<std::uint32_t>},
                                   {"f32", ptx::Type::kF32, 0x3f800000, set_value<std::uint32_t>},
                                   {"u16", ptx::Type::kU16, -1, set_value<std::uint16_t>},
                                   {"s16", ptx::Type::kU16, -1, set_value<std::uint16_t>},
                                   {"f16", ptx::Type::kF16, 0x3c00, set_value<std::uint16_t>},
                                   {"bf16", ptx::Type::kBF16, 0x3f80, set_value<std::uint16_t>}};
// … of pairs.
constexpr ValueOfTrue kPairValues[] = {{"u32", ptx::Type::kU32, 0xffff, set_pair},
                                       {"s32", ptx::Type::kU32, 0xffff, set_pair},
                                       {"f16x2", ptx::Type::kF16x2, 0x3c00, set_pair},
                                       {"bf16x2", ptx::Type::kBF16x2, 0x3f80, set_pair}};

template <std::size_t count>
const ValueOfTrue* find_value(const ValueOfTrue (&values)[count], std::string_view type) {
  for (const ValueOfTrue& known : values) {
    if (known.type == type) return &known;
  }
  return nullptr;
}

bool decode_set(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  const std::optional<Comparing> comparing = comparing_of(instruction, 2);
  if (!comparing) return false;
  const std::string& type = instruction.modifiers[instruction.modifiers.size() - 2];
  const ValueOfTrue* value =
      comparing->relation.pairs ? find_value(kPairValues, type) : find_value(kValues, type);
  if (value == nullptr) return false;
  bind_sources(instruction, *comparing, operands, out);
  out->kind = kind_of(comparing->relation.type);
  out->d = written_row(instruction, instruction.operands[0], value->as, operands);
  out->immediate = value->value;
  out->run = value->run;
  return true;
}

// ---- choices ----

template <class T>
void select(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Mask chosen = *row<Mask>(frame, instruction.c);
  const T* const a = row<T>(frame, instruction.a);
  const T* const b = row<T>(frame, instruction.b);
  set_lanewise(row<T>(frame, instruction.d), mask,
               [=](unsigned i) { return (chosen >> i & 1) != 0 ? a[i] : b[i]; });
}
template <class T>
T by_sign(T a, T b, std::int32_t c) {
  return c >= 0 ? a : b;
}
template <class T>
T by_float(T a, T b, float c) {
  return c >= 0 ? a : b;  // NaN: b
}
template <class T>
T by_flushed(T a, T b, float c) {
  return flushed(c) >= 0 ? a : b;
}

template <class T>
void add_choices(Forms& forms) {
  constexpr ptx::Type type = type_of<T>();
  const Form select_form{select<T>, kind_of(type), 3, type, {type, type, ptx::Type::kPredicate}};
  const std::string bits = std::to_string(sizeof(T) * 8);
  for (const char* letter : {"b", "u", "s", "f"}) {
    const std::string name = letter + bits;
    if (name == "f16") continue;
    forms.add("selp." + name, select_form);
    forms.add("slct." + name + ".s32", form_of<by_sign<T>>(kind_of(type)));
    forms.add("slct." + name + ".f32", form_of<by_float<T>>(kind_of(type)));
    forms.add("slct.ftz." + name + ".f32", form_of<by_flushed<T>>(kind_of(type)));
  }
}

}  // namespace

bool decode_comparison(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  if (instruction.opcode == "setp") return decode_setp(instruction, operands, out);
  if (instruction.opcode == "set") return decode_set(instruction, operands, out);
  static const Forms choices = [] {
    Forms all;
    add_choices<std::uint16_t>(all);
    add_choices<std::uint32_t>(all);
    add_choices<std::uint64_t>(all);
    return all;
  }();
  return decode_form(choices, instruction, operands, out);
}

}  // namespace krl::machine

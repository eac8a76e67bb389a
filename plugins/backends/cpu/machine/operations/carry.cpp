// Sums of several words: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry of each lane is a
// predicate of the frame, which all of a function's instructions share.
#include "plugins/backends/cpu/machine/operations/integers.hpp"

namespace krl::machine {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;

// e: the carry; extra[0]: it is read; extra[1]: it is written.
template <class Sum>
void add_lanes(const Instruction& instruction, std::byte* frame, Mask mask, Sum sum) {
  Mask* const carry = row<Mask>(frame, instruction.e);
  const Mask in = instruction.extra[0] != 0 ? *carry : 0;
  Mask out = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1) != 0) out |= Mask{sum(i, (in >> i & 1) != 0)} << i;
  }
  if (instruction.extra[1] != 0) set_predicate(carry, mask, out);
}

template <class T>
bool sum(T a, T b, bool carry, T* to) {
  const auto first = static_cast<T>(a + b);
  *to = static_cast<T>(first + T{carry});
  return first < a || *to < first;
}

template <class T>
T low(T a, T b) {
  return a * b;
}
template <class T>
T unsigned_high(T a, T b) {
  return static_cast<T>(Unsigned128{a} * b >> sizeof(T) * 8);
}
template <class T>
T signed_high(T a, T b) {
  using Signed = std::make_signed_t<T>;
  return static_cast<T>(Int128{static_cast<Signed>(a)} * static_cast<Signed>(b) >> sizeof(T) * 8);
}

template <class T>
void add_with_carry(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  T* const d = row<T>(frame, instruction.d);
  const T* const a = row<T>(frame, instruction.a);
  const T* const b = row<T>(frame, instruction.b);
  add_lanes(instruction, frame, mask,
            [=](unsigned i, bool carry) { return sum(a[i], b[i], carry, &d[i]); });
}

// The carry flag holds the borrow.
template <class T>
void subtract_with_borrow(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  T* const d = row<T>(frame, instruction.d);
  const T* const a = row<T>(frame, instruction.a);
  const T* const b = row<T>(frame, instruction.b);
  add_lanes(instruction, frame, mask, [=](unsigned i, bool borrow) {
    return !sum(a[i], static_cast<T>(~b[i]), !borrow, &d[i]);
  });
}

template <class T, T (*product)(T, T)>
void multiply_with_carry(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  T* const d = row<T>(frame, instruction.d);
  const T* const a = row<T>(frame, instruction.a);
  const T* const b = row<T>(frame, instruction.b);
  const T* const c = row<T>(frame, instruction.c);
  add_lanes(instruction, frame, mask,
            [=](unsigned i, bool carry) { return sum(product(a[i], b[i]), c[i], carry, &d[i]); });
}

template <class T>
void add_forms(Forms& forms, const std::string& sign) {
  const ptx::Type type = type_of<T>();
  const std::string suffix = "." + sign + std::to_string(sizeof(T) * 8);
  constexpr InstructionClass kind = kIntegerKind<T>;
  const auto add = [&](const std::string& name, std::uint8_t sources, Operation run) {
    forms.add(name + suffix, {run, kind, sources, type, {type, type, type}});
  };
  const Operation high =
      sign == "s" ? multiply_with_carry<T, signed_high> : multiply_with_carry<T, unsigned_high>;
  add("add", 2, add_with_carry<T>);
  add("sub", 2, subtract_with_borrow<T>);
  add("mad.lo", 3, multiply_with_carry<T, low>);
  add("mad.hi", 3, high);
}

// The instruction without "c" (reads the carry) and ".cc" (writes it).
std::string plain_name(const ptx::Instruction& instruction, bool reads) {
  std::string name = instruction.opcode.substr(0, instruction.opcode.size() - (reads ? 1 : 0));
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier != "cc") name += "." + modifier;
  }
  return name;
}

}  // namespace

bool decode_carry(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  static const Forms forms = [] {
    Forms all;
    for (const char* sign : {"u", "s"}) {
      add_forms<std::uint32_t>(all, sign);
      add_forms<std::uint64_t>(all, sign);
    }
    return all;
  }();
  const bool reads =
      instruction.opcode == "addc" || instruction.opcode == "subc" || instruction.opcode == "madc";
  const bool writes = instruction.has("cc");
  if (!reads && !writes) return false;
  const Form* form = forms.find(plain_name(instruction, reads));
  if (form == nullptr) return false;
  bind_form(*form, instruction, operands, out);
  out->e = operands.carry();
  out->extra[0] = reads ? 1 : 0;
  out->extra[1] = writes ? 1 : 0;
  return true;
}

}  // namespace krl::machine

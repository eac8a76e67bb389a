// mov: of registers, constants and addresses, of several registers packed into one or taken out of
// it, and of clocks.
#include "plugins/backends/cpu/machine/operations/forms.hpp"
#include "plugins/backends/cpu/machine/warp.hpp"

namespace krl::machine {
namespace {

template <class T>
T same(T a) {
  return a;
}
Mask same_predicate(Mask a) { return a; }

// Parts of 16 or 32 bits, the lowest first, in the rows a, b, c, e.
template <class Whole, class Part>
void pack(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  constexpr unsigned kParts = sizeof(Whole) / sizeof(Part);
  const Part* parts[kParts];
  for (unsigned p = 0; p < kParts; ++p) parts[p] = row<Part>(frame, source_row(instruction, p));
  set_lanewise(row<Whole>(frame, instruction.d), mask, [=](unsigned i) {
    Whole whole = 0;
    for (unsigned p = 0; p < kParts; ++p) whole |= Whole{parts[p][i]} << p * sizeof(Part) * 8;
    return whole;
  });
}

// Distributes the row d over those of the parts; 0: the part is not used.
template <class Whole, class Part>
void unpack(const Instruction& instruction, Warp&, std::byte* frame, Mask mask) {
  const Whole* const whole = row<Whole>(frame, instruction.d);
  for (unsigned p = 0; p < sizeof(Whole) / sizeof(Part); ++p) {
    const std::uint32_t part = source_row(instruction, p);
    if (part == 0) continue;
    set_lanewise(row<Part>(frame, part), mask,
                 [=](unsigned i) { return static_cast<Part>(whole[i] >> p * sizeof(Part) * 8); });
  }
}

// extra[0]: bits that the value is shifted to the right.
template <class T>
void read_clock(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask) {
  const auto now = static_cast<T>(warp.clock() >> instruction.extra[0]);
  set_lanewise(row<T>(frame, instruction.d), mask, [=](unsigned) { return now; });
}

struct Packing {
  std::uint32_t whole_bytes;
  std::size_t parts;
  ptx::Type whole, part;
  Operation pack, unpack;
};
constexpr Packing kPackings[] = {
    {4, 2, ptx::Type::kB32, ptx::Type::kB16, pack<std::uint32_t, std::uint16_t>,
     unpack<std::uint32_t, std::uint16_t>},
    {8, 2, ptx::Type::kB64, ptx::Type::kB32, pack<std::uint64_t, std::uint32_t>,
     unpack<std::uint64_t, std::uint32_t>},
    {8, 4, ptx::Type::kB64, ptx::Type::kB16, pack<std::uint64_t, std::uint16_t>,
     unpack<std::uint64_t, std::uint16_t>}};

bool decode_packing(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  const ptx::Operand& to = instruction.operands[0];
  const ptx::Operand& from = instruction.operands[1];
  const bool packs = from.kind == ptx::Operand::kVector;
  const std::vector<ptx::Operand>& parts = packs ? from.elements : to.elements;
  const std::string& type = instruction.modifiers[0];
  for (const Packing& packing : kPackings) {
    if (type != (packing.whole_bytes == 4 ? "b32" : "b64") || parts.size() != packing.parts)
      continue;
    std::uint32_t* const rows[] = {&out->a, &out->b, &out->c, &out->e};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      *rows[i] = packs ? operands.source(parts[i], packing.part)
                       : operands.destination(parts[i], packing.part);
    }
    out->d = packs ? written_row(instruction, to, packing.whole, operands)
                   : operands.source(from, packing.whole);
    out->run = packs ? packing.pack : packing.unpack;
    return true;
  }
  return false;
}

struct Clock {
  std::string_view name;
  std::string_view type;  // type of the mov, without its letter
  std::uint8_t shift;
};
constexpr Clock kClocks[] = {{"%clock", "32", 0},          {"%clock_hi", "32", 32},
                             {"%clock64", "64", 0},        {"%globaltimer", "64", 0},
                             {"%globaltimer_lo", "32", 0}, {"%globaltimer_hi", "32", 32}};

bool decode_clock(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  const ptx::Operand& from = instruction.operands[1];
  for (const Clock& clock : kClocks) {
    if (from.name != clock.name || instruction.modifiers[0].substr(1) != clock.type) continue;
    const bool wide = clock.type == "64";
    out->d = written_row(instruction, instruction.operands[0],
                         wide ? ptx::Type::kB64 : ptx::Type::kB32, operands);
    out->run = wide ? read_clock<std::uint64_t> : read_clock<std::uint32_t>;
    out->extra[0] = clock.shift;
    out->kind = InstructionClass::kSpecial;
    return true;
  }
  return false;
}

const Forms& plain_moves() {
  static const Forms forms = [] {
    Forms all;
    constexpr InstructionClass kind = InstructionClass::kInteger;
    all.add<same<std::uint16_t>>(kind, {"mov.b16", "mov.u16", "mov.s16"});
    all.add<same<std::uint32_t>>(kind, {"mov.b32", "mov.u32", "mov.s32"});
    all.add<same<std::uint64_t>>(InstructionClass::kInteger64, {"mov.b64", "mov.u64", "mov.s64"});
    all.add<same<Half>>(kind, {"mov.f16"});
    all.add<same<BFloat>>(kind, {"mov.bf16"});
    all.add<same<float>>(kind, {"mov.f32"});
    all.add<same<double>>(InstructionClass::kInteger64, {"mov.f64"});
    all.add("mov.pred",
            {maskwise<same_predicate>, kind, 1, ptx::Type::kPredicate, {ptx::Type::kPredicate}});
    return all;
  }();
  return forms;
}

bool is_vector(const ptx::Operand& operand) { return operand.kind == ptx::Operand::kVector; }

}  // namespace

bool decode_move(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  if (instruction.opcode != "mov") return false;
  if (instruction.operands.size() != 2 || instruction.modifiers.size() != 1) return false;
  if (is_vector(instruction.operands[0]) || is_vector(instruction.operands[1])) {
    return decode_packing(instruction, operands, out);
  }
  if (instruction.operands[1].kind == ptx::Operand::kSpecial &&
      decode_clock(instruction, operands, out)) {
    return true;
  }
  return decode_form(plain_moves(), instruction, operands, out);
}

}  // namespace krl::machine

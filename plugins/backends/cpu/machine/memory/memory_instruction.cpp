#include "plugins/backends/cpu/machine/memory/memory_instruction.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "plugins/backends/ptx/declarations.hpp"

namespace krl::machine {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<ptx::Space> space_named(const std::string& name) {
  if (name == "global") return ptx::Space::kGlobal;
  if (name == "shared" || name == "shared::cta") return ptx::Space::kShared;
  if (name == "local") return ptx::Space::kLocal;
  if (name == "param" || name == "param::entry" || name == "param::func") {
    return ptx::Space::kParameter;
  }
  if (name == "const" || name.rfind("const[", 0) == 0) return ptx::Space::kConstant;
  return std::nullopt;
}

// True for instructions that take addresses of shared memory of other blocks of the cluster.
bool reaches_cluster(std::string_view opcode) {
  return is_one_of(
      opcode, {"ld", "st", "atom", "red", "cvta", "isspacep", "mapa", "getctarank", "mbarrier"});
}

// True for hints about where to keep data, which have no effect on the machine.
bool is_hint(const std::string& name) {
  return is_one_of(name, {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "weak"}) ||
         name.rfind("L1::", 0) == 0 || name.rfind("L2::", 0) == 0;
}

bool take_order(const std::string& name, MemoryModifiers* to) {
  if (is_one_of(name, {"cluster", "gpu", "sys"})) return true;
  if (name == "cta") return to->block_scope = true;
  if (name == "acquire") return to->strong = to->acquire = true;
  if (name == "release") return to->strong = to->release = true;
  if (name == "acq_rel") return to->strong = to->acquire = to->release = true;
  if (is_one_of(name, {"relaxed", "volatile", "mmio"})) return to->strong = true;
  return false;
}

}  // namespace

bool MemoryModifiers::take(std::string_view other) {
  const auto found = std::find(others.begin(), others.end(), other);
  if (found == others.end()) return false;
  others.erase(found);
  return true;
}

Fence MemoryModifiers::fence() const {
  if (!acquire && !release) return {};
  const unsigned bits = (acquire ? Fence::kAcquire : 0u) | (release ? Fence::kRelease : 0u) |
                        (block_scope ? Fence::kOfBlock : 0u);
  return {static_cast<std::uint8_t>(bits)};
}

MemoryModifiers read_modifiers(const ptx::Instruction& instruction, const Operands& operands) {
  MemoryModifiers found;
  for (const std::string& name : instruction.modifiers) {
    if (name == "L2::cache_hint") found.cache_policy = true;
    found.read_only |= name == "nc";
    found.past_l1 |= name == "cg" || name == "cv";
    if (is_hint(name) || take_order(name, &found)) continue;
    if (const auto space = space_named(name)) {
      const bool copies = instruction.opcode == "cp";  // copies from one space to another
      const bool known = found.space != ptx::Space::kGeneric && found.space != *space;
      if (known && !copies) operands.unsupported(instruction);
      found.space = *space;
    } else if (is_one_of(name, {"v2", "v4", "v8"})) {
      found.elements = static_cast<std::uint32_t>(name[1] - '0');
    } else if (const auto type = ptx::type_of("." + name)) {
      found.type = *type;
    } else if (name == "shared::cluster" && reaches_cluster(instruction.opcode)) {
      if (found.space != ptx::Space::kGeneric) operands.unsupported(instruction);
      found.space = ptx::Space::kSharedCluster;
    } else if (name == "shared::cluster") {
      operands.unsupported(instruction);
    } else {
      found.others.push_back(name);
    }
  }
  return found;
}

void bind_address(const ptx::Operand& operand, ptx::Space space, Operands& operands,
                  Instruction* out) {
  const Operands::Address address = operands.address(operand, space);
  out->a = address.base;
  out->immediate = address.offset;
  out->extra[0] = static_cast<std::uint8_t>(address.base_bytes);
  out->extra[1] = static_cast<std::uint8_t>(space);
}

bool decode_memory(const ptx::Instruction& instruction, Operands& operands, Instruction* out) {
  return decode_load_store(instruction, operands, out) ||
         decode_addressing(instruction, operands, out) ||
         decode_fence(instruction, operands, out) || decode_atomic(instruction, operands, out) ||
         decode_bulk_copy(instruction, operands, out) ||
         decode_async_copy(instruction, operands, out) ||
         decode_mbarrier(instruction, operands, out) || decode_cluster(instruction, operands, out);
}

}  // namespace krl::machine

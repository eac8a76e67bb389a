#include "plugins/backends/cpu/machine/operations/tensor.hpp"

#include "plugins/backends/cpu/machine/operations/matrix_instruction.hpp"
#include "plugins/backends/cpu/machine/operations/warp.hpp"

namespace krl::machine {
namespace {

void gather_warp(const Party* parties, std::size_t count, Warp&) {
  require_whole_warp(parties, count);
}

}  // namespace

bool is_tensor(const ptx::Instruction& in) {
  return in.opcode == "mma" || in.opcode == "wmma" || in.opcode == "ldmatrix" ||
         in.opcode == "stmatrix" || in.opcode == "movmatrix" || in.opcode == "wgmma";
}

void decode_tensor(const ptx::Instruction& in, Operands& operands, Instruction* last,
                   Meeting* meeting) {
  last->e = operands.constant(kAllLanes, 4);
  if (in.opcode == "wgmma") return decode_warpgroup(in, operands, last, meeting);
  if (in.opcode == "mma" || in.has("mma")) return decode_product(in, operands, last, meeting);
  *meeting = gather_warp;
  last->kind = InstructionClass::kLoadStore;
  if (in.opcode == "wmma") return decode_matrix_access(in, operands);
  if (in.opcode != "movmatrix") return decode_row_access(in, operands);
  last->kind = InstructionClass::kWarp;
  last->extra[0] = static_cast<std::uint8_t>(WarpOperation::kShuffle);
  decode_transposition(in, operands);
}

}  // namespace krl::machine

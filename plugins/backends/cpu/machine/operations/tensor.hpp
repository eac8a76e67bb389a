// Matrix operations of a whole warp: mma, wmma, ldmatrix, stmatrix, movmatrix.
#pragma once

#include "plugins/backends/cpu/machine/decode/operands.hpp"

namespace krl::machine {

// As decode_meeting, of which it is a part.
bool decode_tensor(const ptx::Instruction&, Operands&, Instruction* last, Meeting* meeting);

}  // namespace krl::machine

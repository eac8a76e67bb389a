// Operations of a whole warp on matrices: mma, wmma, ldmatrix, stmatrix, movmatrix; and of a
// warpgroup: wgmma.
#pragma once

#include "plugins/backends/cpu/machine/operands.hpp"

namespace krl::machine {

// Tensor products are a part of is_meeting and decode_meeting.
bool is_tensor(const ptx::Instruction& instruction);
void decode_tensor(const ptx::Instruction&, Operands&, Instruction* last, Meeting* meeting);

// Products: mma, wmma.mma.
void decode_product(const ptx::Instruction&, Operands&, Instruction* last, Meeting* meeting);
// Asynchronous products of a warpgroup, their fence and groups: wgmma.
void decode_warpgroup(const ptx::Instruction&, Operands&, Instruction* last, Meeting* meeting);
// Matrices in memory: the lanes meet, then access memory as ordinary loads and stores do.
void decode_matrix_access(const ptx::Instruction&, Operands&);  // wmma.load, wmma.store
void decode_row_access(const ptx::Instruction&, Operands&);     // ldmatrix, stmatrix
void decode_transposition(const ptx::Instruction&, Operands&);  // movmatrix

}  // namespace krl::machine

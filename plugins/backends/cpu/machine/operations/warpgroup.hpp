// Operations of a warpgroup, four warps with adjacent indices, each of which executes them by
// itself: asynchronous products, and the fence, groups and waits that belong to them (wgmma).
#pragma once

#include <cstdint>
#include <span>

#include "plugins/backends/cpu/machine/memory/products_under_way.hpp"
#include "plugins/backends/cpu/machine/operands.hpp"

namespace krl::machine {

void decode_warpgroup_product(const ptx::Instruction&, Operands&, Instruction* last,
                              Meeting* meeting);  // mma_async

// A warp executes an operation, which `operands` tells from others. Throws Fault if its warpgroup
// is incomplete.
void join_warpgroup(const Instruction& at, Warp& warp, std::uint64_t operands);

// A product begins to use registers, whose RegisterUse is at these places in the frame. Throws
// Fault for those that are in use otherwise, or were written without a fence in between.
void begin_uses(const Instruction& at, std::byte* frame,
                std::span<const std::uint32_t> accumulators, std::span<const std::uint32_t> factors,
                std::uint32_t shape, const ProductsUnderWay& products);

// Counts what tensor cores read: each warp its rows of A, and one warp B for all four.
void count_traffic(const Instruction& at, std::uint32_t warp, bool reads_a, unsigned columns);

// Another instruction accesses a register that products use; as an Instruction before it:
// a: place of the RegisterUse; b: that of the register which is copied, 0: none.
enum class RegisterAccess : std::uint8_t { kRead, kWrite, kCopy };
Instruction watch(RegisterAccess access, std::uint32_t use, std::uint32_t copied_use);

}  // namespace krl::machine

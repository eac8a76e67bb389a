// Functions of the device runtime that the machine itself carries out: `printf`, and what `assert` calls.
#pragma once

#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// The most that the launches of a run may print, in bytes; the rest is left out.
inline constexpr std::size_t kMostPrinted = std::size_t{1} << 20;

// vprintf(format, values): `a` and `b` are the rows of the addresses, of 8 bytes a lane, `d` that of the
// number of values, of 4; 0: nobody asks. The lanes print one after the other.
void print(const Instruction& instruction, Warp& warp, std::byte* frame, Mask mask);

// __assertfail(text, …): `a` is the row of the address of the text. Throws Fault.
[[noreturn]] void fail_assertion(const Instruction& instruction, Warp& warp, std::byte* frame,
                                 Mask mask);

}  // namespace krl::machine

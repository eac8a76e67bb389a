// Builds a function's basic blocks, in the order of its text: where each begins, its decoded
// instructions, how it ends.
#pragma once

#include "plugins/backends/cpu/machine/decode/assignment.hpp"
#include "plugins/backends/cpu/machine/decode/decoder.hpp"
#include "plugins/backends/cpu/machine/decode/frame_layout.hpp"
#include "plugins/backends/cpu/machine/decode/module_layout.hpp"
#include "plugins/backends/cpu/machine/program.hpp"

namespace krl::machine {

// Fills in `function` except for its name, kind and the parameters of an entry. Throws Unsupported.
void decode_body(const ptx::Function& source, const ModuleLayout& module, Grain grain,
                 Function* function);

}  // namespace krl::machine

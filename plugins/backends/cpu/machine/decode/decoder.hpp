// Decodes a PTX module into the program that the machine executes.
//
// Unsupported features are thrown as Unsupported; nothing is left out or guessed. Only code
// reachable from an entry is decoded. Pure; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

struct DecodedModule {
  std::vector<GlobalVariable> variables;
  std::vector<std::unique_ptr<Program>> programs;  // in the order of the requested entries
};

// Points at which a warp may have to yield to others: basic blocks end there.
enum class Grain : std::uint8_t {
  kControlFlow,
  kStrongAccess,  // also before each strong access
  kAccess,        // also before each access to memory that other threads see
};

// Decodes a module. `entries`: names of entry functions. Throws Unsupported; also for a name that
// is not an entry.
DecodedModule decode(const ptx::Module& module, const std::vector<std::string>& entries,
                     Grain grain = Grain::kControlFlow);

}  // namespace krl::machine

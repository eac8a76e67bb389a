// The addresses of a module's variables and functions, as one entry sees them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugins/backends/cpu/machine/program.hpp"
#include "plugins/backends/ptx/module.hpp"

namespace krl::machine {

// Nothing else is at the addresses of variables and functions.
inline constexpr std::uint64_t kVariablesBegin = std::uint64_t{1} << 40;
inline constexpr std::uint64_t kFunctionsBegin = std::uint64_t{1} << 41;
inline constexpr std::uint64_t kFunctionStride = 16;

// A special register, and the size of the memory that begins at its value.
inline constexpr std::string_view kReservedShared = "%reserved_smem_offset_1";
inline constexpr std::uint32_t kReservedSharedBytes = 288;

struct ModuleLayout {
  const ptx::Module* module = nullptr;
  // Address of each .global and .const variable.
  std::map<std::string, std::uint64_t, std::less<>> globals;
  std::map<std::string, std::uint64_t, std::less<>> functions;  // by name of a defined function
  // Offsets of the entry's variables in shared memory.
  std::map<const ptx::Variable*, std::uint32_t> shared;
  std::vector<SharedVariable> shared_variables;
  std::uint32_t shared_bytes = 0;  // static
  // Memory that the system reserves for cooperative groups; only if %reserved_smem_offset_1 is
  // read.
  std::uint32_t reserved_shared = 0, system_shared_bytes = 0;
  std::map<std::string, Function*, std::less<>> decoded;  // functions that calls refer to
  bool explicit_cluster = false;  // the entry says how many blocks its clusters have
};

// Lays out what all entries of a module share. Throws Unsupported for variables that cannot be.
ModuleLayout lay_out(const ptx::Module& module, std::vector<GlobalVariable>* variables);
// Adds the shared variables of the functions that are reachable from an entry. `functions`: those.
void lay_out_shared(const std::vector<const ptx::Function*>& functions, ModuleLayout* layout);

}  // namespace krl::machine

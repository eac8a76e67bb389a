// One compile with NVRTC, in a dedicated process, and the state it may inherit.
#pragma once

#include <string_view>

#include "plugins/backends/evaluator/compile/compile_request.hpp"
#include "plugins/backends/nvrtc/nvrtc_api.hpp"

namespace krl::nvrtc {
using namespace evaluator;

// Writes the compiler's messages to standard output, and the module (compiled_module.hpp) to
// kCompiledModuleDescriptor. Throws Unusable.
Exit compile(const Api& nvrtc, const CompileRequest& request);

// Writes a compiler's messages, or a module. Throws Unusable.
void write(int descriptor, std::string_view bytes);

inline constexpr char kPrecompiledFile[] = "preamble.pch";

// Compiles the preamble of a request to that file in the current folder, 100 MB that no one can
// change. Only processes that begin as a copy of this one can use it, as NVRTC needs it at the same
// address; each needs to create a file in the folder. False if NVRTC will not. The process creates
// only read-only files from then on.
bool precompile(const Api& nvrtc, const CompileRequest& request);
// The request by a copy of a process that has precompiled its preamble.
CompileRequest with_precompiled(CompileRequest request);

}  // namespace krl::nvrtc

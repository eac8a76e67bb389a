// One compile by NVRTC, in a process that does nothing else.
#pragma once

#include "plugins/backends/nvrtc/nvrtc_api.hpp"
#include "plugins/backends/nvrtc/server_protocol.hpp"

namespace krl::nvrtc {

// Writes what the compiler says to standard output, and the module (compiled_module.hpp) to
// kModuleDescriptor. Throws Unusable.
Exit compile(const Api& nvrtc, const CompileRequest& request);

}  // namespace krl::nvrtc
